import { setTimeout as sleep } from 'node:timers/promises';
import type { Fleet } from '../support/instances/fleet.ts';
import type { PostgresCluster, RestartMode } from '../support/postgres-cluster.ts';
import type { Random } from '../support/seed.ts';

const longestPeaceMs = 2_500;
const longestDownMs = 1_500;

/** Kills and restarts instances, and restarts the database in between. */
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

  // Two at a time, so that sometimes only one instance is left.
  await Promise.all([killAndStart(), killAndStart(), restartDatabase()]);
  return { kills, restarts: modes };
}
