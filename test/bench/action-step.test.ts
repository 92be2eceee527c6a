import { expect, onTestFinished, test } from 'vitest';
import { runStep } from '../../bench/action-step.ts';
import { startSmallService } from '../support/small-service.ts';

test('runStep counts the requests, connections and memory of both the step and its post-step', async () => {
  const service = await startSmallService();
  onTestFinished(service.close);
  const inputs = {
    operation: 'lock',
    'base-url': service.baseUrl,
    token: 'wsa_test',
    workspace: 'game',
    path: 'a.png\nb.png\nc.png',
  };
  const ends = { atEnd: (end: () => unknown) => onTestFinished(() => void end()) };
  const { requests, connections, peakBytes } = await runStep(inputs, ends, { isCounted: true });
  expect(service.requests.filter(({ method }) => method === 'POST')).toHaveLength(3);
  expect(service.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(3);
  expect(requests).toBe(service.requests.length);
  expect(connections).toBeGreaterThanOrEqual(2);
  expect(connections).toBeLessThanOrEqual(requests);
  // Any Node process uses more than ten megabytes, and this one less than a gigabyte.
  expect(peakBytes).toBeGreaterThan(10 * 2 ** 20);
  expect(peakBytes).toBeLessThan(2 ** 30);
});
