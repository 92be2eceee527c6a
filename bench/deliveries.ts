import { join } from 'node:path';
import { type Benchmark, type Figure, medianFigure } from './benchmark.ts';
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
    return onEachDatabase(bench, async ({ name, createUrl }) => {
      const figures: Figure[] = [];
      for (const hooks of hookCounts) {
        const where = `${name}, ${hooks === 1 ? 'one hook' : `${hooks} hooks`}`;
        const rates: number[] = [];
        for (let round = 1; round <= rounds; round += 1) {
          bench.progress(`${where}: round ${round} of ${rounds}`);
          const folder = join(bench.folder, `${name}-${hooks}-${round}`);
          const databaseUrl = await createUrl();
          await seedDeliveries({ data: join(folder, 'data'), databaseUrl }, receiver.urls(hooks), count / hooks);
          const received = receiver.expect(count);
          const service = await startService(bench, { folder, databaseUrl });
          rates.push((count / (await received)) * 1_000);
          await service.stop();
        }
        figures.push(medianFigure(`${where}: deliveries`, '/s', rates, { shown: 'in docs' }));
      }
      return figures;
    });
  },
};
