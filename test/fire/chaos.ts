import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished, type TestContext } from 'vitest';
import { postgresServer } from '../support/databases.ts';
import { leaveOut } from '../support/left-out.ts';
import { findPostgresPrograms, type RestartMode, startPostgresCluster } from '../support/postgres-cluster.ts';
import type { Random } from '../support/seed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startFleet } from './fleet.ts';
import { startTcpBalancer } from './tcp-balancer.ts';

/** The programs of PostgreSQL, for a test that starts servers of its own. */
export function programsFor(context: TestContext): string {
  if (process.env['SOAK'] !== '1' && postgresServer === undefined) {
    leaveOut(context, 'It is part of `npm run test:postgres`.');
  }
  return findPostgresPrograms() ?? leaveOut(context, 'There is no PostgreSQL server on this machine.');
}

/** Instances on one database, behind one address. It loses some responses: these requests were done, but never answered. */
export async function startInstances(context: TestContext, count: number, networkLuck: Random) {
  const folder = temporaryFolder();
  const cluster = await startPostgresCluster(programsFor(context));
  onTestFinished(() => cluster.remove());
  const fleet = await startFleet(folder, cluster.url, count);
  const killAll = async () => void (await Promise.all(Array.from({ length: count }, (_, index) => fleet.kill(index))));
  onTestFinished(killAll);
  const { port, close } = await startTcpBalancer({ targets: fleet.ports, losesAnswer: () => networkLuck() < 0.1 });
  onTestFinished(close);
  return { folder, cluster, fleet, killAll, instances: count, base: `http://127.0.0.1:${port}/v1` };
}

const longestPeaceMs = 2_500;
const longestDownMs = 1_500;

/** Kills and restarts instances, and restarts the database in between. */
export async function makeChaos(
  { fleet, cluster, instances }: Pick<Awaited<ReturnType<typeof startInstances>>, 'fleet' | 'cluster' | 'instances'>,
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

  // Two at a time, so that sometimes only one instance is left.
  await Promise.all([killAndStart(), killAndStart(), restartDatabase()]);
  return { kills, restarts: modes };
}
