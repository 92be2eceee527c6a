import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresCluster, RestartMode } from '../postgres-cluster.ts';
import type { Random } from '../seed.ts';
import { type ServiceProcess, startServiceProcess } from '../service-process.ts';

type Fleet = Awaited<ReturnType<typeof startFleet>>;

/** Instances of the service on one database, each with a data folder of its own. */
export async function startFleet(folder: string, databaseUrl: string, count: number) {
  const startOne = (index: number): Promise<ServiceProcess> =>
    startServiceProcess({
      folder: join(folder, `instance-${index}`),
      environment: { DATABASE_URL: databaseUrl },
      args: ['--sync-timeout', '60s', '--log-level', 'error'],
    });
  const running = new Map<number, ServiceProcess>();
  const indexes = Array.from({ length: count }, (_, index) => index);
  await Promise.all(indexes.map(async (index) => running.set(index, await startOne(index))));
  const [first] = running.values();
  return {
    /** Of those that run. */
    ports: () => [...running.values()].map(({ baseUrl }) => Number(new URL(baseUrl).port)),
    /** All of them know it. */
    token: first?.token ?? '',
    /** Ends one as a crash would; false when it does not run. */
    async kill(index: number): Promise<boolean> {
      const instance = running.get(index);
      if (instance === undefined) return false;
      running.delete(index);
      await instance.kill();
      return true;
    },
    /** Starts one again, however often that takes. */
    async start(index: number): Promise<void> {
      for (let tries = 1; !running.has(index); tries += 1) {
        try {
          running.set(index, await startOne(index));
        } catch (error) {
          // It does not start while the database is being restarted.
          if (tries === 10) throw error;
        }
      }
    },
    /** Asks all to stop, and gives how they ended. */
    stop: () => Promise.all([...running.values()].map((instance) => instance.stop())),
  };
}

const longestPeaceMs = 2_500;
const longestDownMs = 1_500;

/** Kills instances and starts them again, and restarts the database in between. */
export async function makeChaos(
  { fleet, cluster, instances }: { fleet: Fleet; cluster: PostgresCluster; instances: number },
  durationMs: number,
  modes: readonly RestartMode[],
  random: Random,
) {
  const end = performance.now() + durationMs;
  let kills = 0;

  async function killAndStart(): Promise<void> {
    for (;;) {
      await sleep(500 + random() * longestPeaceMs);
      if (performance.now() > end) return;
      const index = Math.floor(random() * instances);
      if (fleet.ports().length === 1 || !(await fleet.kill(index))) continue;
      kills += 1;
      await sleep(random() * longestDownMs);
      await fleet.start(index);
    }
  }

  async function restartDatabase(): Promise<void> {
    for (const mode of modes) {
      await sleep((durationMs / (modes.length + 1)) * (0.7 + 0.3 * random()));
      await cluster.restart(mode);
    }
  }

  // Two at a time, so that only one instance is left now and then.
  await Promise.all([killAndStart(), killAndStart(), restartDatabase()]);
  return { kills, restarts: modes };
}
