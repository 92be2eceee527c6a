import type { ProcessIo, StopSignal } from '../process-io.ts';

const exitCodes: Readonly<Record<StopSignal, number>> = { SIGINT: 130, SIGTERM: 143 };

/**
 * Ctrl-C in a terminal reaches every process in it, and npm passes its own on to the command that it runs: so soon
 * after the first, another signal is the same wish.
 */
const sameWishMs = 1_000;

export interface StopRequest {
  /** The first signal, as soon as it comes. */
  readonly received: Promise<StopSignal>;
  /** Signals mean again what they mean without us. */
  forget(): void;
}

/** The first signal stops the service gracefully; a later one means that somebody does not want to wait for that. */
export function awaitStop(io: ProcessIo, clock: () => number = () => performance.now()): StopRequest {
  const { promise: received, resolve } = Promise.withResolvers<StopSignal>();
  let askedAt: number | undefined;
  const forget = io.onSignal((signal) => {
    if (askedAt === undefined) {
      askedAt = clock();
      resolve(signal);
    } else if (clock() - askedAt >= sameWishMs) {
      io.endAtOnce(exitCodes[signal]);
    }
  });
  return { received, forget };
}
