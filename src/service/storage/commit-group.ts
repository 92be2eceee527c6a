import type { ControlledTransaction, Kysely, Transaction } from 'kysely';
import type { CommitScope, Database, Storage } from './storage.ts';
import type { Tables } from './tables.ts';

/** Bounds how long a transaction holds up the changes that come after it. */
export const maxGroupSize = 256;

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
  /** Changes whose scopes have the same name here share groups, which are committed one after the other. */
  readonly queueOf: (scope: CommitScope) => string;
  /** How many groups are under way at the same time at most, each on a connection of its own. */
  readonly maxParallel: number;
  /** Runs first in every transaction: it waits for the changes that this one must not run beside. */
  readonly begin: (db: Transaction<Tables>, scope: CommitScope) => Promise<void>;
  readonly onCommit: (changes: number) => void;
}

/** Changes that wait for those before them. */
interface Queue {
  readonly scope: CommitScope;
  readonly waiting: Unit[];
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

function nextGroup({ waiting }: Queue): readonly Unit[] {
  let [units, changes] = [0, 0];
  for (const unit of waiting) {
    if (units > 0 && changes + unit.changes > maxGroupSize) break;
    units += 1;
    changes += unit.changes;
  }
  return waiting.splice(0, units);
}

/** One flush to disk costs as much as many changes, so all changes that wait share the next one. */
export function groupCommits(
  db: Kysely<Tables>,
  { queueOf, maxParallel, begin, onCommit }: CommitGroupOptions,
): Pick<Storage, 'commit' | 'batchCommits'> {
  /** Those in which something waits or is under way. */
  const queues = new Map<string, Queue>();
  /** Those in which something waits and nothing is under way, in the order of their turns. */
  const ready: Queue[] = [];
  let running = 0;

  async function commitGroup(queue: Queue): Promise<void> {
    let group: readonly Unit[] = [];
    try {
      const transaction = await db.startTransaction().execute();
      try {
        await begin(transaction, queue.scope);
        // Only now: what came while this had to wait for others goes with it.
        group = nextGroup(queue);
        const settle: (() => void)[] = [];
        const [only, ...more] = group;
        // What is alone in its transaction is undone with it.
        if (only?.changes === 1 && more.length === 0) settle.push(await only.run(transaction));
        else for (const unit of group) settle.push(await runUnit(transaction, unit));
        await transaction.commit().execute();
        onCommit(group.reduce((sum, { changes }) => sum + changes, 0));
        for (const done of settle) done();
      } catch (error) {
        await transaction
          .rollback()
          .execute()
          .catch(() => undefined);
        throw error;
      }
    } catch (error) {
      for (const unit of group.length > 0 ? group : nextGroup(queue)) unit.fail(error);
    }
  }

  async function run(name: string, queue: Queue): Promise<void> {
    running += 1;
    await commitGroup(queue);
    // Lets requests that arrived during the flush join the next group.
    await new Promise(setImmediate);
    running -= 1;
    if (queue.waiting.length > 0) ready.push(queue);
    else queues.delete(name);
    startReady();
  }

  function startReady(): void {
    while (running < maxParallel) {
      const queue = ready.shift();
      if (queue === undefined) return;
      void run(queueOf(queue.scope), queue);
    }
  }

  function queueFor(scope: CommitScope): Queue {
    const name = queueOf(scope);
    const known = queues.get(name);
    if (known !== undefined) return known;
    const queue: Queue = { scope, waiting: [] };
    queues.set(name, queue);
    setImmediate(() => {
      ready.push(queue);
      startReady();
    });
    return queue;
  }

  function batchCommits<Change, Result>(
    scopeOf: (change: Change) => CommitScope,
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
    const lastOf = new WeakMap<Queue, { readonly asked: Asked<Change, Result>[]; readonly unit: Unit }>();

    return (change) =>
      new Promise((resolve, reject) => {
        const one = { change, resolve, reject };
        const queue = queueFor(scopeOf(change));
        const last = lastOf.get(queue);
        if (last !== undefined && last.unit === queue.waiting.at(-1) && last.asked.length < maxGroupSize) {
          last.asked.push(one);
          return;
        }
        const asked = [one];
        const unit = unitOf(asked);
        lastOf.set(queue, { asked, unit });
        queue.waiting.push(unit);
      });
  }

  return {
    batchCommits,
    commit: (scope, change) =>
      batchCommits(
        () => scope,
        async (transaction, _) => [await change(transaction)],
      )(undefined),
  };
}
