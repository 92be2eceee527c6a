import { atLeast, type Benchmark, distribution, type Figure, medianFigure, ratioFigure } from './benchmark.ts';
import { createSeries, measureSeries, type Series } from './service/load.ts';
import { addWorkspaces, onEachDatabase } from './service/seed.ts';
import { startService } from './service/service-process.ts';

const full = { rounds: 7, warmUpMs: 500, ms: 2_000 };
const small = { rounds: 1, warmUpMs: 50, ms: 200 };

const clients = 32;

interface Pair {
  readonly database: string;
  /** Both ask the same service for locks. */
  readonly own: Series;
  readonly overLfs: Series;
}

const latencies = ({ latenciesMs }: Series) => distribution(latenciesMs, [50, 90, 99]);

const figuresOf = ({ database, own, overLfs }: Pair): readonly Figure[] => {
  const where = `${database}, ${clients} clients, rate limit off`;
  const taken = `${where}: locks taken over Git LFS`;
  return [
    medianFigure(taken, '/s', overLfs.rates, { details: [latencies(overLfs)] }),
    medianFigure(`${where}: locks taken as the API has it`, '/s', own.rates, { details: [latencies(own)] }),
    ratioFigure(`${taken}, over those as the API has it`, overLfs.rates, own.rates, {
      limit: atLeast(0.9, 'design §6'),
      shown: 'in docs',
    }),
  ];
};

export const lfs: Benchmark = {
  name: 'lfs',
  what: 'Locks that the service takes over Git LFS, each on disk before it is answered, beside those of its own API.',
  async measure(bench) {
    const pairs: Pair[] = [];
    await onEachDatabase(bench, async ({ name: database, createPlace }) => {
      const service = await startService(bench, await createPlace(), { rateLimit: 'off' });
      const seriesOf = (ask: Series['ask'], name: string): Series =>
        createSeries({
          ask,
          clients,
          // One of its own in every round: in one for all of them, an owner would have as many locks as one may have.
          async targets(round) {
            const workspace = `${name}-${round}`;
            await addWorkspaces(service, [workspace]);
            return [{ ...service, workspace }];
          },
        });
      pairs.push({ database, own: seriesOf('for locks', 'own'), overLfs: seriesOf('for locks over Git LFS', 'lfs') });
      return [];
    });
    const all = pairs.flatMap(({ own, overLfs }) => [own, overLfs]);
    await measureSeries(bench, bench.quick ? small : full, all);
    return pairs.flatMap(figuresOf);
  },
};
