import type { Database, Work } from './storage.ts';

const queued = new WeakMap<Database, Set<Work>>();

/** Must be called by each change that queues work or makes it due: its `commit` wakes the workers of this instance. */
export function noteQueued(db: Database, work: Work): void {
  queued.set(db, queuedIn(db).add(work));
}

export const queuedIn = (db: Database): Set<Work> => queued.get(db) ?? new Set();
