import type { Storage } from '../../src/service/storage/storage.ts';

/**
 * The storage of the service without what makes it quick: no change waits until the one before it is on disk, and so
 * none shares a transaction. Everything else, the flush to disk before the answer too, is as it was. Nothing in src/
 * knows of it, so no setting of the service leads here.
 */
export function oneCommitPerChange(storage: Storage): Storage {
  let last: Promise<unknown> = Promise.resolve();

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  }

  return {
    ...storage,
    commit: (scope, change) => inTurn(() => storage.commit(scope, change)),
    batchCommits(scopeOf, make) {
      const commit = storage.batchCommits(scopeOf, make);
      return (change) => inTurn(() => commit(change));
    },
    // On SQLite a claim would share the transaction of a change.
    claim: storage.dialect === 'sqlite' ? (work) => inTurn(() => storage.claim(work)) : storage.claim,
  };
}
