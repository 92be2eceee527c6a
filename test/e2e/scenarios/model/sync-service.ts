import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseBranchName } from '../../../../src/service/git/branch-name.ts';
import { createGit } from '../../../../src/service/git/git.ts';
import { openSqlite } from '../../../../src/service/storage/sqlite.ts';
import type { SyncRow } from '../../../../src/service/syncs/sync-row.ts';
import { createToken } from '../../../../src/service/tokens/tokens.ts';
import { addWorkspace } from '../../../../src/service/workspaces/workspaces.ts';
import { type ServiceProcess, startServiceProcess } from '../../../support/service-process.ts';
import { startTcpBalancer } from '../../../support/tcp-balancer.ts';

/** The service as a process that is restarted, at one port, and what is in its folder. */
export interface SyncService {
  readonly port: number;
  /** Stops it in good order and starts it again on the same folder. */
  restart(): Promise<void>;
  workspace(id: string, remote: string): Promise<void>;
  token(): Promise<string>;
  /** All syncs of a workspace, the oldest first. */
  syncs(workspace: string): Promise<readonly SyncRow[]>;
  /** The head of a branch of the mirror; undefined where there is none. */
  head(workspace: string, branch: string): Promise<string | undefined>;
  stop(): Promise<void>;
}

export async function startSyncService(): Promise<SyncService> {
  const folder = await mkdtemp(join(tmpdir(), 'sync-model-'));
  const start = (): Promise<ServiceProcess> =>
    startServiceProcess({ folder, args: ['--allow-file-remotes', '--parallel-syncs', '4'] });
  let running: ServiceProcess | undefined = await start();
  const balancer = await startTcpBalancer({
    targets: () => (running === undefined ? [] : [Number(new URL(running.baseUrl).port)]),
  });
  // As the commands do that run beside it.
  const storage = await openSqlite({ folder, onCommit: () => undefined });
  const git = createGit({ dataFolder: folder, allowFile: true, environment: process.env });
  return {
    port: balancer.port,
    async restart() {
      const stopping = running;
      running = undefined;
      await stopping?.stop();
      running = await start();
    },
    async workspace(id, remote) {
      await storage.commit('global', (db) => addWorkspace(db, storage.now, { id, remote }));
    },
    async token() {
      const wanted = { name: 'build-bot', scopes: ['sync'], workspaces: null, lifetime: null } as const;
      return (await storage.commit('global', (db) => createToken(db, storage.now, wanted))).secret;
    },
    syncs: (workspace) =>
      storage.read
        .selectFrom('syncs')
        .selectAll()
        .where('workspace_id', '=', workspace)
        .orderBy('created_at')
        .execute(),
    async head(workspace, branch) {
      const name = parseBranchName(branch);
      if (!name.ok) throw new Error(name.why);
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
