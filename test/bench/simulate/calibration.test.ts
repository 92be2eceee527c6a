import { expect, test } from 'vitest';
import { calibrate, clientCounts, kinds, type Measurements, predict } from '../../../bench/simulate/calibration.ts';
import { someTimes } from './some-service.ts';

const nothing: Measurements = {
  loads: kinds.flatMap((kind) => clientCounts.map((clients) => ({ kind, clients, perSecond: 1, p50Ms: 1, p99Ms: 1 }))),
  page: { ms: 1, locks: 1, bytes: 1 },
};

test('a model that is made of what a service does with few and many clients predicts what it does with some', async () => {
  const truth = (await predict(someTimes, nothing)).map(({ kind, clients, predicted }) => ({
    kind,
    clients,
    ...predicted,
    p99Ms: 3 * predicted.p50Ms,
  }));
  const page = { ms: 10, locks: 1_000, bytes: 240_000 };
  const measured: Measurements = { loads: truth, page };
  const times = calibrate(measured);
  for (const { kind, clients, predicted, ...real } of await predict(times, measured)) {
    const what = `${kind}, ${clients} clients`;
    expect(predicted.perSecond / real.perSecond, what).toBeGreaterThan(0.75);
    expect(predicted.perSecond / real.perSecond, what).toBeLessThan(1.35);
    expect(predicted.p50Ms / real.p50Ms, what).toBeLessThan(1.5);
  }
  expect(times.requestMs).toBeCloseTo(someTimes.requestMs, 1);
  expect(times.flush.medianMs).toBeCloseTo(someTimes.flush.medianMs, 0);
  expect(times.listedBytes).toBe(240);
});
