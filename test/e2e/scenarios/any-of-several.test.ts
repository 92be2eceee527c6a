import { expect, test, vi } from 'vitest';
import { once } from '../../support/fault-proxy.ts';
import { checkOut, lockedIn } from '../scene.ts';
import { locking, openWithProxy, useService } from './stage.ts';

useService();

const takingAny = (any: number, paths: readonly string[], inputs: Readonly<Record<string, string>> = {}) =>
  locking(paths, { any: String(any), ...inputs });

test('two of three paths exclude those that the job already holds, and the job does not wait for its own locks', async () => {
  const { stage, proxy, job } = await openWithProxy();
  await job.run({ ...locking('b'), id: 'take-b' });
  expect(lockedIn(await job.run(takingAny(2, ['a', 'b', 'c'])))).toEqual(['a', 'c']);
  const result = await job.run(takingAny(2, ['b', 'd'], { wait: '10m' }));
  expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'held', waited_seconds: '0' } });
  expect(result.annotations[0]?.message).toMatch(/^This job already holds b\. Name other paths, or release/);
  // The lock named first is looked up last.
  const before = proxy.passed.length;
  const isAnswered = () => proxy.passed.slice(before).some(({ answeredAt }) => answeredAt !== undefined);
  proxy.meet(once(() => true, { kind: 'held-back', until: vi.waitUntil(isAnswered, 30_000) }));
  const fewer = await job.run(takingAny(2, ['a', 'b', 'd'], { wait: '10m' }));
  expect(fewer.annotations[0]?.message).toMatch(/^This job already holds a, b\. Name other paths, or release/);
  await job.post();
  expect(await stage.locks()).toEqual([]);
});

test('`any` must not exceed the number of paths that the patterns stand for, and no request is sent', async () => {
  const { proxy, job } = await openWithProxy();
  await checkOut(job, 'Maps/Arena.umap', 'Maps/Cave.umap');
  const result = await job.run({ with: { operation: 'lock', path: 'Maps/*.umap\nMaps/Cave.*', any: '3' } });
  expect(result).toMatchObject({ conclusion: 'failure', outputs: {} });
  expect(result.annotations.map(({ message }) => message)).toEqual([
    'Input `any` is 3, but `path` names only 2 paths: Maps/Arena.umap, Maps/Cave.umap. Add paths, or lower `any`.',
  ]);
  expect(proxy.passed).toEqual([]);
});
