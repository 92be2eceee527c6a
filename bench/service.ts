import { join } from 'node:path';
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
import { budgets } from './budgets.ts';
import { createSeries, measureSeries, type Series } from './service/load.ts';
import { onEachDatabase } from './service/seed.ts';
import { type Kind, startService } from './service/service-process.ts';

const full = { rounds: 5, warmUpMs: 500, ms: 2_000 };
const small = { rounds: 1, warmUpMs: 50, ms: 200 };

export const clientCounts = [1, 32, 256] as const;

/** With so many the limit is judged (design §6). */
const judgedClients = 32;

/** A service under the load of so many clients. */
interface Subject {
  /** Null for the service without a database. */
  readonly database: string | null;
  readonly kind: Kind;
  readonly clients: number;
  readonly series: Series;
}

async function startSubjects(
  bench: Bench,
  database: string | null,
  kind: Kind,
  databaseUrl?: string,
): Promise<readonly Subject[]> {
  const folder = join(bench.folder, `${database} ${kind}`);
  const service = await startService(bench, { kind, databaseUrl, rateLimit: 'off', folder });
  return clientCounts.map((clients) => {
    const series = createSeries({ targets: [service], ask: 'for locks', clients });
    return { database, kind, clients, series };
  });
}

/** All of the clients have one token, and ask for as much as there is. */
export const clientsText = (clients: number): string =>
  `${clients === 1 ? '1 client' : `${clients} clients`}, rate limit off`;

/** What figures are called that bench/simulate reads. */
export const takenName = (database: string, clients: number): string =>
  `${database}, ${clientsText(clients)}: locks taken, each on disk before its answer`;
export const ceilingName = (clients: number): string =>
  `without a database, ${clientsText(clients)}: answers of the same route`;

const latencies = ({ latenciesMs }: Series) => distribution(latenciesMs, [50, 90, 99, 99.9]);

function figuresOf({ database, kind, clients, series }: Subject, all: readonly Subject[]): readonly Figure[] {
  const { rates } = series;
  const details = [latencies(series)];
  const beside = (wanted: Kind): Series | undefined =>
    all.find((other) => other.kind === wanted && other.clients === clients && (other.database ?? database) === database)
      ?.series;
  if (database === null) return [medianFigure(ceilingName(clients), '/s', rates, { details })];
  const [oneCommit, ceiling] = [beside('one commit per change'), beside('without a database')];
  if (kind !== 'as installed' || oneCommit === undefined || ceiling === undefined) return [];
  const where = `${database}, ${clientsText(clients)}`;
  const isJudged = database === 'SQLite' && clients === judgedClients;
  return [
    medianFigure(takenName(database, clients), '/s', rates, { shown: 'in docs', details }),
    ratioFigure(`${where}: over one commit for each request`, rates, oneCommit.rates, {
      limit: isJudged ? atLeast(budgets.groupedCommitsRatio, 'design §6') : undefined,
      details: [rounds('/s', oneCommit.rates, 'one commit for each request'), latencies(oneCommit)],
    }),
    ratioFigure(`${where}: of what the same route does without a database`, rates, ceiling.rates),
  ];
}

export const service: Benchmark = {
  name: 'service',
  what: 'Locks that the service takes, each on disk before it is answered, beside one commit for each and beside no database.',
  async measure(bench) {
    const subjects: Subject[] = [];
    const { leftOut } = await onEachDatabase(bench, async ({ name, createUrl }) => {
      for (const kind of ['as installed', 'one commit per change'] as const) {
        subjects.push(...(await startSubjects(bench, name, kind, await createUrl())));
      }
      return [];
    });
    subjects.push(...(await startSubjects(bench, null, 'without a database')));
    await measureSeries(
      bench,
      bench.quick ? small : full,
      subjects.map(({ series }) => series),
    );
    return { figures: subjects.flatMap((subject) => figuresOf(subject, subjects)), leftOut };
  },
};
