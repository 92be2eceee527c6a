import { pluralize } from '../src/interface/format.ts';
import { atLeast, type Benchmark, type Figure, medianFigure, ratioFigure } from './benchmark.ts';
import { startReceiver } from './deliveries.ts';
import { measureSeries, type Series } from './service/load.ts';
import { lockSeries, onEachDatabase } from './service/seed.ts';
import { type RunningService, startService } from './service/service-process.ts';

const full = { rounds: 5, warmUpMs: 500, ms: 2_000 };
const small = { rounds: 1, warmUpMs: 50, ms: 200 };

const clientCounts = [1, 32, 256] as const;

/** The number of clients that limits apply to (design §6). */
const judgedClients = 32;

/** Each hook receives an event for every lock, while others are being acquired. */
const hookCount = 3;

/** The measurements on one database. */
interface Subject {
  readonly database: string;
  readonly loads: readonly {
    readonly plain: Series;
    readonly oneCommit: Series;
  }[];
  readonly hooked: Series;
}

/** All clients share one token, and send requests as fast as they can. */
const clientsText = (clients: number): string => pluralize(clients, 'client');

const taken = 'locks acquired';

function figuresOf({ database, loads, hooked }: Subject): readonly Figure[] {
  const limit = (clients: number, ratio: number, reason: string) =>
    database === 'SQLite' && clients === judgedClients ? atLeast(ratio, reason) : undefined;
  const withHooks = `${database}, ${clientsText(hooked.clients)}, ${hookCount} hooks registered`;
  const withNone = loads.find(({ plain }) => plain.clients === hooked.clients)?.plain.rates ?? [];
  return [
    ...loads.flatMap(({ plain, oneCommit }) => {
      const { clients, rates } = plain;
      const where = `${database}, ${clientsText(clients)}`;
      return [
        medianFigure(`${where}: ${taken}`, '/s', rates),
        ratioFigure(`${where}: relative to one commit per request`, rates, oneCommit.rates, {
          limit: limit(clients, 3, 'design §6'),
        }),
      ];
    }),
    medianFigure(`${withHooks}: ${taken}`, '/s', hooked.rates),
    ratioFigure(`${withHooks}: relative to no hooks`, hooked.rates, withNone, {
      limit: limit(hooked.clients, 0.2, 'events are part of each change, and deliveries run alongside'),
    }),
  ];
}

export const service: Benchmark = {
  name: 'service',
  what: 'Locks acquired per second, each on disk before its response, compared with one commit per request.',
  async measure(bench) {
    const urls = (await startReceiver(bench)).urls(hookCount);
    const ask = 'for locks';
    const seriesOf = (service: RunningService, clients: number): Series =>
      lockSeries(service, { name: `${clients}-clients`, ask, clients });
    const subjects = await onEachDatabase(bench, async ({ name: database, createPlace }) => {
      const installed = await startService(bench, { place: await createPlace(), rateLimit: 'off' });
      const variant = await startService(bench, { place: await createPlace(), variant: 'one commit per change' });
      const loads = clientCounts.map((clients) => ({
        plain: seriesOf(installed, clients),
        oneCommit: seriesOf(variant, clients),
      }));
      const hooked = lockSeries(installed, { name: 'with-hooks', urls, ask, clients: judgedClients });
      return [{ database, loads, hooked }];
    });
    const all = subjects.flatMap(({ loads, hooked }) => [
      ...loads.map(({ plain }) => plain),
      hooked,
      ...loads.map(({ oneCommit }) => oneCommit),
    ]);
    await measureSeries(bench, bench.quick ? small : full, all);
    return subjects.flatMap(figuresOf);
  },
};

interface LfsPair {
  readonly database: string;
  /** Both series acquire locks from the same service. */
  readonly own: Series;
  readonly overLfs: Series;
}

function lfsFigures({ database, own, overLfs }: LfsPair): readonly Figure[] {
  const where = `${database}, ${clientsText(judgedClients)}`;
  const taken = `${where}: locks acquired over Git LFS`;
  return [
    medianFigure(taken, '/s', overLfs.rates),
    medianFigure(`${where}: locks acquired over the API`, '/s', own.rates),
    ratioFigure(`${taken}, relative to the API`, overLfs.rates, own.rates, {
      limit: atLeast(0.9, 'design §6'),
    }),
  ];
}

export const lfs: Benchmark = {
  name: 'lfs',
  what: 'Locks acquired per second over Git LFS, each on disk before its response, compared with the API.',
  async measure(bench) {
    const pairs = await onEachDatabase(bench, async ({ name: database, createPlace }) => {
      const service = await startService(bench, { place: await createPlace(), rateLimit: 'off' });
      const seriesOf = (name: string, ask: Series['ask']): Series =>
        lockSeries(service, { name, ask, clients: judgedClients });
      return [{ database, own: seriesOf('own', 'for locks'), overLfs: seriesOf('lfs', 'for locks over Git LFS') }];
    });
    const all = pairs.flatMap(({ own, overLfs }) => [own, overLfs]);
    await measureSeries(bench, bench.quick ? small : { ...full, rounds: 7 }, all);
    return pairs.flatMap(lfsFigures);
  },
};
