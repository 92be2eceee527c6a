import { exitCodeOf, type ProcessIo, type StopSignal } from './process-io.ts';

/**
 * Ctrl-C in a terminal reaches every process in it, and npm also forwards the signal to the command that it runs. A
 * signal this soon after the first one is a duplicate.
 */
const duplicateMs = 1_000;

/**
 * The first signal stops the service gracefully; a later one ends the process at once. `forget` restores the default
 * handling of signals.
 */
export function awaitStop(io: ProcessIo, clock: () => number = () => performance.now()) {
  const { promise: received, resolve } = Promise.withResolvers<StopSignal>();
  let firstAt: number | undefined;
  const forget = io.onSignal((signal) => {
    if (firstAt === undefined) {
      firstAt = clock();
      resolve(signal);
    } else if (clock() - firstAt >= duplicateMs) {
      io.endAtOnce(exitCodeOf(signal));
    }
  });
  return { received, forget };
}
