import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createGit } from '../../../../src/service/git/git.ts';
import { openSqlite } from '../../../../src/service/storage/sqlite.ts';
import type { SyncRow } from '../../../../src/service/syncs/queue.ts';
import { createToken } from '../../../../src/service/tokens/tokens.ts';
import { addWorkspace } from '../../../../src/service/workspaces/workspaces.ts';
import { createRepository, type Repository } from '../../../support/git-repository.ts';
import { type ServiceProcess, startServiceProcess } from '../../../support/service-process.ts';
import { startTcpBalancer } from '../../../support/tcp-balancer.ts';

/** The service as a process that can be restarted on one port, with direct access to its data folder. */
export interface SyncService {
  readonly port: number;
  readonly workspace: string;
  /** The token of the jobs. */
  readonly token: string;
  /** The remote of the workspace. */
  readonly remote: Repository;
  /** Stops the service gracefully, and starts it again on the same folder. */
  restart(): Promise<void>;
  /** Resolves when no restart is in progress. */
  ready(): Promise<void>;
  /** All syncs of branches with this prefix, oldest first. */
  syncs(prefix: string): Promise<readonly SyncRow[]>;
  /** Whether the mirror has this commit. */
  isMirrored(commit: string): Promise<boolean>;
  stop(): Promise<void>;
}

export async function startSyncService(): Promise<SyncService> {
  const folder = await mkdtemp(join(tmpdir(), 'sync-model-'));
  const start = (): Promise<ServiceProcess> => startServiceProcess({ folder, args: ['--allow-file-remotes'] });
  let running: ServiceProcess | undefined = await start();
  /** Restarts run one after the other. */
  let restarted = Promise.resolve();
  const balancer = await startTcpBalancer({
    targets: () => (running === undefined ? [] : [Number(new URL(running.baseUrl).port)]),
  });
  const workspace = 'game';
  const remote = createRepository(folder);
  // Accesses the database like the commands do, but without a process for each.
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
    isMirrored: async (commit) => (await git.missingCommits(workspace, [commit])).size === 0,
    async stop() {
      await balancer.close();
      await storage.close();
      await running?.stop();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
