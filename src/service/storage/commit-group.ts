import type { Kysely, Transaction } from 'kysely';
import type { Database } from './storage.ts';
import type { Tables } from './tables.ts';

/** Bounds how long a transaction holds up the changes that come after it. */
export const largestGroup = 256;

interface Waiting {
  /** Makes the change, and gives what to do when its transaction has been committed. */
  readonly run: (db: Database) => Promise<() => void>;
  readonly fail: (error: unknown) => void;
}

export interface CommitGroupOptions {
  /** Runs first in every transaction. */
  readonly begin: (db: Transaction<Tables>) => Promise<void>;
  readonly onCommit: (changes: number) => void;
}

/** One flush to disk costs as much as many changes, so all changes that wait share the next one. */
export function groupCommits(
  db: Kysely<Tables>,
  { begin, onCommit }: CommitGroupOptions,
): <T>(change: (db: Database) => Promise<T>) => Promise<T> {
  const waiting: Waiting[] = [];
  let running = false;

  async function commitGroup(group: readonly Waiting[]): Promise<void> {
    const settle: (() => void)[] = [];
    const transaction = await db.startTransaction().execute();
    try {
      await begin(transaction);
      for (const { run, fail } of group) {
        const savepoint = await transaction.savepoint('change').execute();
        try {
          settle.push(await run(savepoint));
          await savepoint.releaseSavepoint('change').execute();
        } catch (error) {
          settle.push(() => fail(error));
          try {
            await savepoint.rollbackToSavepoint('change').execute();
          } catch {
            // The database has already given up the whole transaction, as SQLite does on a full disk.
            throw error;
          }
        }
      }
      await transaction.commit().execute();
    } catch (error) {
      await transaction
        .rollback()
        .execute()
        .catch(() => undefined);
      throw error;
    }
    onCommit(group.length);
    for (const done of settle) done();
  }

  async function commitAll(): Promise<void> {
    while (waiting.length > 0) {
      const group = waiting.splice(0, largestGroup);
      try {
        await commitGroup(group);
      } catch (error) {
        for (const { fail } of group) fail(error);
      }
      // Lets requests that arrived during the flush join the next group.
      await new Promise(setImmediate);
    }
    running = false;
  }

  return (change) =>
    new Promise((resolve, reject) => {
      waiting.push({
        run: async (transaction) => {
          const value = await change(transaction);
          return () => resolve(value);
        },
        fail: reject,
      });
      if (running) return;
      running = true;
      setImmediate(commitAll);
    });
}
