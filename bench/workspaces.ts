import { join } from 'node:path';
import { openPostgres } from '../src/service/storage/postgres.ts';
import { addWorkspace } from '../src/service/workspaces/workspaces.ts';
import { createPostgresDatabase } from '../test/support/databases.ts';
import { atLeast, type Bench, type Benchmark, type Figure } from './benchmark.ts';
import { budgets } from './budgets.ts';
import { startLatencyProxy } from './service/latency-proxy.ts';
import type { LoadPlan, Target } from './service/load.ts';
import { startLoadGenerator } from './service/load-generator.ts';
import { type RunningService, startService } from './service/services.ts';
import { medianOf, medianRatio } from './statistics.ts';

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

/** Of the service, all on the one database. Whoever has PostgreSQL has it for several. */
const instanceCounts = [4, 1] as const;

const asks = ['for locks, renewed and released', 'for locks'] as const satisfies readonly LoadPlan['ask'][];
type Asked = (typeof asks)[number];

const what: Readonly<Record<Asked, string>> = {
  'for locks, renewed and released': 'locks taken, renewed and released',
  'for locks': 'locks taken',
};

const layouts = {
  one: `1 workspace × ${clients} clients`,
  many: `${ids.length} workspaces × ${clients / ids.length} clients`,
} as const;
type Layout = keyof typeof layouts;

/** Instances beside each other, on a database that is as far from each of them. Each is in a process of its own. */
async function startInstances(bench: Bench, server: string): Promise<readonly RunningService[]> {
  const database = await createPostgresDatabase(server);
  bench.atEnd(database.remove);
  const proxy = await startLatencyProxy(database.url, distanceMs);
  bench.atEnd(proxy.stop);
  const instances: RunningService[] = [];
  for (let number = 0; number < Math.max(...instanceCounts); number += 1) {
    const folder = join(bench.folder, `instance-${number}`);
    const instance = await startService({ kind: 'as installed', databaseUrl: proxy.url, folder });
    bench.atEnd(instance.stop);
    instances.push(instance);
  }
  const storage = await openPostgres({ url: database.url, onIdleError: () => undefined });
  const remote = 'https://git.example.com/assets.git';
  for (const id of ids) {
    await storage.commit({ workspace: id }, (db) => addWorkspace(db, storage.now, { id, remote }));
  }
  await storage.close();
  return instances;
}

/** As a load balancer does it, the clients of each workspace are spread over all instances. */
const targetsOf = (layout: Layout, instances: readonly RunningService[]): readonly Target[] =>
  instances.flatMap(({ baseUrl }) =>
    (layout === 'one' ? ids.slice(0, 1) : ids).map((workspace) => ({ baseUrl, workspace })),
  );

type Rates = Readonly<Record<Layout, number[]>>;

/** What is measured in both layouts: that it asks for, of so many instances. */
interface Case {
  readonly count: number;
  readonly ask: Asked;
  readonly rates: Rates;
}

function figuresOf(asked: Asked, instances: number, rates: Rates, quick: boolean): readonly Figure[] {
  const where = `PostgreSQL at 1 ms, ${instances === 1 ? 'one instance' : `${instances} instances`}`;
  const rateFigure = (layout: Layout): Figure => ({
    name: `${where}, ${layouts[layout]}: ${what[asked]}`,
    value: medianOf(rates[layout]).median,
    unit: '/s',
    details: [{ kind: 'rounds', name: 'rounds', unit: '/s', values: rates[layout] }],
  });
  return [
    rateFigure('one'),
    rateFigure('many'),
    {
      name: `${where}: ${what[asked]}, ${layouts.many} over ${layouts.one}`,
      value: medianRatio(rates.many, rates.one),
      unit: '×',
      limit: instances === 1 || quick ? undefined : atLeast(budgets.workspacesRatio, 'design §6'),
    },
  ];
}

export const workspaces: Benchmark = {
  name: 'workspaces',
  what: 'Workspaces side by side on a PostgreSQL that is 1 ms away: locks of as many clients in one workspace and in eight, through several instances.',
  async measure(bench) {
    const server = await bench.postgres();
    if (server.kind === 'missing') return { figures: [], leftOut: [{ name: 'PostgreSQL', reason: server.reason }] };
    const { rounds, warmUpMs, ms } = bench.quick ? small : full;
    const instances = await startInstances(bench, server.url);
    const generator = startLoadGenerator();
    bench.atEnd(generator.stop);

    const cases = instanceCounts.flatMap((count) =>
      asks.map((ask): Case => ({ count, ask, rates: { one: [], many: [] } })),
    );
    for (let round = 0; round < rounds; round += 1) {
      bench.progress(`round ${round + 1} of ${rounds}`);
      for (const [turn, { count, ask, rates }] of cases.entries()) {
        for (const layout of round % 2 === 0 ? (['one', 'many'] as const) : (['many', 'one'] as const)) {
          bench.signal.throwIfAborted();
          const load = await generator.run({
            targets: targetsOf(layout, instances.slice(0, count)),
            token: instances[0]?.token ?? '',
            ask,
            name: `${round}-${turn}-${layout}`,
            clients,
            warmUpMs,
            end: { kind: 'after', ms },
          });
          rates[layout].push((load.latenciesMs.length / load.ms) * 1_000);
        }
      }
    }
    return { figures: cases.flatMap(({ count, ask, rates }) => figuresOf(ask, count, rates, bench.quick)) };
  },
};
