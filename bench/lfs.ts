import { atLeast, type Benchmark, distribution, medianFigure, ratioFigure } from './benchmark.ts';
import { measureSeries, type Series } from './service/load.ts';
import { lockSeries, onEachDatabase } from './service/seed.ts';
import { startService } from './service/service-process.ts';

const full = { rounds: 7, warmUpMs: 500, ms: 2_000 };
const small = { rounds: 1, warmUpMs: 50, ms: 200 };

const clients = 32;

const latencies = ({ latenciesMs }: Series) => distribution(latenciesMs, [50, 90, 99]);

export const lfs: Benchmark = {
  name: 'lfs',
  what: 'Locks that the service takes over Git LFS, each on disk before it is answered, beside those of its own API.',
  async measure(bench) {
    const pairs: { readonly database: string; readonly own: Series; readonly overLfs: Series }[] = [];
    await onEachDatabase(bench, async ({ name: database, createPlace }) => {
      const service = await startService(bench, { place: await createPlace(), rateLimit: 'off' });
      const own = lockSeries(service, { name: 'own', ask: 'for locks', clients });
      const overLfs = lockSeries(service, { name: 'lfs', ask: 'for locks over Git LFS', clients });
      pairs.push({ database, own, overLfs });
      return [];
    });
    const all = pairs.flatMap(({ own, overLfs }) => [own, overLfs]);
    await measureSeries(bench, bench.quick ? small : full, all);
    return pairs.flatMap(({ database, own, overLfs }) => {
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
    });
  },
};
