import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { counted } from '../../bench/locks/counted.ts';
import { startSmallService } from '../support/small-service.ts';

test('what a step and its post-step use is counted in both', async () => {
  const service = await startSmallService();
  onTestFinished(() => service.stop());
  const place = { baseUrl: service.baseUrl, token: 'wsa_test', workspace: 'game' };
  const paths = ['a.png', 'b.png', 'c.png'];
  const folder = await mkdtemp(join(tmpdir(), 'bench-counted-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const bench = { folder, signal: new AbortController().signal };
  const { requests, connections, peakBytes } = await counted(place, paths, bench);
  expect(service.requests.filter((request) => request.startsWith('POST'))).toHaveLength(3);
  expect(service.requests.filter((request) => request.startsWith('DELETE'))).toHaveLength(3);
  expect(requests).toBe(service.requests.length);
  expect(connections).toBeGreaterThanOrEqual(2);
  expect(connections).toBeLessThanOrEqual(requests);
  // A Node that does anything has more than ten megabytes, and none of this needs a gigabyte.
  expect(peakBytes).toBeGreaterThan(10 * 2 ** 20);
  expect(peakBytes).toBeLessThan(2 ** 30);
});
