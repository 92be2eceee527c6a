import { join } from 'node:path';
import { atLeast, type Bench, type Benchmark, type Chart, type Detail, type Figure } from './benchmark.ts';
import { budgets } from './budgets.ts';
import { databasesOf } from './service/databases.ts';
import { type LoadGenerator, startLoadGenerator } from './service/load-generator.ts';
import { type Kind, type RunningService, startService } from './service/services.ts';
import { medianOf, medianRatio, percentilesOf } from './statistics.ts';

interface Plan {
  readonly rounds: number;
  readonly clients: readonly number[];
  readonly warmUpMs: number;
  readonly ms: number;
}

const full: Plan = { rounds: 5, clients: [1, 32, 256], warmUpMs: 500, ms: 2_000 };
const small: Plan = { rounds: 1, clients: [1, 32, 256], warmUpMs: 50, ms: 200 };

/** With so many the limit is judged (design §6). */
const judgedClients = 32;

interface Subject {
  /** Null for the service without a database. */
  readonly database: string | null;
  readonly kind: Kind;
  readonly service: RunningService;
  readonly measured: readonly AtClients[];
}

/** What one subject did with so many clients. */
interface AtClients {
  readonly clients: number;
  /** Locks a second, one for each round. */
  readonly rates: number[];
  readonly latenciesMs: number[];
}

const nothingYet = ({ clients }: Plan): readonly AtClients[] =>
  clients.map((number) => ({ clients: number, rates: [], latenciesMs: [] }));

async function startSubjects(bench: Bench, plan: Plan): Promise<{ subjects: readonly Subject[]; leftOut: Leftovers }> {
  const { databases, leftOut } = await databasesOf(bench);
  const subjects: Subject[] = [];

  async function add(database: string | null, kind: Kind, databaseUrl: string | undefined): Promise<void> {
    const service = await startService({
      kind,
      databaseUrl,
      rateLimit: 'off',
      folder: join(bench.folder, String(subjects.length)),
    });
    bench.atEnd(service.stop);
    subjects.push({ database, kind, service, measured: nothingYet(plan) });
  }

  for (const { name, createUrl } of databases) {
    await add(name, 'as installed', await createUrl());
    await add(name, 'one commit per change', await createUrl());
  }
  await add(null, 'without a database', undefined);
  return { subjects, leftOut };
}

type Leftovers = Awaited<ReturnType<typeof databasesOf>>['leftOut'];

async function measureRound(
  generator: LoadGenerator,
  subjects: readonly Subject[],
  round: number,
  { warmUpMs, ms }: Plan,
  signal: AbortSignal,
): Promise<void> {
  const first = round % subjects.length;
  for (const { service, measured } of [...subjects.slice(first), ...subjects.slice(0, first)]) {
    for (const { clients, rates, latenciesMs } of measured) {
      signal.throwIfAborted();
      const load = await generator.run({
        targets: [service],
        token: service.token,
        ask: 'for locks',
        name: `${round}-${clients}`,
        clients,
        warmUpMs,
        end: { kind: 'after', ms },
      });
      rates.push((load.latenciesMs.length / load.ms) * 1_000);
      for (const latency of load.latenciesMs) latenciesMs.push(latency);
    }
  }
}

/** All of them have one token, and ask for as much as there is. */
const clientsText = (clients: number): string => `${clients === 1 ? '1 client' : `${clients} clients`}, rate limit off`;

/** What figures are called that others read: bench/simulate knows the service by them. */
export const takenName = (database: string, clients: number): string =>
  `${database}, ${clientsText(clients)}: locks taken, each on disk before its answer`;
export const ceilingName = (clients: number): string =>
  `without a database, ${clientsText(clients)}: answers of the same route`;

const rounds = (name: string, values: readonly number[]): Detail => ({ kind: 'rounds', name, unit: '/s', values });

const latencies = ({ latenciesMs }: AtClients): Detail => ({
  kind: 'distribution',
  name: 'until the answer',
  unit: 'ms',
  percentiles: percentilesOf(latenciesMs, [50, 90, 99, 99.9]),
});

const middle = ({ rates }: AtClients): number => medianOf(rates).median;

/** Of one database with so many clients. */
function figuresOf(
  name: string,
  installed: AtClients,
  oneCommit: AtClients,
  ceiling: AtClients,
  judged: boolean,
): readonly Figure[] {
  const where = `${name}, ${clientsText(installed.clients)}`;
  return [
    {
      name: takenName(name, installed.clients),
      value: middle(installed),
      unit: '/s',
      inReadme: true,
      details: [rounds('rounds', installed.rates), latencies(installed)],
    },
    {
      name: `${where}: over one commit for each request`,
      value: medianRatio(installed.rates, oneCommit.rates),
      unit: '×',
      limit: judged ? atLeast(budgets.groupedCommitsRatio, 'design §6') : undefined,
      details: [rounds('one commit for each request', oneCommit.rates), latencies(oneCommit)],
    },
    {
      name: `${where}: of what the same route does without a database`,
      value: medianRatio(installed.rates, ceiling.rates),
      unit: '×',
    },
  ];
}

function ceilingFigures(measured: readonly AtClients[]): readonly Figure[] {
  return measured.map((each) => ({
    name: ceilingName(each.clients),
    value: middle(each),
    unit: '/s',
    details: [rounds('rounds', each.rates), latencies(each)],
  }));
}

const chartOf = (subjects: readonly Subject[]): Chart => ({
  title: 'Locks taken a second, by how many clients ask at the same time',
  x: { label: 'clients', scale: 'logarithmic' },
  y: { label: 'locks a second', scale: 'logarithmic' },
  lines: subjects.map(({ database, kind, measured }) => ({
    name: database === null ? kind : `${database}, ${kind}`,
    points: measured.map((each) => [each.clients, middle(each)]),
  })),
});

export const service: Benchmark = {
  name: 'service',
  what: 'Locks that the service takes, each on disk before it is answered, beside one commit for each and beside no database.',
  async measure(bench) {
    const plan = bench.quick ? small : full;
    const { subjects, leftOut } = await startSubjects(bench, plan);
    const generator = startLoadGenerator();
    bench.atEnd(generator.stop);
    for (let round = 0; round < plan.rounds; round += 1) {
      bench.progress(`round ${round + 1} of ${plan.rounds}`);
      await measureRound(generator, subjects, round, plan, bench.signal);
    }
    const measuredOf = (database: string | null, kind: Kind): readonly AtClients[] =>
      subjects.find((subject) => subject.database === database && subject.kind === kind)?.measured ?? [];
    const ceilings = measuredOf(null, 'without a database');
    const databases = [...new Set(subjects.flatMap(({ database }) => (database === null ? [] : [database])))];
    return {
      figures: [
        ...databases.flatMap((database) => {
          const oneCommits = measuredOf(database, 'one commit per change');
          return measuredOf(database, 'as installed').flatMap((installed, index) => {
            const [oneCommit, ceiling] = [oneCommits[index], ceilings[index]];
            if (oneCommit === undefined || ceiling === undefined) return [];
            const judged = database === 'SQLite' && installed.clients === judgedClients && !bench.quick;
            return figuresOf(database, installed, oneCommit, ceiling, judged);
          });
        }),
        ...ceilingFigures(ceilings),
      ],
      charts: [chartOf(subjects)],
      leftOut,
    };
  },
};
