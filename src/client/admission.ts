import { createGate, type Leave } from './gate.ts';
import type { Clock } from './server-clock.ts';
import type { Throttle } from './throttle.ts';

export type Admission =
  | { readonly kind: 'admitted'; readonly leave: Leave }
  /** The signal was aborted first. */
  | { readonly kind: 'ended'; readonly limited: boolean }
  /** The service has refused everything until a time that is beyond the deadline. */
  | { readonly kind: 'too-late'; readonly delayMs: number };

export interface AdmissionParts {
  readonly maxConnections: number;
  readonly throttle: Throttle;
  readonly clock: Clock;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** What little remains of a rate limit is spread: the next request waits for so long. */
  readonly onPaced: (delayMs: number) => void;
}

export interface Entrant {
  /** Waits for the rate limit. */
  readonly paced: boolean;
  readonly deadline: number;
  readonly signal: AbortSignal;
}

/** Lets requests to their connections: as many at once as there are, and as fast as the service will take them. */
export function createAdmission({ maxConnections, throttle, clock, sleep, onPaced }: AdmissionParts) {
  const connections = createGate(maxConnections);
  /** Only the first of those that are paced waits for the time and for a connection; the others for their turn. */
  const line = createGate(1);

  /** The pace is an estimate: who would run out of time for it asks the service instead. */
  function delayMs(deadline: number): number {
    const now = clock();
    const delay = throttle.delayMs(now);
    return now + delay < deadline ? delay : Math.max(0, throttle.refusedUntil() - now);
  }

  async function enterPaced({ deadline, signal }: Entrant): Promise<Admission> {
    let limited = false;
    while (!signal.aborted) {
      const leave = await connections.enter(signal);
      if (leave === undefined) break;
      const delay = delayMs(deadline);
      if (delay === 0) {
        throttle.sent(clock());
        return { kind: 'admitted', leave };
      }
      // What is not paced may have the connection meanwhile.
      leave();
      if (clock() + delay >= deadline) return { kind: 'too-late', delayMs: delay };
      limited = true;
      if (throttle.refusedUntil() <= clock()) onPaced(delay);
      await sleep(delay, signal);
    }
    return { kind: 'ended', limited };
  }

  return async (entrant: Entrant): Promise<Admission> => {
    const { paced, signal } = entrant;
    const leave = await (paced ? line : connections).enter(signal);
    if (leave === undefined) return { kind: 'ended', limited: paced && throttle.delayMs(clock()) > 0 };
    return paced ? enterPaced(entrant).finally(leave) : { kind: 'admitted', leave };
  };
}
