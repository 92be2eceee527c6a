import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Benchmark, Figure } from './benchmark.ts';
import { databasesOf } from './service/databases.ts';
import { startReceiver } from './service/receiver.ts';
import { seedDeliveries } from './service/seeded-deliveries.ts';
import { startService } from './service/services.ts';
import { medianOf } from './statistics.ts';

interface Plan {
  readonly rounds: number;
  readonly deliveries: number;
}

const full: Plan = { rounds: 3, deliveries: 2_000 };
const small: Plan = { rounds: 1, deliveries: 80 };

/** A hook is sent four at a time, and all hooks of a workspace twelve: one hook, and more than reach that. */
const hookCounts = [1, 4];

export const deliveries: Benchmark = {
  name: 'deliveries',
  what: 'Webhooks that wait, and how many of them the service delivers in a second, each with its end on disk.',
  async measure(bench) {
    const { rounds, deliveries: number } = bench.quick ? small : full;
    const { databases, leftOut } = await databasesOf(bench);
    const receiver = await startReceiver();
    bench.atEnd(receiver.stop);
    const figures: Figure[] = [];
    for (const { name, createUrl } of databases) {
      for (const hooks of hookCounts) {
        const where = `${name}, ${hooks === 1 ? 'one hook' : `${hooks} hooks`}`;
        const rates: number[] = [];
        for (let round = 1; round <= rounds; round += 1) {
          bench.progress(`${where}: round ${round} of ${rounds}`);
          const folder = join(bench.folder, `${name}-${hooks}-${round}`);
          const data = join(folder, 'data');
          const databaseUrl = await createUrl();
          await mkdir(data, { recursive: true });
          const urls = Array.from({ length: hooks }, (_, hook) => `http://127.0.0.1:${receiver.port}/hook-${hook}`);
          await seedDeliveries({ data, databaseUrl, urls, events: number / hooks });
          const received = receiver.expect(number);
          const service = await startService({ kind: 'as installed', folder, databaseUrl });
          bench.atEnd(service.stop);
          rates.push((number / (await received)) * 1_000);
          await service.stop();
        }
        figures.push({
          name: `${where}: deliveries`,
          value: medianOf(rates).median,
          unit: '/s',
          inReadme: true,
          details: [{ kind: 'rounds', name: 'rounds', unit: '/s', values: rates }],
        });
      }
    }
    return { figures, leftOut };
  },
};
