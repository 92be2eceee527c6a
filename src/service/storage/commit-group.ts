import type { ControlledTransaction, Kysely, Transaction } from 'kysely';
import type { CommitScope, Database, Storage } from './storage.ts';
import type { Tables } from './tables.ts';

/** Bounds how long a transaction holds up the changes that come after it. */
export const maxGroupSize = 256;

/**
 * A group without a new member for this many turns of the event loop is complete. From its arrival to its change, a request
 * takes some turns, for its token and its body. A request that is alone waits for one turn only.
 */
const quietTurns = { alone: 1, amongOthers: 4 };

type Make = (db: Database, changes: readonly unknown[]) => Promise<readonly unknown[]>;

interface Asked {
  readonly change: unknown;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** Changes that are made by one call. */
interface Unit {
  readonly make: Make;
  readonly asked: Asked[];
}

export interface CommitGroupOptions {
  /** Changes whose scopes have the same name here share groups, which are committed one after the other. */
  readonly queueOf: (scope: CommitScope) => string;
  /** How many groups are under way at the same time at most, each on a connection of its own. */
  readonly maxParallel: number;
  /** Runs first in every transaction. Waits for changes that must not run beside this one. */
  readonly begin: (db: Transaction<Tables>, scope: CommitScope) => Promise<void>;
  readonly onCommit: (changes: number) => void;
}

/** Changes that wait for those before them. */
interface Queue {
  readonly scope: CommitScope;
  readonly waiting: Unit[];
}

/** One flush to disk costs as much as many changes, so all changes that wait share the next one. */
export function groupCommits(
  db: Kysely<Tables>,
  { queueOf, maxParallel, begin, onCommit }: CommitGroupOptions,
): Pick<Storage, 'commit' | 'batchCommits'> {
  /** Queues with waiting or running changes. */
  const queues = new Map<string, Queue>();
  /** Idle queues with pending changes, oldest first. */
  const ready: Queue[] = [];
  let running = 0;
  let lastGroupSize = 1;

  async function commitGroup(queue: Queue): Promise<void> {
    let group: readonly Unit[] = [];
    let transaction: ControlledTransaction<Tables> | undefined;
    try {
      transaction = await db.startTransaction().execute();
      await begin(transaction, queue.scope);
      // Only now: what came while this had to wait for others goes with it.
      group = nextGroup(queue);
      const changes = changesIn(group);
      lastGroupSize = changes;
      const settle: (() => void)[] = [];
      // A change that is alone in its transaction is rolled back with it.
      for (const unit of group) {
        settle.push(await (changes === 1 ? run(transaction, unit) : runInSavepoint(transaction, unit)));
      }
      await transaction.commit().execute();
      onCommit(changes);
      for (const done of settle) done();
    } catch (error) {
      await transaction
        ?.rollback()
        .execute()
        .catch(() => undefined);
      for (const { asked } of group.length > 0 ? group : nextGroup(queue)) {
        for (const { reject } of asked) reject(error);
      }
    }
  }

  async function runQueue(name: string, queue: Queue): Promise<void> {
    running += 1;
    await gather(queue, lastGroupSize > 1 ? quietTurns.amongOthers : quietTurns.alone);
    await commitGroup(queue);
    running -= 1;
    if (queue.waiting.length > 0) ready.push(queue);
    else queues.delete(name);
    startReady();
  }

  function startReady(): void {
    while (running < maxParallel) {
      const queue = ready.shift();
      if (queue === undefined) return;
      void runQueue(queueOf(queue.scope), queue);
    }
  }

  function queueFor(scope: CommitScope): Queue {
    const name = queueOf(scope);
    const known = queues.get(name);
    if (known !== undefined) return known;
    const queue: Queue = { scope, waiting: [] };
    queues.set(name, queue);
    queueMicrotask(() => {
      ready.push(queue);
      startReady();
    });
    return queue;
  }

  const ask = (scope: CommitScope, make: Make, change: unknown): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const { waiting } = queueFor(scope);
      const one: Asked = { change, resolve, reject };
      const last = waiting.at(-1);
      if (last?.make === make && last.asked.length < maxGroupSize) last.asked.push(one);
      else waiting.push({ make, asked: [one] });
    });

  return {
    // A unit has the changes that were asked for together with how they are made, and gives back what that makes of them.
    batchCommits: (scopeOf, make) => (change) => ask(scopeOf(change), make as Make, change) as Promise<never>,
    commit: (scope, change) =>
      ask(scope, async (transaction) => [await change(transaction)], undefined) as Promise<never>,
  };
}

/** In a savepoint, so that what fails is undone alone. */
async function runInSavepoint(transaction: ControlledTransaction<Tables>, unit: Unit): Promise<() => void> {
  const savepoint = await transaction.savepoint('change').execute();
  try {
    const done = await run(savepoint, unit);
    await savepoint.releaseSavepoint('change').execute();
    return done;
  } catch (error) {
    // Where it is gone, the database has already given up the whole transaction, as SQLite does on a full disk.
    await savepoint
      .rollbackToSavepoint('change')
      .execute()
      .catch(() => Promise.reject(error));
    const { make, asked } = unit;
    const [only, ...more] = asked;
    if (more.length === 0) return () => only?.reject(error);
    // One of them has spoiled it for the others: each by itself.
    const each: (() => void)[] = [];
    for (const one of asked) each.push(await runInSavepoint(transaction, { make, asked: [one] }));
    return () => {
      for (const done of each) done();
    };
  }
}

/** Gives what to do when the transaction has been committed. */
async function run(db: Database, { make, asked }: Unit): Promise<() => void> {
  const results = await make(
    db,
    asked.map(({ change }) => change),
  );
  return () => {
    for (const [index, result] of results.entries()) asked[index]?.resolve(result);
  };
}

function nextGroup({ waiting }: Queue): readonly Unit[] {
  let [units, changes] = [0, 0];
  for (const { asked } of waiting) {
    if (units > 0 && changes + asked.length > maxGroupSize) break;
    units += 1;
    changes += asked.length;
  }
  return waiting.splice(0, units);
}

/** Bounds how long the first of a group waits for others that come one by one: some milliseconds. */
const maxGatheringTurns = 32;

/** Changes that arrive together share one flush. */
async function gather({ waiting }: Queue, enoughQuiet: number): Promise<void> {
  let quiet = 0;
  for (let turn = 0; turn < maxGatheringTurns && quiet < enoughQuiet; turn += 1) {
    const before = changesIn(waiting);
    await new Promise(setImmediate);
    const now = changesIn(waiting);
    if (now >= maxGroupSize) return;
    quiet = now === before ? quiet + 1 : 0;
  }
}

const changesIn = (units: readonly Unit[]): number => units.reduce((sum, { asked }) => sum + asked.length, 0);
