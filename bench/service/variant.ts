import { createLog } from '../../src/service/cli/run-service.ts';
import type { Storage } from '../../src/service/storage/storage.ts';
import { startTestService } from '../../test/support/running-service.ts';
import { openStorage } from './seed.ts';

/** The service of `serve --dev --json --rate-limit 0`, with a storage that `serve` does not offer. */

/**
 * The storage of the service without batching: each change waits until the previous one is on disk, so no two share a
 * transaction. Everything else is the same, including the flush to disk before the response. No setting of the service
 * selects this storage.
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

if (import.meta.main) {
  const place = { data: process.env['WORKSPACE_SERVICE_DATA'] ?? '', databaseUrl: process.env['DATABASE_URL'] };
  async function open() {
    const storage = oneCommitPerChange(await openStorage(place));
    return { storage, remove: storage.close };
  }
  const log = createLog({ logLevel: 'info' }, process.stderr);
  const service = await startTestService({ name: 'SQLite', open }, { rateLimit: null, log });
  process.once('SIGTERM', service.stop);
  const listening = {
    event: 'listening',
    base_url: `${service.baseUrl}/v1`,
    token: (await service.token()).secret,
    workspace: await service.workspace(),
  };
  process.stdout.write(`${JSON.stringify(listening)}\n`);
}
