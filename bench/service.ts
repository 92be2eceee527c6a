import { join } from 'node:path';
import {
  atLeast,
  type Bench,
  type Benchmark,
  distribution,
  type Figure,
  inTurns,
  medianFigure,
  ratioFigure,
  rounds,
} from './benchmark.ts';
import { budgets } from './budgets.ts';
import { startLoadGenerator } from './service/load.ts';
import { onEachDatabase } from './service/seed.ts';
import { type Kind, type RunningService, startService } from './service/service-process.ts';

interface Plan {
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly ms: number;
}

const full: Plan = { rounds: 5, warmUpMs: 500, ms: 2_000 };
const small: Plan = { rounds: 1, warmUpMs: 50, ms: 200 };

const clientCounts = [1, 32, 256];

/** With so many the limit is judged (design §6). */
const judgedClients = 32;

/** A service, and what it did with so many clients. */
interface Subject {
  /** Null for the service without a database. */
  readonly database: string | null;
  readonly kind: Kind;
  readonly service: RunningService;
  readonly clients: number;
  /** Locks a second, one for each round. */
  readonly rates: number[];
  readonly latenciesMs: number[];
}

async function startSubjects(
  bench: Bench,
  database: string | null,
  kind: Kind,
  databaseUrl?: string,
): Promise<readonly Subject[]> {
  const folder = join(bench.folder, `${database} ${kind}`);
  const service = await startService({ kind, databaseUrl, rateLimit: 'off', folder });
  bench.atEnd(service.stop);
  return clientCounts.map((clients) => ({ database, kind, service, clients, rates: [], latenciesMs: [] }));
}

/** All of the clients have one token, and ask for as much as there is. */
const clientsText = (clients: number): string => `${clients === 1 ? '1 client' : `${clients} clients`}, rate limit off`;

/** What figures are called that bench/simulate reads. */
export const takenName = (database: string, clients: number): string =>
  `${database}, ${clientsText(clients)}: locks taken, each on disk before its answer`;
export const ceilingName = (clients: number): string =>
  `without a database, ${clientsText(clients)}: answers of the same route`;

const latencies = ({ latenciesMs }: Subject) => distribution(latenciesMs, [50, 90, 99, 99.9]);

function figuresOf(subject: Subject, all: readonly Subject[]): readonly Figure[] {
  const { database, kind, clients, rates } = subject;
  const beside = (wanted: Kind) =>
    all.find(
      (other) => other.kind === wanted && other.clients === clients && (other.database ?? database) === database,
    );
  if (database === null) return [medianFigure(ceilingName(clients), '/s', rates, { details: [latencies(subject)] })];
  const [oneCommit, ceiling] = [beside('one commit per change'), beside('without a database')];
  if (kind !== 'as installed' || oneCommit === undefined || ceiling === undefined) return [];
  const where = `${database}, ${clientsText(clients)}`;
  const isJudged = database === 'SQLite' && clients === judgedClients;
  return [
    medianFigure(takenName(database, clients), '/s', rates, { shown: 'in docs', details: [latencies(subject)] }),
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
    const { rounds, warmUpMs, ms } = bench.quick ? small : full;
    const subjects: Subject[] = [];
    const { leftOut } = await onEachDatabase(bench, async ({ name, createUrl }) => {
      for (const kind of ['as installed', 'one commit per change'] as const) {
        subjects.push(...(await startSubjects(bench, name, kind, await createUrl())));
      }
      return [];
    });
    subjects.push(...(await startSubjects(bench, null, 'without a database')));
    const generator = startLoadGenerator();
    bench.atEnd(generator.stop);
    await inTurns(bench, rounds, subjects, async ({ service, clients, rates, latenciesMs }, round) => {
      const load = await generator.ask({
        targets: [service],
        token: service.token,
        ask: 'for locks',
        name: `${round}-${clients}`,
        clients,
        warmUpMs,
        end: { kind: 'after', ms },
      });
      rates.push(load.rate);
      for (const latency of load.latenciesMs) latenciesMs.push(latency);
    });
    return { figures: subjects.flatMap((subject) => figuresOf(subject, subjects)), leftOut };
  },
};
