import type { Outside, StopSignal } from '../outside.ts';

const exitCodes: Readonly<Record<StopSignal, number>> = { SIGINT: 130, SIGTERM: 143 };

export interface StopRequest {
  /** The first signal, as soon as it comes. */
  readonly received: Promise<StopSignal>;
  /** Signals mean again what they mean without us. */
  forget(): void;
}

/** The first signal asks to stop in good order; whoever sends a second one does not want to wait for that. */
export function awaitStop(outside: Outside): StopRequest {
  const { promise: received, resolve } = Promise.withResolvers<StopSignal>();
  let asked = false;
  const forget = outside.onSignal((signal) => {
    if (asked) outside.endAtOnce(exitCodes[signal]);
    asked = true;
    resolve(signal);
  });
  return { received, forget };
}
