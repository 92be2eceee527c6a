import { parseArgs } from 'node:util';
import { baseUrl } from '../../src/service/cli/serve/addresses.ts';
import { type DevSetup, setUpDev } from '../../src/service/cli/serve/dev.ts';
import { createLog } from '../../src/service/cli/serve/log.ts';
import { createGit } from '../../src/service/git/git.ts';
import { endlessDisk } from '../../src/service/runtime/free-disk.ts';
import { createMetrics } from '../../src/service/runtime/metrics.ts';
import { startService } from '../../src/service/service.ts';
import { openPostgres } from '../../src/service/storage/postgres.ts';
import { openSqlite } from '../../src/service/storage/sqlite.ts';
import type { Storage } from '../../src/service/storage/storage.ts';
import { defaultHookQuotas } from '../../src/service/webhooks/quotas.ts';
import { createTargetCheck } from '../../src/service/webhooks/target-address.ts';
import { shippedQuotas } from '../../test/support/shipped-settings.ts';
import { oneCommitPerChange } from './one-commit.ts';
import { withoutDatabase } from './without-database.ts';

/**
 * The service as `serve --dev --json --rate-limit 0` composes it, on a storage that `serve` does not offer:
 * `node variant.ts --data FOLDER one-commit|without-database`.
 */

const host = '127.0.0.1';

interface Ready extends DevSetup {
  readonly storage: Storage;
}

const { values, positionals } = parseArgs({ options: { data: { type: 'string' } }, allowPositionals: true });
const data = values.data ?? '';
const environment = process.env;
const metrics = createMetrics();
const log = createLog('info', process.stderr);
const git = createGit({ dataFolder: data, allowFile: true, environment });

async function oneCommit(): Promise<Ready> {
  const onCommit = (changes: number): void => metrics.commits.observe(changes);
  const url = environment['DATABASE_URL'];
  const usual =
    url === undefined
      ? await openSqlite({ folder: data, onCommit })
      : await openPostgres({ url, onCommit, onIdleError: () => undefined });
  const storage = oneCommitPerChange(usual);
  return { storage, ...(await setUpDev(storage, git)) };
}

const kind = positionals[0];
if (kind !== 'one-commit' && kind !== 'without-database') throw new Error(`There is no variant ${kind}.`);
const { storage, token, workspace } = kind === 'one-commit' ? await oneCommit() : withoutDatabase();
const service = await startService({
  storage,
  git,
  targets: createTargetCheck({ allowedNetworks: [] }),
  metrics,
  log,
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
process.stdout.write(
  `${JSON.stringify({ event: 'listening', base_url: baseUrl(host, service.port), token, workspace })}\n`,
);
