import pino from 'pino';
import type { Page } from 'playwright-core';
import type { Scope } from '../../src/service/contract/scopes.ts';
import type { RemoteBranches } from '../../src/service/git/fetch.ts';
import { createGit, type Git } from '../../src/service/git/git.ts';
import { createTargetCheck } from '../../src/service/outbound/target.ts';
import { createMetrics } from '../../src/service/runtime/metrics.ts';
import { startService } from '../../src/service/service.ts';
import { openSqlite } from '../../src/service/storage/sqlite.ts';
import type { Storage } from '../../src/service/storage/storage.ts';
import { createToken } from '../../src/service/tokens/tokens.ts';
import { temporaryDataFolder } from '../../test/support/databases.ts';
import { endlessDisk } from '../../test/support/endless-disk.ts';
import { operator } from '../../test/support/operator.ts';
import { shippedRateLimit } from '../../test/support/shipped-settings.ts';

export interface Picture {
  /** Name of the files in docs/images. */
  readonly name: string;
  /** Fills an empty page whose clock stands at `pictureTime`, and takes the picture while the service runs. */
  readonly show: (page: Page, take: () => Promise<void>) => Promise<void>;
}

export interface PicturedService {
  readonly storage: Storage;
  /** Opens a page of the dashboard, as an administrator or with these scopes. */
  open(page: Page, path: string, scopes?: readonly Scope[]): Promise<void>;
}

/** Fixed, so that pictures of it do not change. */
const administratorId = 'tok_00000000-0000-4000-8000-0000000ada00';

/** A service whose remotes do not exist, so that pictures can show any address. It ends when `use` returns. */
export async function withPicturedService(
  remotes: Readonly<Record<string, RemoteBranches>>,
  use: (service: PicturedService) => Promise<void>,
): Promise<void> {
  const { folder, remove } = await temporaryDataFolder();
  const storage = await openSqlite({ folder });
  const real = createGit({ dataFolder: folder, allowFile: false, environment: process.env });
  const git: Git = {
    ...real,
    branches: async ({ address }) => remotes[address] ?? { branches: new Map(), defaultBranch: undefined },
  };
  const service = await startService({
    storage,
    git,
    dataFolder: folder,
    targets: createTargetCheck([]),
    metrics: createMetrics(),
    log: pino({ level: 'silent' }),
    host: '127.0.0.1',
    port: 0,
    allowFileRemotes: false,
    syncTimeout: { seconds: 60 },
    drainDelay: { seconds: 0 },
    drainTimeout: { seconds: 10 },
    keepAudit: undefined,
    rateLimit: shippedRateLimit,
    freeDisk: endlessDisk,
    trustedProxies: [],
    publicUrl: () => 'https://assets.example.com',
  });
  const tokenOf = async (name: string, scopes: readonly Scope[]): Promise<string> => {
    const token = { name, scopes, workspaces: null, lifetime: null };
    return (await storage.commit('global', (db) => createToken(db, operator, token))).secret;
  };
  const administrator = await tokenOf('ada', ['admin']);
  // So that two pictures of the same page do not differ.
  await storage.commit('global', (db) => db.updateTable('tokens').set({ id: administratorId }).execute());
  try {
    await use({
      storage,
      async open(page, path, scopes) {
        const address = `http://127.0.0.1:${service.port}`;
        const secret = scopes === undefined ? administrator : await tokenOf('grace', scopes);
        await page.goto(`${address}/sign-in?to=${encodeURIComponent(path)}`);
        await page.getByLabel('API token').fill(secret);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.waitForURL(`${address}${path}`);
      },
    });
  } finally {
    await service.stop();
    await storage.close();
    await remove();
  }
}
