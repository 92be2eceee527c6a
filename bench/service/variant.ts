import { baseUrl } from '../../src/service/cli/serve/addresses.ts';
import { setUpDev } from '../../src/service/cli/serve/dev.ts';
import { createLog } from '../../src/service/cli/serve/log.ts';
import { createGit } from '../../src/service/git/git.ts';
import { endlessDisk } from '../../src/service/runtime/free-disk.ts';
import { createMetrics } from '../../src/service/runtime/metrics.ts';
import { startService } from '../../src/service/service.ts';
import type { Storage } from '../../src/service/storage/storage.ts';
import { defaultHookQuotas } from '../../src/service/webhooks/quotas.ts';
import { createTargetCheck } from '../../src/service/webhooks/target-address.ts';
import { shippedQuotas } from '../../test/support/shipped-settings.ts';
import { openStorage } from './seed.ts';
import { withoutDatabase } from './without-database.ts';

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

/** The service as `serve --dev --json --rate-limit 0` composes it, on a storage that `serve` does not offer. */
async function serveVariant(kind: string | undefined, data: string): Promise<void> {
  const host = '127.0.0.1';
  const metrics = createMetrics();
  const git = createGit({ dataFolder: data, allowFile: true, environment: process.env });

  async function oneCommit() {
    const place = { data, databaseUrl: process.env['DATABASE_URL'] };
    const storage = oneCommitPerChange(await openStorage(place, (changes) => metrics.commits.observe(changes)));
    return { storage, ...(await setUpDev(storage, git)) };
  }
  const { storage, token, workspace } = kind === 'one commit per change' ? await oneCommit() : withoutDatabase();
  const service = await startService({
    storage,
    git,
    targets: createTargetCheck({ allowedNetworks: [] }),
    metrics,
    log: createLog('info', process.stderr),
    host,
    port: 0,
    allowFileRemotes: true,
    windowsPaths: false,
    syncTimeout: { seconds: 1_800 },
    parallelSyncs: 2,
    freeDisk: endlessDisk,
    rateLimit: null,
    ...defaultHookQuotas,
    ...shippedQuotas,
    trustedProxies: [],
    version: 'bench',
  });
  process.once('SIGTERM', async () => {
    await service.stop();
    await storage.close();
  });
  const listening = { event: 'listening', base_url: baseUrl(host, service.port), token, workspace };
  process.stdout.write(`${JSON.stringify(listening)}\n`);
}

if (import.meta.main) {
  const [kind, data = ''] = process.argv.slice(2);
  await serveVariant(kind, data);
}
