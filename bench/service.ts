import {
  atLeast,
  type Bench,
  type Benchmark,
  distribution,
  type Figure,
  medianFigure,
  ratioFigure,
  rounds,
} from './benchmark.ts';
import { createSeries, measureSeries, type Series } from './service/load.ts';
import { startReceiver } from './service/receiver.ts';
import type { Target } from './service/request.ts';
import { addWorkspaces, type BenchDatabase, newPlace, onEachDatabase, removeHooks } from './service/seed.ts';
import { type Kind, kinds, startService } from './service/service-process.ts';

const full = { rounds: 5, warmUpMs: 500, ms: 2_000 };
const small = { rounds: 1, warmUpMs: 50, ms: 200 };

export const clientCounts = [1, 32, 256] as const;

/** With so many the limit is judged (design §6). */
const judgedClients = 32;

/** Each is told of every lock while more are taken. */
const hookCount = 3;

/** A service under the load of so many clients. */
interface Subject {
  /** Null for the service without a database. */
  readonly database: string | null;
  readonly kind: Kind;
  readonly hooks: number;
  readonly series: Series;
}

async function startSubjects(
  bench: Bench,
  { name, createPlace }: BenchDatabase,
  kind: Kind,
  hookUrls: readonly string[],
) {
  const service = await startService(bench, await createPlace(), { kind, rateLimit: 'off' });

  function subject(clients: number, urls: readonly string[] = []): Subject {
    // A workspace of its own in every round: in one for all of them, an owner would have as many locks as one may have.
    const workspaceOf = (round: number): string => `${clients}-clients-${urls.length}-hooks-${round}`;
    async function targets(round: number): Promise<readonly Target[]> {
      const workspace = workspaceOf(round);
      await addWorkspaces(service, [workspace], { urls });
      return [{ ...service, workspace }];
    }
    // What still waits for the hooks would be delivered while others are measured.
    const afterRound = (round: number): Promise<void> => removeHooks(service, workspaceOf(round));
    return {
      ...{ database: name, kind, hooks: urls.length },
      series: createSeries({ ask: 'for locks', clients, targets, afterRound }),
    };
  }

  const all = clientCounts.map((clients) => subject(clients));
  return kind === 'as installed' ? [...all, subject(judgedClients, hookUrls)] : all;
}

async function startWithoutDatabase(bench: Bench): Promise<readonly Subject[]> {
  const kind = 'without a database';
  const service = await startService(bench, await newPlace(bench), { kind });
  return clientCounts.map((clients) => {
    const series = createSeries({ ask: 'for locks', clients, targets: () => [service] });
    return { database: null, kind, hooks: 0, series };
  });
}

/** All of the clients have one token, and ask for as much as there is. */
export const clientsText = (clients: number): string =>
  `${clients === 1 ? '1 client' : `${clients} clients`}, rate limit off`;

const taken = 'locks taken, each on disk before its answer';
/** What figures are called that bench/simulate reads. */
export const takenName = (database: string, clients: number): string =>
  `${database}, ${clientsText(clients)}: ${taken}`;
export const ceilingName = (clients: number): string =>
  `without a database, ${clientsText(clients)}: answers of the same route`;

const latencies = ({ latenciesMs }: Series) => distribution(latenciesMs, [50, 90, 99, 99.9]);

function figuresOf({ database, kind, hooks, series }: Subject, all: readonly Subject[]): readonly Figure[] {
  const { rates, clients } = series;
  const details = [latencies(series)];
  if (database === null) return [medianFigure(ceilingName(clients), '/s', rates, { details })];
  const beside = (wanted: Kind): Series | undefined =>
    all.find(
      (other) =>
        other.kind === wanted &&
        other.series.clients === clients &&
        other.hooks === 0 &&
        (other.database ?? database) === database,
    )?.series;
  const [plain, oneCommit, ceiling] = kinds.map(beside);
  if (kind !== 'as installed' || plain === undefined || oneCommit === undefined || ceiling === undefined) return [];
  const where = `${database}, ${clientsText(clients)}`;
  const limit = (ratio: number, why: string) =>
    database === 'SQLite' && clients === judgedClients ? atLeast(ratio, why) : undefined;
  if (hooks > 0) {
    return [
      medianFigure(`${where}, ${hooks} hooks registered: ${taken}`, '/s', rates, { shown: 'in docs', details }),
      ratioFigure(`${where}, ${hooks} hooks registered: over none`, rates, plain.rates, {
        limit: limit(0.2, 'their events are part of each change, and their deliveries run beside it'),
      }),
    ];
  }
  return [
    medianFigure(takenName(database, clients), '/s', rates, { shown: 'in docs', details }),
    ratioFigure(`${where}: over one commit for each request`, rates, oneCommit.rates, {
      limit: limit(3, 'design §6'),
      details: [rounds('/s', oneCommit.rates, 'one commit for each request'), latencies(oneCommit)],
    }),
    ratioFigure(`${where}: of what the same route does without a database`, rates, ceiling.rates),
  ];
}

export const service: Benchmark = {
  name: 'service',
  what: 'Locks that the service takes, each on disk before it is answered, beside one commit for each and beside no database.',
  async measure(bench) {
    const urls = (await startReceiver(bench)).urls(hookCount);
    const subjects: Subject[] = [];
    await onEachDatabase(bench, async (database) => {
      for (const kind of ['as installed', 'one commit per change'] as const) {
        subjects.push(...(await startSubjects(bench, database, kind, urls)));
      }
      return [];
    });
    subjects.push(...(await startWithoutDatabase(bench)));
    const series = subjects.map(({ series }) => series);
    await measureSeries(bench, bench.quick ? small : full, series);
    return subjects.flatMap((subject) => figuresOf(subject, subjects));
  },
};
