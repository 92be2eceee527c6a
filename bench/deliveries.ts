import { type Benchmark, inTurns, medianFigure } from './benchmark.ts';
import { startReceiver } from './service/receiver.ts';
import { onEachDatabase, seedDeliveries } from './service/seed.ts';
import { startService } from './service/service-process.ts';

const full = { rounds: 3, count: 2_000 };
const small = { rounds: 1, count: 80 };

/** A hook is sent four at a time, and all hooks of a workspace twelve: one hook, and more than reach that. */
const hookCounts = [1, 4];

export const deliveries: Benchmark = {
  name: 'deliveries',
  what: 'Webhooks that wait, and how many of them the service delivers in a second, each with its end on disk.',
  async measure(bench) {
    const { rounds, count } = bench.quick ? small : full;
    const receiver = await startReceiver(bench);
    return onEachDatabase(bench, async ({ name, createPlace }) => {
      bench.progress(name);
      const cases = hookCounts.map((hooks) => ({ hooks, rates: [] as number[] }));
      await inTurns(bench, rounds, cases, async ({ hooks, rates }) => {
        const place = await createPlace();
        await seedDeliveries(place, receiver.urls(hooks), count / hooks);
        const received = receiver.expect(count);
        const service = await startService(bench, place);
        rates.push((count / (await received)) * 1_000);
        await service.stop();
      });
      return cases.map(({ hooks, rates }) => {
        const what = `${name}, ${hooks === 1 ? 'one hook' : `${hooks} hooks`}: deliveries`;
        return medianFigure(what, '/s', rates, { shown: 'in docs' });
      });
    });
  },
};
