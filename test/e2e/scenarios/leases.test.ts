import { expect, test } from 'vitest';
import { once, type Passed, pathByPath } from '../../support/fault-proxy.ts';
import { locking, manyPaths, unlocking } from './place.ts';
import { openStage, useService } from './stage.ts';

useService();

const checking = (inputs: Readonly<Record<string, string>> = {}) => ({ with: { operation: 'check', ...inputs } });

const routesOf = (passed: readonly Passed[]): readonly string[] =>
  passed.map(
    ({ method, url }) =>
      `${method} ${url.replace(/^.*\/(leases|locks)\b/, '$1').replace(/leases\/[^/]+/, 'leases/:lease')}`,
  );

test('a step takes several paths, proves them and releases them with one request each', async () => {
  const stage = await openStage();
  const proxy = await stage.proxy();
  const job = await stage.job();
  const paths = manyPaths(300);
  await expect(job.run(locking(paths))).resolves.toMatchObject({ outputs: { status: 'acquired', count: '300' } });
  await expect(job.run(checking())).resolves.toMatchObject({ outputs: { status: 'kept', count: '300' } });
  await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success' }, { conclusion: 'success' }]);
  expect(routesOf(proxy.passed)).toEqual(['PUT leases/:lease', 'GET leases/:lease', 'DELETE leases/:lease']);
  expect(await stage.locks()).toEqual([]);
});

test('a check names the new holder of a lock that a lease has lost', async () => {
  const stage = await openStage();
  const job = await stage.job();
  await job.run(locking(['a', 'b', 'c']));
  await stage.release('b');
  await stage.release('c');
  await stage.takenByGrace('b');
  const check = await job.run(checking());
  expect(check).toMatchObject({ conclusion: 'failure', outputs: { status: 'lost', count: '1' } });
  const told = check.annotations.map(({ message }) => message).join('\n');
  expect(told).toMatch(/This job lost its lock on b\..* b is held by grace/);
  expect(told).toMatch(/This job lost its lock on c\..* Nobody holds the path now\./);
});

test('another job releases some locks of a lease that was handed on, and the rest stays', async () => {
  const stage = await openStage();
  const first = await stage.job();
  const { outputs } = await first.run(locking(['a', 'b', 'c'], { 'auto-release': 'false' }));
  await first.post();
  const locks = JSON.parse(outputs['locks'] ?? '');
  expect(new Set(locks.map(({ lease }: { readonly lease: string }) => lease)).size).toBe(1);
  const second = await stage.job({ run: { runId: '2' } });
  const unlocked = await second.run(unlocking({ locks: JSON.stringify(locks.slice(0, 2)) }));
  expect(unlocked).toMatchObject({ conclusion: 'success', outputs: { released: '["a","b"]' } });
  expect((await stage.locks()).map(({ path }) => path)).toEqual(['c']);
  await expect(second.run(checking({ locks: JSON.stringify(locks) }))).resolves.toMatchObject({
    outputs: { status: 'lost', count: '1' },
  });
});

test('the post-step ends a lease that was granted behind a gateway that answered 404 for it', async () => {
  const stage = await openStage();
  const proxy = await stage.proxy();
  const page = { status: 404, headers: { 'content-type': 'text/html' }, body: '<h1>Not Found</h1>' };
  proxy.meet(once(({ method }) => method === 'PUT', { kind: 'done-then-answer', ...page }));
  const job = await stage.job();
  await job.run(locking(['a', 'b']));
  await job.post();
  expect(await stage.locks()).toEqual([]);
});

test('a service that knows only the interface gets one request beyond it in a job', async () => {
  const stage = await openStage();
  const proxy = await stage.proxy(pathByPath);
  const job = await stage.job();
  await expect(job.run(locking(['a', 'b']))).resolves.toMatchObject({ outputs: { count: '2' } });
  await expect(job.run(locking(['c', 'd']))).resolves.toMatchObject({ outputs: { count: '2' } });
  await job.post();
  expect(routesOf(proxy.passed).filter((route) => route.includes('leases'))).toEqual(['PUT leases/:lease']);
  expect(await stage.locks()).toEqual([]);
});
