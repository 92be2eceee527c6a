import { type Fault, type FaultProxy, isRenewing, type Passing } from '../../../support/fault-proxy.ts';

/** What comes in between: done before the request of this number gets to the service, from 1 on. */
export interface Interference {
  at: number;
  readonly act: () => Promise<void>;
}

/** The way from the steps to the service, and what happens on it. */
export interface Network {
  /** The next requests meet these, each one. */
  fail(faults: readonly Fault[]): void;
  interfere(interference: Interference): void;
  /** Nothing is about to happen. */
  isCalm(): boolean;
  /** Nothing happens from here on but what was begun. */
  calm(): void;
  /** Asked first; undefined leaves the request to what else is about to happen. */
  watch(look: ((passing: Passing) => Fault | undefined) | undefined): void;
}

export function watchedNetwork(
  proxy: FaultProxy,
  onFault: (passing: Passing, fault: Fault) => void = () => undefined,
): Network {
  let faults: Fault[] = [];
  let interferences: Interference[] = [];
  let look: ((passing: Passing) => Fault | undefined) | undefined;

  function interfered(passing: Passing): Fault | undefined {
    // These come whenever they like: what is done between two steps must not be in their hands.
    if (isRenewing(passing)) return undefined;
    for (const interference of interferences) interference.at -= 1;
    const due = interferences.filter(({ at }) => at <= 0);
    if (due.length === 0) return undefined;
    interferences = interferences.filter(({ at }) => at > 0);
    return { kind: 'held-back', until: Promise.all(due.map(({ act }) => act())) };
  }

  function failed(passing: Passing): Fault | undefined {
    const fault = faults.shift();
    if (fault !== undefined) onFault(passing, fault);
    return fault;
  }

  proxy.meet((passing) => look?.(passing) ?? interfered(passing) ?? failed(passing));
  return {
    fail(coming) {
      faults = [...coming];
    },
    interfere(interference) {
      interferences.push(interference);
    },
    isCalm: () => faults.length === 0 && interferences.length === 0,
    calm() {
      faults = [];
      interferences = [];
    },
    watch(newLook) {
      look = newLook;
    },
  };
}
