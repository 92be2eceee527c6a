import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseConnection } from 'kysely';
import { isBusy, sqliteCode } from '../platform/system-errors.ts';

/** Maximum time that a statement waits for another process, such as a command next to a running service. */
export const busyTimeoutMs = 10_000;

/** Maximum pause before the next attempt. Pauses are random, so that two processes do not stay in step. */
export const maxBusyPauseMs = 15;

/** SQLITE_CORRUPT and SQLITE_NOTADB: https://www.sqlite.org/rescode.html */
const damaged = [11, 26];

/**
 * Makes statements wait for other processes without blocking this one: SQLite itself would block the event loop. A busy
 * statement has had no effect, and only `begin immediate` and reads outside transactions can conflict with others. Also
 * reports statements that find the database damaged: no check reads all pages, and damage does not disappear.
 */
export function superviseStatements(connection: DatabaseConnection, onDamage: (error: unknown) => void): void {
  const execute = connection.executeQuery.bind(connection);
  connection.executeQuery = async (...call) => {
    const until = performance.now() + busyTimeoutMs;
    for (;;) {
      try {
        return await execute(...call);
      } catch (error) {
        if (damaged.includes(sqliteCode(error) ?? 0)) onDamage(error);
        if (!isBusy(error) || performance.now() >= until) throw error;
        await sleep(1 + Math.random() * (maxBusyPauseMs - 1));
      }
    }
  };
}
