import { startWebhookReceiver, type WebhookReceiver } from '../test/support/webhook-receiver.ts';
import { type Bench, type Benchmark, inTurns, medianFigure } from './benchmark.ts';
import { onEachDatabase, seedDeliveries } from './service/seed.ts';
import { startService } from './service/service-process.ts';

const full = { rounds: 3, count: 2_000 };
const small = { rounds: 1, count: 80 };

/** The service sends up to 4 deliveries at a time per hook. */
const hookCounts = [1, 4];

/** Starts a receiver that accepts every delivery. */
export async function startReceiver({ atEnd }: Bench) {
  const receiver = await startWebhookReceiver();
  atEnd(receiver.close);
  /** As many different URLs of the receiver. */
  const urls = (count: number) => Array.from({ length: count }, (_, hook) => receiver.url(`/hook-${hook}`));
  return { ...receiver, urls };
}

/** Measures the time from the first delivery to the last. */
async function receive({ nextDelivery }: WebhookReceiver, count: number): Promise<number> {
  await nextDelivery();
  const firstAt = performance.now();
  for (let number = 1; number < count; number += 1) await nextDelivery();
  return performance.now() - firstAt;
}

export const deliveries: Benchmark = {
  name: 'deliveries',
  what: 'Queued webhook deliveries that the service completes per second, each with its result on disk.',
  async measure(bench) {
    const { rounds, count } = bench.quick ? small : full;
    const receiver = await startReceiver(bench);
    return onEachDatabase(bench, async ({ name, createPlace }) => {
      bench.progress(name);
      const cases = hookCounts.map((hooks) => ({ hooks, rates: [] as number[] }));
      await inTurns(bench, rounds, cases, async ({ hooks, rates }) => {
        const place = await createPlace();
        await seedDeliveries(place, receiver.urls(hooks), count / hooks);
        const received = receive(receiver, count);
        const service = await startService(bench, { place });
        rates.push((count / (await received)) * 1_000);
        await service.stop();
      });
      return cases.map(({ hooks, rates }) => {
        const what = `${name}, ${hooks === 1 ? 'one hook' : `${hooks} hooks`}: deliveries`;
        return medianFigure(what, '/s', rates);
      });
    });
  },
};
