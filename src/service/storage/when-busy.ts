import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseConnection } from 'kysely';

/** Maximum time that a statement waits for another process, such as a command next to a running service. */
export const busyTimeoutMs = 10_000;

/** Maximum pause before the next attempt. Pauses are random, so that two processes do not stay in step. */
export const maxBusyPauseMs = 15;

/**
 * Makes statements wait for other processes without blocking this one: SQLite itself would block the event loop. A busy
 * statement has had no effect, and only `begin immediate` and reads outside transactions can conflict with others.
 */
export function waitWhenBusy(connection: DatabaseConnection): void {
  const execute = connection.executeQuery.bind(connection);
  connection.executeQuery = async (...call) => {
    const until = performance.now() + busyTimeoutMs;
    for (;;) {
      try {
        return await execute(...call);
      } catch (error) {
        if (!isBusy(error) || performance.now() >= until) throw error;
        await sleep(1 + Math.random() * (maxBusyPauseMs - 1));
      }
    }
  };
}

/** SQLITE_BUSY with all of its extended codes: https://www.sqlite.org/rescode.html#busy */
const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' && (error.errcode & 0xff) === 5;
