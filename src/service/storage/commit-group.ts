import type { ControlledTransaction, Kysely, Transaction } from 'kysely';
import type { Database, Storage } from './storage.ts';
import type { Tables } from './tables.ts';

/** Bounds how long a transaction holds up the changes that come after it. */
export const largestGroup = 256;

/** Changes that are made by one call. */
interface Unit {
  readonly changes: number;
  /** Makes them, and gives what to do when their transaction has been committed. */
  run(db: Database): Promise<() => void>;
  fail(error: unknown): void;
  /** The same changes, each by itself. */
  apart(): readonly Unit[];
}

interface Asked<Change, Result> {
  readonly change: Change;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

export interface CommitGroupOptions {
  /** Runs first in every transaction. */
  readonly begin: (db: Transaction<Tables>) => Promise<void>;
  readonly onCommit: (changes: number) => void;
}

/** In a savepoint, so that what fails is undone alone. */
async function runUnit(transaction: ControlledTransaction<Tables>, unit: Unit): Promise<() => void> {
  const savepoint = await transaction.savepoint('change').execute();
  try {
    const done = await unit.run(savepoint);
    await savepoint.releaseSavepoint('change').execute();
    return done;
  } catch (error) {
    try {
      await savepoint.rollbackToSavepoint('change').execute();
    } catch {
      // The database has already given up the whole transaction, as SQLite does on a full disk.
      throw error;
    }
    if (unit.changes === 1) return () => unit.fail(error);
    // One of them has spoiled it for the others.
    const each: (() => void)[] = [];
    for (const one of unit.apart()) each.push(await runUnit(transaction, one));
    return () => {
      for (const done of each) done();
    };
  }
}

/** One flush to disk costs as much as many changes, so all changes that wait share the next one. */
export function groupCommits(
  db: Kysely<Tables>,
  { begin, onCommit }: CommitGroupOptions,
): Pick<Storage, 'commit' | 'commitTogether'> {
  const waiting: Unit[] = [];
  let running = false;

  function nextGroup(): readonly Unit[] {
    let [units, changes] = [0, 0];
    for (const unit of waiting) {
      if (units > 0 && changes + unit.changes > largestGroup) break;
      units += 1;
      changes += unit.changes;
    }
    return waiting.splice(0, units);
  }

  async function commitGroup(group: readonly Unit[]): Promise<void> {
    const settle: (() => void)[] = [];
    const transaction = await db.startTransaction().execute();
    const [only, ...more] = group;
    try {
      await begin(transaction);
      // What is alone in its transaction is undone with it.
      if (only?.changes === 1 && more.length === 0) settle.push(await only.run(transaction));
      else for (const unit of group) settle.push(await runUnit(transaction, unit));
      await transaction.commit().execute();
    } catch (error) {
      await transaction
        .rollback()
        .execute()
        .catch(() => undefined);
      throw error;
    }
    onCommit(group.reduce((sum, { changes }) => sum + changes, 0));
    for (const done of settle) done();
  }

  async function commitAll(): Promise<void> {
    while (waiting.length > 0) {
      const group = nextGroup();
      try {
        await commitGroup(group);
      } catch (error) {
        for (const unit of group) unit.fail(error);
      }
      // Lets requests that arrived during the flush join the next group.
      await new Promise(setImmediate);
    }
    running = false;
  }

  function enqueue(unit: Unit): void {
    waiting.push(unit);
    if (running) return;
    running = true;
    setImmediate(commitAll);
  }

  function commitTogether<Change, Result>(
    make: (db: Database, changes: readonly Change[]) => Promise<readonly Result[]>,
  ): (change: Change) => Promise<Result> {
    const unitOf = (asked: readonly Asked<Change, Result>[]): Unit => ({
      get changes() {
        return asked.length;
      },
      async run(transaction) {
        const results = await make(
          transaction,
          asked.map(({ change }) => change),
        );
        return () => {
          for (const [index, result] of results.entries()) asked[index]?.resolve(result);
        };
      },
      fail(error) {
        for (const { reject } of asked) reject(error);
      },
      apart: () => asked.map((one) => unitOf([one])),
    });
    let last: { readonly asked: Asked<Change, Result>[]; readonly unit: Unit } | undefined;

    return (change) =>
      new Promise((resolve, reject) => {
        const one = { change, resolve, reject };
        if (last !== undefined && last.unit === waiting.at(-1) && last.asked.length < largestGroup) {
          last.asked.push(one);
          return;
        }
        const asked = [one];
        last = { asked, unit: unitOf(asked) };
        enqueue(last.unit);
      });
  }

  return {
    commitTogether,
    commit: (change) => commitTogether(async (transaction, _) => [await change(transaction)])(undefined),
  };
}
