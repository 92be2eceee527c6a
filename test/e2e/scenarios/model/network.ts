import { type Fault, type FaultProxy, isRenewing, type Passing } from '../../../support/fault-proxy.ts';

/** An action before the request with this number, counted from 1, reaches the service. */
export interface Interference {
  at: number;
  readonly act: () => Promise<void>;
}

/** The network between the steps and the service, with its faults. */
export interface Network {
  /** Each of the next requests meets one of these faults. */
  fail(faults: readonly Fault[]): void;
  interfere(interference: Interference): void;
  /** Whether no fault or interference is pending. */
  isCalm(): boolean;
  /** Cancels pending faults and interferences, except those already started. */
  calm(): void;
  /** Called first for each request; undefined leaves the request to the pending faults and interferences. */
  watch(look: ((passing: Passing) => Fault | undefined) | undefined): void;
}

export function watchedNetwork(proxy: FaultProxy): Network {
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
