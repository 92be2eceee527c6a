import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseBranchName } from '../../../../src/service/git/branch-name.ts';
import { createGit } from '../../../../src/service/git/git.ts';
import { openSqlite } from '../../../../src/service/storage/sqlite.ts';
import type { SyncRow } from '../../../../src/service/syncs/queue.ts';
import { createToken } from '../../../../src/service/tokens/tokens.ts';
import { addWorkspace } from '../../../../src/service/workspaces/workspaces.ts';
import { createRepository, type Repository } from '../../../support/git-repository.ts';
import { type ServiceProcess, startServiceProcess } from '../../../support/service-process.ts';
import { startTcpBalancer } from '../../../support/tcp-balancer.ts';

/** The service as a process that is restarted, at one port, and what is in its folder. */
export interface SyncService {
  readonly port: number;
  readonly workspace: string;
  /** Of the jobs. */
  readonly token: string;
  /** What the workspace mirrors. */
  readonly remote: Repository;
  /** Stops it in good order and starts it again on the same folder. */
  restart(): Promise<void>;
  /** Resolves once no restart is under way. */
  ready(): Promise<void>;
  /** All syncs of branches that begin so, the oldest first. */
  syncs(prefix: string): Promise<readonly SyncRow[]>;
  /** The head of a branch of the mirror; undefined where there is none. */
  head(branch: string): Promise<string | undefined>;
  stop(): Promise<void>;
}

export async function startSyncService(): Promise<SyncService> {
  const folder = await mkdtemp(join(tmpdir(), 'sync-model-'));
  const start = (): Promise<ServiceProcess> =>
    startServiceProcess({ folder, args: ['--allow-file-remotes', '--parallel-syncs', '4'] });
  let running: ServiceProcess | undefined = await start();
  /** One that is asked for during another comes after it. */
  let restarted = Promise.resolve();
  const balancer = await startTcpBalancer({
    targets: () => (running === undefined ? [] : [Number(new URL(running.baseUrl).port)]),
  });
  const workspace = 'game';
  const remote = createRepository(folder);
  // As the commands do that run beside it, and without a process for each.
  const storage = await openSqlite({ folder });
  const { now } = storage;
  const { secret: token } = await storage.commit('global', async (db) => {
    await addWorkspace(db, now, { id: workspace, remote: pathToFileURL(remote.path).href });
    return createToken(db, now, { name: 'build-bot', scopes: ['sync'], workspaces: null, lifetime: null });
  });
  const git = createGit({ dataFolder: folder, allowFile: true, environment: process.env });
  return {
    port: balancer.port,
    workspace,
    token,
    remote,
    restart() {
      restarted = restarted.then(async () => {
        const stopping = running;
        running = undefined;
        await stopping?.stop();
        running = await start();
      });
      return restarted;
    },
    ready: () => restarted,
    async syncs(prefix) {
      const rows = await storage.read.selectFrom('syncs').selectAll().orderBy('created_at').execute();
      return rows.filter(({ branch }) => branch.startsWith(prefix));
    },
    async head(branch) {
      const name = parseBranchName(branch);
      if (!name.ok) throw new Error(name.reason);
      return (await git.head(workspace, name.value)) ?? undefined;
    },
    async stop() {
      await balancer.close();
      await storage.close();
      await running?.stop();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
