import { openPostgres } from '../src/service/storage/postgres.ts';
import { addWorkspace } from '../src/service/workspaces/workspaces.ts';
import { createPostgresDatabase } from '../test/support/databases.ts';
import { atLeast, type Bench, type Benchmark, type Figure } from './benchmark.ts';
import { budgets } from './budgets.ts';
import { startLatencyProxy } from './service/latency-proxy.ts';
import type { LoadPlan } from './service/load.ts';
import { type LoadGenerator, startLoadGenerator } from './service/load-generator.ts';
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

/** As many load generators, with as many clients each, whether they share a workspace or not. */
const ids = Array.from({ length: 8 }, (_, index) => `workspace-${index}`);
const clientsOfEach = 8;

const asks = ['for locks, renewed and released', 'for locks'] as const satisfies readonly LoadPlan['ask'][];
type Asked = (typeof asks)[number];

const what: Readonly<Record<Asked, string>> = {
  'for locks, renewed and released': 'locks taken, renewed and released',
  'for locks': 'locks taken',
};

const layouts = {
  one: `1 workspace × ${ids.length * clientsOfEach} clients`,
  many: `${ids.length} workspaces × ${clientsOfEach} clients`,
} as const;
type Layout = keyof typeof layouts;

async function startDistantService(bench: Bench, server: string): Promise<RunningService> {
  const database = await createPostgresDatabase(server);
  bench.atEnd(database.remove);
  const proxy = await startLatencyProxy(database.url, distanceMs);
  bench.atEnd(proxy.stop);
  const service = await startService({ kind: 'as installed', databaseUrl: proxy.url, folder: bench.folder });
  bench.atEnd(service.stop);
  const storage = await openPostgres({ url: database.url, onIdleError: () => undefined });
  const remote = 'https://git.example.com/assets.git';
  for (const id of ids) {
    await storage.commit({ workspace: id }, (db) => addWorkspace(db, storage.now, { id, remote }));
  }
  await storage.close();
  return service;
}

/** Locks a second, of all clients together. */
async function rateOf(
  { baseUrl, token }: RunningService,
  generators: readonly LoadGenerator[],
  layout: Layout,
  plan: Pick<LoadPlan, 'ask' | 'warmUpMs' | 'end' | 'name'>,
): Promise<number> {
  const loads = await Promise.all(
    generators.map((generator, index) =>
      generator.run({
        ...plan,
        baseUrl,
        token,
        workspace: ids[layout === 'one' ? 0 : index] ?? '',
        name: `${plan.name}-${index}`,
        clients: clientsOfEach,
      }),
    ),
  );
  return loads.reduce((sum, { latenciesMs, ms }) => sum + (latenciesMs.length / ms) * 1_000, 0);
}

type Rates = Readonly<Record<Layout, number[]>>;

function figuresOf(asked: Asked, rates: Rates, judged: boolean): readonly Figure[] {
  const where = 'PostgreSQL at 1 ms';
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
      limit: judged ? atLeast(budgets.workspacesRatio, 'design §6') : undefined,
    },
  ];
}

export const workspaces: Benchmark = {
  name: 'workspaces',
  what: 'Workspaces side by side on a PostgreSQL that is 1 ms away: locks of as many clients in one workspace and in eight.',
  async measure(bench) {
    const server = await bench.postgres();
    if (server.kind === 'missing') return { figures: [], leftOut: [{ name: 'PostgreSQL', reason: server.reason }] };
    const { rounds, warmUpMs, ms } = bench.quick ? small : full;
    const service = await startDistantService(bench, server.url);
    const generators = ids.map(() => startLoadGenerator());
    for (const generator of generators) bench.atEnd(generator.stop);

    const rates: Readonly<Record<Asked, Rates>> = {
      'for locks, renewed and released': { one: [], many: [] },
      'for locks': { one: [], many: [] },
    };
    for (let round = 0; round < rounds; round += 1) {
      bench.progress(`round ${round + 1} of ${rounds}`);
      for (const [turn, ask] of asks.entries()) {
        for (const layout of round % 2 === 0 ? (['one', 'many'] as const) : (['many', 'one'] as const)) {
          bench.signal.throwIfAborted();
          const name = `${round}-${turn}-${layout}`;
          const plan = { ask, name, warmUpMs, end: { kind: 'after', ms } } as const;
          rates[ask][layout].push(await rateOf(service, generators, layout, plan));
        }
      }
    }
    return {
      figures: asks.flatMap((ask) => figuresOf(ask, rates[ask], !bench.quick)),
    };
  },
};
