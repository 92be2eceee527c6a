import { join } from 'node:path';
import { createPostgresDatabase } from '../test/support/databases.ts';
import { atLeast, type Bench, type Benchmark, type Figure, inTurns, medianFigure, ratioFigure } from './benchmark.ts';
import { budgets } from './budgets.ts';
import { startLatencyProxy } from './service/latency-proxy.ts';
import { type LoadPlan, startLoadGenerator, type Target } from './service/load.ts';
import { addWorkspaces } from './service/seed.ts';
import { type RunningService, startService } from './service/service-process.ts';

interface Plan {
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly ms: number;
}

/** Long enough for several turns of all clients, where each of their renewals waits for all others. */
const full: Plan = { rounds: 5, warmUpMs: 1_000, ms: 5_000 };
const small: Plan = { rounds: 1, warmUpMs: 200, ms: 1_000 };

/** What the network adds each way. */
const distanceMs = 1;

const ids = Array.from({ length: 8 }, (_, index) => `workspace-${index}`);
const clients = 64;

/** Of the service, all on the one database: PostgreSQL is there for several. */
const instanceCounts = [4, 1];

const asks = {
  'for locks, renewed and released': 'locks taken, renewed and released',
  'for locks': 'locks taken',
} as const satisfies Partial<Record<LoadPlan['ask'], string>>;

const layouts = {
  one: `1 workspace × ${clients} clients`,
  many: `${ids.length} workspaces × ${clients / ids.length} clients`,
} as const;
type Layout = keyof typeof layouts;

interface Case {
  readonly instances: readonly RunningService[];
  readonly ask: keyof typeof asks;
  readonly rates: Readonly<Record<Layout, number[]>>;
}

async function startInstances(bench: Bench, server: string): Promise<readonly RunningService[]> {
  const database = await createPostgresDatabase(server);
  bench.atEnd(database.remove);
  const proxy = await startLatencyProxy(database.url, distanceMs);
  bench.atEnd(proxy.stop);
  const instances: RunningService[] = [];
  for (let number = 0; number < Math.max(...instanceCounts); number += 1) {
    const instance = await startService({ databaseUrl: proxy.url, folder: join(bench.folder, `instance-${number}`) });
    bench.atEnd(instance.stop);
    instances.push(instance);
  }
  const place = { data: bench.folder, databaseUrl: database.url };
  await addWorkspaces(place, ids, 'https://git.example.com/assets.git');
  return instances;
}

/** As a load balancer does it, the clients of each workspace are spread over all instances. */
const targetsOf = (layout: Layout, instances: readonly RunningService[]): readonly Target[] =>
  instances.flatMap(({ baseUrl }) =>
    (layout === 'one' ? ids.slice(0, 1) : ids).map((workspace) => ({ baseUrl, workspace })),
  );

function figuresOf({ instances: { length }, ask, rates }: Case): readonly Figure[] {
  const where = `PostgreSQL at 1 ms, ${length === 1 ? 'one instance' : `${length} instances`}`;
  const rateFigure = (layout: Layout): Figure =>
    medianFigure(`${where}, ${layouts[layout]}: ${asks[ask]}`, '/s', rates[layout]);
  return [
    rateFigure('one'),
    rateFigure('many'),
    ratioFigure(`${where}: ${asks[ask]}, ${layouts.many} over ${layouts.one}`, rates.many, rates.one, {
      limit: length === 1 ? undefined : atLeast(budgets.workspacesRatio, 'design §6'),
    }),
  ];
}

export const workspaces: Benchmark = {
  name: 'workspaces',
  what: 'Workspaces side by side on a PostgreSQL that is 1 ms away: locks of as many clients in one workspace and in eight, through several instances.',
  async measure(bench) {
    const server = await bench.postgres();
    if (server.kind === 'missing') return { figures: [], leftOut: [{ name: 'PostgreSQL', reason: server.reason }] };
    const { rounds, warmUpMs, ms } = bench.quick ? small : full;
    const all = await startInstances(bench, server.url);
    const generator = startLoadGenerator();
    bench.atEnd(generator.stop);
    const cases = instanceCounts.flatMap((count) =>
      (['for locks, renewed and released', 'for locks'] as const).map(
        (ask): Case => ({ instances: all.slice(0, count), ask, rates: { one: [], many: [] } }),
      ),
    );
    await inTurns(bench, rounds, cases, async ({ instances, ask, rates }, round) => {
      for (const layout of round % 2 === 0 ? (['one', 'many'] as const) : (['many', 'one'] as const)) {
        const { rate } = await generator.ask({
          targets: targetsOf(layout, instances),
          token: all[0]?.token ?? '',
          ask,
          name: `${round}-${instances.length}-${layout}-${ask.length}`,
          clients,
          warmUpMs,
          end: { kind: 'after', ms },
        });
        rates[layout].push(rate);
      }
    });
    return { figures: cases.flatMap(figuresOf) };
  },
};
