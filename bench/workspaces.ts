import { atLeast, type Bench, type Benchmark, medianFigure, ratioFigure } from './benchmark.ts';
import { createSeries, measureSeries } from './service/load.ts';
import { startNetwork } from './service/network.ts';
import type { Target } from './service/request.ts';
import { addWorkspaces, newPlace, postgresPlace } from './service/seed.ts';
import { type RunningService, startService } from './service/service-process.ts';

/** Long enough for several turns of all clients, even if each renewal waits for all others. */
const full = { rounds: 5, warmUpMs: 1_000, ms: 5_000 };
const small = { rounds: 1, warmUpMs: 200, ms: 1_000 };

/** Latency that the network adds in each direction. */
const distanceMs = 1;

const ids = Array.from({ length: 8 }, (_, index) => `workspace-${index}`);
const clients = 64;
const inOne = `1 workspace × ${clients} clients`;
const inMany = `${ids.length} workspaces × ${clients / ids.length} clients`;

/** URL of the same database, over a network with that latency. */
async function farAway(databaseUrl: string): Promise<string> {
  const url = new URL(databaseUrl);
  const { port } = await startNetwork(Number(url.port || '5432'), distanceMs);
  url.host = `127.0.0.1:${port}`;
  return url.href;
}

/** Numbers of service instances that share the database, which is what PostgreSQL is for. */
const counts = [4, 1];

/** Released, too: an owner has a quota of locks in a workspace. */
const ask = 'for locks, renewed and released';

async function startInstances(bench: Bench, server: string): Promise<readonly RunningService[]> {
  const place = await postgresPlace(bench, server);
  const databaseUrl = await farAway(place.databaseUrl);
  const instances: RunningService[] = [];
  for (let number = 0; number < Math.max(...counts); number += 1) {
    instances.push(await startService(bench, { place: { ...(await newPlace(bench)), databaseUrl } }));
  }
  await addWorkspaces(place, ids);
  return instances;
}

export const workspaces: Benchmark = {
  name: 'workspaces',
  what: 'Workspaces on a PostgreSQL server that is 1 ms away: locks of the same number of clients in one workspace and in eight, through several instances.',
  async measure(bench) {
    const server = await bench.postgres();
    if (server === undefined) return [];
    const all = await startInstances(bench, server);
    const compared = counts.map((count) => {
      // Like a load balancer, spreads the clients of each workspace over all instances. All of them accept the token.
      const targets = (ids: readonly string[]): readonly Target[] =>
        all
          .slice(0, count)
          .flatMap(({ baseUrl }) => ids.map((id) => ({ baseUrl, workspace: id, token: all[0]?.token ?? '' })));
      return {
        name: `PostgreSQL at 1 ms, ${count === 1 ? 'one instance' : `${count} instances`}: locks acquired, renewed and released`,
        one: createSeries({ targets: () => targets(ids.slice(0, 1)), ask, clients }),
        many: createSeries({ targets: () => targets(ids), ask, clients }),
      };
    });
    const series = compared.flatMap(({ one, many }) => [one, many]);
    await measureSeries(bench, bench.quick ? small : full, series);
    return compared.flatMap(({ name, one, many }) => [
      medianFigure(`${name}, ${inOne}`, '/s', one.rates),
      medianFigure(`${name}, ${inMany}`, '/s', many.rates),
      ratioFigure(`${name}, in ${ids.length} workspaces relative to one`, many.rates, one.rates, {
        limit: atLeast(3, 'design §6'),
      }),
    ]);
  },
};
