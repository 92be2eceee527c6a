import { CompiledQuery, type ControlledTransaction, type Kysely, type Transaction } from 'kysely';
import { limitParallel } from '../runtime/limit-parallel.ts';
import type { CommitScope, Database, Storage, Work } from './storage.ts';
import type { Tables } from './tables.ts';

/** Limits how long later changes wait for a transaction. */
const maxGroupSize = 256;

/**
 * A group is complete after this many turns of the event loop without a new member. From its arrival to its change, a
 * request takes some turns to check its token and read its body. A single request waits for only one turn.
 */
const quietTurns = { alone: 1, amongOthers: 4 };

type Make = (db: Database, changes: readonly unknown[]) => Promise<readonly unknown[]>;

interface PendingChange {
  readonly change: unknown;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** Changes that one call of `make` carries out. */
interface Unit {
  readonly make: Make;
  /** Made by batchCommits(), so it changes no tokens or workspaces. */
  readonly isBatch: boolean;
  readonly changes: PendingChange[];
}

interface CommitGroupOptions {
  /** Name of the queue for a scope. Changes in a queue share groups, which are committed one after the other. */
  readonly queueOf: (scope: CommitScope) => string;
  /** Maximum number of groups in progress, each on its own connection. */
  readonly maxParallel: number;
  /**
   * Runs first in every transaction, and returns the database for its changes. Waits for changes that must not run at
   * the same time. For a single change of batchCommits(), its first query waits instead.
   */
  readonly begin: (db: Transaction<Tables>, scope: CommitScope, isAlone: boolean) => Promise<Database>;
}

interface Queue {
  readonly scope: CommitScope;
  readonly waiting: Unit[];
}

/** A flush to disk costs as much as many changes, so all waiting changes share the next one. */
export function groupCommits(
  db: Kysely<Tables>,
  { queueOf, maxParallel, begin }: CommitGroupOptions,
): Pick<Storage, 'commit' | 'batchCommits' | 'onQueued'> & { readonly otherCommits: () => number } {
  const workers: { readonly work: Work; readonly wake: () => void }[] = [];
  const queues = new Map<string, Queue>();
  const limit = limitParallel({ max: maxParallel });
  let lastGroupSize = 1;
  let otherCommits = 0;

  async function commitGroup(queue: Queue): Promise<void> {
    let group: readonly Unit[] = [];
    let transaction: ControlledTransaction<Tables> | undefined;
    try {
      transaction = await db.startTransaction().execute();
      const [first, ...others] = queue.waiting;
      const isAlone =
        lastGroupSize === 1 && others.length === 0 && first?.isBatch === true && first.changes.length === 1;
      const changing = await begin(transaction, queue.scope, isAlone);
      // Taken after `begin`, to include changes that arrived while it waited.
      group = nextGroup(queue);
      const changes = changesIn(group);
      lastGroupSize = changes;
      const outcomes: Outcomes = [];
      // A single change needs no savepoint, because it is rolled back with its transaction.
      const make = changes === 1 ? run : runInSavepoint;
      for (const unit of group) await make(changing, unit, outcomes);
      await transaction.commit().execute();
      if (group.some(({ isBatch }) => !isBatch)) otherCommits += 1;
      for (const report of outcomes) report();
      for (const { work, wake } of workers) if (queuedIn(changing).has(work)) wake();
    } catch (error) {
      await transaction
        ?.rollback()
        .execute()
        .catch(() => undefined);
      const failed = group.length > 0 ? group : nextGroup(queue);
      for (const { reject } of failed.flatMap(({ changes }) => changes)) reject(error);
    }
  }

  async function runQueue(name: string, queue: Queue): Promise<void> {
    while (queue.waiting.length > 0) {
      await limit(name, async () => {
        await gather(queue, lastGroupSize > 1 ? quietTurns.amongOthers : quietTurns.alone);
        await commitGroup(queue);
      });
    }
    queues.delete(name);
  }

  function queueFor(scope: CommitScope): Queue {
    const name = queueOf(scope);
    const known = queues.get(name);
    if (known !== undefined) return known;
    const queue: Queue = { scope, waiting: [] };
    queues.set(name, queue);
    queueMicrotask(() => void runQueue(name, queue));
    return queue;
  }

  const enqueue = (scope: CommitScope, make: Make, change: unknown, isBatch: boolean): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const { waiting } = queueFor(scope);
      const pending: PendingChange = { change, resolve, reject };
      const last = waiting.at(-1);
      if (last?.make === make && last.changes.length < maxGroupSize) last.changes.push(pending);
      else waiting.push({ make, isBatch, changes: [pending] });
    });

  return {
    // The casts are safe, because a unit passes its changes only to its own `make`, and returns only results of that.
    batchCommits: (scopeOf, make) => (change) => enqueue(scopeOf(change), make as Make, change, true) as Promise<never>,
    commit: (scope, change) =>
      enqueue(scope, async (transaction) => [await change(transaction)], undefined, false) as Promise<never>,
    onQueued: (work, wake) => void workers.push({ work, wake }),
    otherCommits: () => otherCommits,
  };
}

/** Report the results to the changes, after the commit. */
type Outcomes = (() => void)[];

const [savepoint, release, rollBack] = [
  CompiledQuery.raw('savepoint change'),
  CompiledQuery.raw('release savepoint change'),
  CompiledQuery.raw('rollback to savepoint change'),
];

/** Runs a unit in a savepoint, so that a failure undoes only this unit. */
async function runInSavepoint(transaction: Database, unit: Unit, outcomes: Outcomes): Promise<void> {
  await transaction.executeQuery(savepoint);
  try {
    const made: Outcomes = [];
    await run(transaction, unit, made);
    await transaction.executeQuery(release);
    outcomes.push(...made);
  } catch (error) {
    // A missing savepoint means that the database rolled back the transaction itself, as SQLite does on a full disk.
    await transaction.executeQuery(rollBack).catch(() => Promise.reject(error));
    const [only, ...more] = unit.changes;
    if (more.length === 0) outcomes.push(() => only?.reject(error));
    // One of the changes made the call fail, so each change is retried on its own.
    else for (const change of unit.changes) await runInSavepoint(transaction, { ...unit, changes: [change] }, outcomes);
  }
}

async function run(db: Database, { make, changes }: Unit, outcomes: Outcomes): Promise<void> {
  const all = changes.map(({ change }) => change);
  const results = await make(db, all);
  outcomes.push(() => {
    for (const [index, result] of results.entries()) changes[index]?.resolve(result);
  });
}

const queuedWork = new WeakMap<Database, Set<Work>>();

/** Must be called by changes that queue work or make it due. Their `commit` then wakes the workers of this instance. */
export function noteQueued(db: Database, work: Work): void {
  queuedWork.set(db, queuedIn(db).add(work));
}

const queuedIn = (db: Database): Set<Work> => queuedWork.get(db) ?? new Set();

function nextGroup({ waiting }: Queue): readonly Unit[] {
  let [units, size] = [0, 0];
  for (const { changes } of waiting) {
    if (units > 0 && size + changes.length > maxGroupSize) break;
    units += 1;
    size += changes.length;
  }
  return waiting.splice(0, units);
}

/** While more changes arrive one by one, the first change of a group waits at most a few milliseconds. */
const maxGatheringTurns = 32;

/** Waits for changes that arrive together, so that they share one flush. */
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

const changesIn = (units: readonly Unit[]): number => units.reduce((sum, { changes }) => sum + changes.length, 0);
