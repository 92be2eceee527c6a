import { type Fault, type FaultProxy, isRenewing, type Passed, type Passing } from '../../../support/fault-proxy.ts';

/** An action before the request with this number, counted from 1, reaches the service. */
export interface Interference {
  at: number;
  readonly act: () => Promise<void>;
}

/** Whether the request has not reached the service, and the client cannot know that. */
export const isLostUnnoticed = ({ status, fault }: Passed): boolean =>
  status === undefined && fault !== undefined && !('status' in fault && fault.status === 429);

export type Network = ReturnType<typeof watchedNetwork>;

/** The network between the steps and the service, with its faults. */
export function watchedNetwork(proxy: FaultProxy) {
  let faults: Fault[] = [];
  let interferences: Interference[] = [];
  let look: ((passing: Passing) => Fault | undefined) | undefined;

  function interfered(passing: Passing): Fault | undefined {
    // Renewals come at any time, so they must not trigger actions planned between two steps.
    if (isRenewing(passing)) return undefined;
    for (const interference of interferences) interference.at -= 1;
    const due = interferences.filter(({ at }) => at <= 0);
    if (due.length === 0) return undefined;
    interferences = interferences.filter(({ at }) => at > 0);
    return { kind: 'held-back', until: Promise.all(due.map(({ act }) => act())) };
  }

  proxy.meet((passing) => look?.(passing) ?? interfered(passing) ?? faults.shift());
  return {
    /** Each of the next requests meets one of these faults. */
    fail(coming: readonly Fault[]): void {
      faults = [...coming];
    },
    interfere(interference: Interference): void {
      interferences.push(interference);
    },
    /** Whether no fault or interference is pending. */
    isCalm: () => faults.length === 0 && interferences.length === 0,
    /** Cancels pending faults and interferences, except those already started. */
    calm(): void {
      faults = [];
      interferences = [];
    },
    /** Called first for each request; undefined leaves the request to the pending faults and interferences. */
    watch(newLook: ((passing: Passing) => Fault | undefined) | undefined): void {
      look = newLook;
    },
  };
}
