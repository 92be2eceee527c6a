import { atLeast, type Bench, type Benchmark, medianFigure, ratioFigure } from './benchmark.ts';
import { createSeries, measureSeries } from './service/load.ts';
import { startNetwork } from './service/network.ts';
import type { Target } from './service/request.ts';
import { addWorkspaces, newPlace, postgresPlace } from './service/seed.ts';
import { type RunningService, startService } from './service/service-process.ts';

/** Long enough for several turns of all clients, where each of their renewals waits for all others. */
const full = { rounds: 5, warmUpMs: 1_000, ms: 5_000 };
const small = { rounds: 1, warmUpMs: 200, ms: 1_000 };

/** What the network adds each way. */
const distanceMs = 1;

const ids = Array.from({ length: 8 }, (_, index) => `workspace-${index}`);
const clients = 64;
const inOne = `1 workspace × ${clients} clients`;
const inMany = `${ids.length} workspaces × ${clients / ids.length} clients`;

/** The address of the same database, as far away. */
async function farAway(databaseUrl: string): Promise<string> {
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${await startNetwork(Number(url.port || '5432'), distanceMs)}`;
  return url.href;
}

/** Through so many instances of the service on the one database, which PostgreSQL is there for; what is judged, and what not. */
const comparisons = [
  { count: 4, ask: 'for locks, renewed and released', isJudged: true },
  { count: 4, ask: 'for locks', isJudged: true },
  { count: 1, ask: 'for locks, renewed and released', isJudged: true },
  { count: 1, ask: 'for locks', isJudged: false },
] as const;

async function startInstances(bench: Bench, server: string): Promise<readonly RunningService[]> {
  const place = await postgresPlace(bench, server);
  const databaseUrl = await farAway(place.databaseUrl);
  const instances: RunningService[] = [];
  for (let number = 0; number < Math.max(...comparisons.map(({ count }) => count)); number += 1) {
    instances.push(await startService(bench, { place: { ...(await newPlace(bench)), databaseUrl } }));
  }
  await addWorkspaces(place, ids);
  return instances;
}

export const workspaces: Benchmark = {
  name: 'workspaces',
  what: 'Workspaces side by side on a PostgreSQL that is 1 ms away: locks of as many clients in one workspace and in eight, through several instances.',
  async measure(bench) {
    const server = await bench.postgres();
    if (server === undefined) return [];
    const all = await startInstances(bench, server);
    const compared = comparisons.map(({ count, ask, isJudged }) => {
      // As a load balancer does it, the clients of each workspace are spread over all instances. A token is known to all.
      const targets = (ids: readonly string[]): readonly Target[] =>
        all
          .slice(0, count)
          .flatMap(({ baseUrl }) => ids.map((id) => ({ baseUrl, workspace: id, token: all[0]?.token ?? '' })));
      return {
        name: `PostgreSQL at 1 ms, ${count === 1 ? 'one instance' : `${count} instances`}: ${ask.replace('for locks', 'locks taken')}`,
        limit: isJudged ? atLeast(3, 'design §6') : undefined,
        one: createSeries({ targets: () => targets(ids.slice(0, 1)), ask, clients }),
        many: createSeries({ targets: () => targets(ids), ask, clients }),
      };
    });
    const series = compared.flatMap(({ one, many }) => [one, many]);
    await measureSeries(bench, bench.quick ? small : full, series);
    return compared.flatMap(({ name, limit, one, many }) => [
      medianFigure(`${name}, ${inOne}`, '/s', one.rates),
      medianFigure(`${name}, ${inMany}`, '/s', many.rates),
      ratioFigure(`${name}, ${inMany} over ${inOne}`, many.rates, one.rates, { limit }),
    ]);
  },
};
