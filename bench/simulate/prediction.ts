import { createRandom } from './chance.ts';
import { createDistribution } from './distribution.ts';
import { type Asked, createService } from './service.ts';
import { clientCounts, type Kind, kinds, loadOf, type Measurements, type ServiceTimes } from './service-times.ts';
import { createVirtualTime } from './virtual-time.ts';

/** The simulated service under the loads that the real one was measured with. */

export interface Prediction {
  readonly kind: Kind;
  readonly clients: number;
  readonly predicted: { readonly perSecond: number; readonly p50Ms: number };
  readonly measured: { readonly perSecond: number; readonly p50Ms: number };
}

const seconds = 5;

function askedFor(kind: Kind, number: number): Asked {
  switch (kind) {
    case 'nothing':
      return { kind: 'page', locks: 0 };
    case 'poll':
      return { kind: 'take', path: 'held', key: String(number), ttlMs: 3_600_000 };
    case 'take':
      return { kind: 'take', path: String(number), key: String(number), ttlMs: 3_600_000 };
  }
}

async function underLoad(times: ServiceTimes, kind: Kind, clients: number) {
  const time = createVirtualTime(0);
  // The real one was measured with it off, too.
  const service = createService({ time, times, random: createRandom(1), instances: 1, rateLimit: null });
  const latencies = createDistribution();
  let asked = 0;
  function ask(): void {
    asked += 1;
    const at = time.now();
    service.send(askedFor(kind, asked), 'token', () => {
      latencies.add(time.now() - at);
      ask();
    });
  }
  if (kind === 'poll') service.send(askedFor('poll', 0), 'token', () => undefined);
  for (let client = 0; client < clients; client += 1) ask();
  await time.runUntil(seconds * 1_000);
  return { perSecond: latencies.count() / seconds, p50Ms: latencies.percentile(50) };
}

export async function predict(times: ServiceTimes, measured: Measurements): Promise<readonly Prediction[]> {
  const predictions: Prediction[] = [];
  for (const kind of kinds) {
    for (const clients of clientCounts) {
      const predicted = await underLoad(times, kind, clients);
      predictions.push({ kind, clients, predicted, measured: loadOf(measured, kind, clients) });
    }
  }
  return predictions;
}
