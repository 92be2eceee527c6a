import { startWebhookReceiver, type WebhookReceiver } from '../test/support/webhook-receiver.ts';
import { type Bench, type Benchmark, inTurns, medianFigure } from './benchmark.ts';
import { onEachDatabase, seedDeliveries } from './service/seed.ts';
import { startService } from './service/service-process.ts';

const full = { rounds: 3, count: 2_000 };
const small = { rounds: 1, count: 80 };

/** A hook is sent four at a time, and all hooks of a workspace twelve: one hook, and more than reach that. */
const hookCounts = [1, 4];

/** Takes every webhook. */
export async function startReceiver({ atEnd }: Bench) {
  const receiver = await startWebhookReceiver();
  atEnd(receiver.close);
  /** So many different addresses of it. */
  const urls = (count: number) => Array.from({ length: count }, (_, hook) => receiver.url(`/hook-${hook}`));
  return { ...receiver, urls };
}

/** From the first to the last of so many. */
async function receive({ nextDelivery }: WebhookReceiver, count: number): Promise<number> {
  await nextDelivery();
  const firstAt = performance.now();
  for (let number = 1; number < count; number += 1) await nextDelivery();
  return performance.now() - firstAt;
}

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
        const received = receive(receiver, count);
        const service = await startService(bench, { place });
        rates.push((count / (await received)) * 1_000);
        await service.stop();
      });
      return cases.map(({ hooks, rates }) => {
        const what = `${name}, ${hooks === 1 ? 'one hook' : `${hooks} hooks`}: deliveries`;
        return medianFigure(what, '/s', rates, { shown: true });
      });
    });
  },
};
