import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '../../../src/service/storage/sqlite.ts';
import { createToken } from '../../../src/service/tokens/tokens.ts';
import { addWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.ts';
import { openPlace, type Place, type PlaceOptions } from '../scenarios/place.ts';

/** The service as a process that is killed and restarted on the same port and data folder. */
export interface KilledService {
  readonly port: number;
  /** Kills it as in a crash. */
  kill(): Promise<void>;
  /** Restarts it, if it is not running. */
  start(): Promise<void>;
  /** A new workspace, for jobs that reach the service at this port. */
  place(port: number, end?: PlaceOptions['end']): Promise<Place>;
  stop(): Promise<void>;
}

export async function startKilledService(): Promise<KilledService> {
  const folder = await mkdtemp(join(tmpdir(), 'killed-service-'));
  const first = await startServiceProcess({ folder });
  const port = Number(new URL(first.baseUrl).port);
  let running: Promise<ServiceProcess> | undefined = Promise.resolve(first);
  // Accesses the database like the commands do, but without a process for each.
  const storage = await openSqlite({ folder });
  const { now } = storage;
  let workspaces = 0;

  const newToken = async (name: string): Promise<string> => {
    const wanted = { name, scopes: ['locks:write'], workspaces: null, lifetime: null } as const;
    return (await storage.commit('global', (db) => createToken(db, now, wanted))).secret;
  };

  return {
    port,
    async kill() {
      const killed = await running;
      running = undefined;
      await killed?.kill();
    },
    async start() {
      running ??= startServiceProcess({ folder, port });
      await running;
    },
    async place(reachedAt, end) {
      workspaces += 1;
      const workspace = `w${workspaces}`;
      await storage.commit('global', (db) =>
        addWorkspace(db, now, { id: workspace, remote: 'https://git.example.com/assets.git' }),
      );
      return openPlace({
        ...{ storage, workspace, baseUrl: `http://127.0.0.1:${reachedAt}/v1` },
        ...{ token: await newToken('build-bot'), graces: await newToken('grace'), admins: '' },
        ...(end && { end }),
      });
    },
    async stop() {
      await storage.close();
      await (await running)?.stop();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
