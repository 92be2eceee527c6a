import { spawnSync } from 'node:child_process';
import { pluralize } from '../src/interface/format.ts';
import { atLeast, type Bench, type Benchmark, type Figure, medianFigure, ratioFigure } from './benchmark.ts';
import { startReceiver } from './deliveries.ts';
import { measureSeries, type Series } from './service/load.ts';
import { lockSeries, onEachDatabase } from './service/seed.ts';
import { type RunningService, type ServiceOptions, startService } from './service/service-process.ts';

const full = { rounds: 5, warmUpMs: 500, ms: 2_000 };
const small = { rounds: 1, warmUpMs: 50, ms: 200 };

const clientCounts = [1, 32, 256] as const;

/** The number of clients that limits apply to (design §6). */
const judgedClients = 32;

/** Each hook receives an event for every lock, while others are being acquired. */
const hookCount = 3;

/** As a disk without a cache that survives power cuts. Some disks of virtual machines flush in no time. */
const flushDelayMs = 2;

interface Load {
  readonly plain: Series;
  readonly oneCommit: Series;
}

/** The measurements on one database. */
interface Subject {
  readonly database: string;
  readonly loads: readonly Load[];
  /** With slow flushes, which are shared by more changes. */
  readonly slow?: Load | undefined;
  readonly hooked: Series;
}

/** All clients share one token, and send requests as fast as they can. */
const clientsText = (clients: number): string => pluralize(clients, 'client');

const taken = 'locks acquired';

function figuresOf({ database, loads, slow, hooked }: Subject): readonly Figure[] {
  const limit = (clients: number, ratio: number, reason: string) =>
    database === 'SQLite' && clients === judgedClients ? atLeast(ratio, reason) : undefined;
  const onSlowDisk = `${database}, ${clientsText(judgedClients)}, a disk that flushes in ${flushDelayMs} ms`;
  const withHooks = `${database}, ${clientsText(hooked.clients)}, ${hookCount} hooks registered`;
  const withNone = loads.find(({ plain }) => plain.clients === hooked.clients)?.plain.rates ?? [];
  return [
    ...loads.flatMap(({ plain, oneCommit }) => {
      const { clients, rates } = plain;
      const where = `${database}, ${clientsText(clients)}`;
      return [
        medianFigure(`${where}: ${taken}`, '/s', rates),
        ratioFigure(`${where}: relative to one commit per request`, rates, oneCommit.rates),
      ];
    }),
    ...(slow === undefined
      ? []
      : [
          ratioFigure(`${onSlowDisk}: relative to one commit per request`, slow.plain.rates, slow.oneCommit.rates, {
            limit: atLeast(3, 'design §6'),
            shown: true,
          }),
        ]),
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
      const startBoth = async (more: Pick<ServiceOptions, 'flushDelayMs'> = {}) => ({
        installed: await startService(bench, { place: await createPlace(), rateLimit: 'off', ...more }),
        variant: await startService(bench, { place: await createPlace(), variant: 'one commit per change', ...more }),
      });
      const loadOf = ({ installed, variant }: Awaited<ReturnType<typeof startBoth>>, clients: number): Load => ({
        plain: seriesOf(installed, clients),
        oneCommit: seriesOf(variant, clients),
      });
      const fast = await startBoth();
      const loads = clientCounts.map((clients) => loadOf(fast, clients));
      // PostgreSQL flushes in a process of its own.
      const slow =
        database === 'SQLite' && hasStrace(bench)
          ? loadOf(await startBoth({ flushDelayMs }), judgedClients)
          : undefined;
      const hooked = lockSeries(fast.installed, { name: 'with-hooks', urls, ask, clients: judgedClients });
      return [{ database, loads, slow, hooked }];
    });
    const all = subjects.flatMap(({ loads, slow, hooked }) => {
      const both = slow === undefined ? loads : [...loads, slow];
      return [...both.map(({ plain }) => plain), hooked, ...both.map(({ oneCommit }) => oneCommit)];
    });
    await measureSeries(bench, bench.quick ? small : full, all);
    return subjects.flatMap(figuresOf);
  },
};

function hasStrace({ leaveOut }: Bench): boolean {
  const has = spawnSync('strace', ['-V']).status === 0;
  if (!has) leaveOut({ name: 'a slow disk', reason: 'strace is not installed.' });
  return has;
}

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
