import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  type Fault,
  isLocking,
  isReleasing,
  once,
  type Passed,
  type Passing,
  pathByPath,
} from '../../support/fault-proxy.ts';
import { ledgerOf } from './ledger.ts';
import { hero, locking, manyPaths, openStage, openWithProxy, unlocking, useService } from './stage.ts';

useService();

const isListing = ({ method }: Passing): boolean => method === 'GET';

const checking = (inputs: Readonly<Record<string, string>> = {}) => ({ with: { operation: 'check', ...inputs } });

const routesOf = (passed: readonly Passed[]): readonly string[] =>
  passed.map(
    ({ method, url }) =>
      `${method} ${url.replace(/^.*\/(leases|locks)\b/, '$1').replace(/leases\/[^/]+/, 'leases/:lease')}`,
  );

test('a step takes several paths, proves them and releases them with one request each', async () => {
  const { stage, proxy, job } = await openWithProxy();
  const paths = manyPaths(300);
  await expect(job.run(locking(paths))).resolves.toMatchObject({ outputs: { status: 'acquired', count: '300' } });
  await expect(job.run(checking())).resolves.toMatchObject({ outputs: { status: 'kept', count: '300' } });
  await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success' }, { conclusion: 'success' }]);
  expect(routesOf(proxy.passed)).toEqual(['PUT leases/:lease', 'GET leases/:lease', 'DELETE leases/:lease']);
  expect(await stage.locks()).toEqual([]);
});

test('a job checks and releases paths in any script, and its other steps cannot lock them', async () => {
  const { stage, job } = await openWithProxy();
  await job.run(locking(['Content/日本.uasset', 'Content/Ж.uasset', '1']));
  const again = await job.run(locking('Content/日本.uasset', { wait: '1m' }));
  expect(again).toMatchObject({ conclusion: 'failure', outputs: { status: 'held' } });
  await expect(job.run(checking())).resolves.toMatchObject({ outputs: { status: 'kept', count: '3' } });
  const { outputs } = await job.run(unlocking({}));
  expect(JSON.parse(outputs['released'] ?? '')).toHaveLength(3);
  expect(await stage.locks()).toEqual([]);
});

test('an unlock of all locks of a lease ends it with one request, and any other unlock leaves its other locks alone', async () => {
  const { stage, proxy, job } = await openWithProxy();
  const paths = manyPaths(60);
  const { outputs } = await job.run(locking(paths, { 'auto-release': 'false' }));
  const locks = JSON.parse(outputs['locks'] ?? '');
  const other = await stage.job({ run: { runId: '2' } });
  const asked = async (released: readonly string[], unlocked: ReturnType<typeof job.run>) => {
    const before = proxy.passed.length;
    const expected = { conclusion: 'success', outputs: { status: 'released', released: JSON.stringify(released) } };
    expect(await unlocked).toMatchObject(expected);
    return routesOf(proxy.passed.slice(before)).map((route) => route.replace(/locks\/.*/, 'locks/:path'));
  };
  const oneByOne = (count: number) => ['GET leases/:lease', ...Array(count).fill('DELETE locks/:path')];
  const [first, second, rest] = [paths.slice(0, 20), paths.slice(20, 40), paths.slice(40)];
  expect(await asked(first, job.run(unlocking({ path: first.join('\n') })))).toEqual(oneByOne(20));
  const handedOn = (from: number, to?: number) => unlocking({ locks: JSON.stringify(locks.slice(from, to)) });
  expect(await asked(second, other.run(handedOn(20, 40)))).toEqual(oneByOne(20));
  expect((await stage.locks()).map(({ path }) => path)).toEqual(rest);
  expect(await asked(rest, other.run(handedOn(40)))).toEqual(['GET leases/:lease', 'DELETE leases/:lease']);
  expect(await stage.locks()).toEqual([]);
  // The lease has ended: its response would name the same paths again.
  const again = await other.run(handedOn(0));
  expect(again).toMatchObject({ conclusion: 'success', outputs: { status: 'absent', released: '[]' } });
});

test('an unlock fails if ending its lease gets no response, and no later step reports its locks as lost', async () => {
  const stage = await openStage();
  const clock = await stage.clock();
  const proxy = await stage.proxy();
  const job = await stage.job();
  const [first = '', ...paths] = manyPaths(30);
  await job.run(locking([first, ...paths], { renew: 'true', ttl: '15m' }));
  proxy.meet(once(isReleasing, { kind: 'done-then-cut' }));
  const unlocked = await job.run(unlocking({ retries: '0' }));
  expect(unlocked).toMatchObject({ conclusion: 'failure', outputs: { released: '[]' } });
  expect(unlocked.annotations[0]?.message).toContain(`The lock on ${first} may not have been released.`);
  const { id } = await stage.takenByGrace(first);
  await job.run(locking(hero));
  // A renewal would be due.
  await clock.pass(5 * 60_000);
  await sleep(500);
  const checked = await job.run(checking());
  expect(checked).toMatchObject({ conclusion: 'success', outputs: { status: 'kept', count: '1' }, annotations: [] });
  for (const post of await job.post()) expect(post).toMatchObject({ conclusion: 'success', annotations: [] });
  expect(await stage.locks()).toMatchObject([{ id }]);
});

test.each([
  ['a page', 'text/html', '<h1>Not Found</h1>'],
  ['JSON', 'application/json', '{"message":"no Route matched with those values"}'],
])('a gateway that answers 404 with %s for a lease that was granted does not block the step', async (_, type, body) => {
  const { stage, proxy, job } = await openWithProxy();
  const missing = { status: 404, headers: { 'content-type': type }, body };
  proxy.meet(once(isLocking, { kind: 'done-then-answer', ...missing }));
  await expect(job.run(locking(['a', 'b'], { wait: '1m' }))).resolves.toMatchObject({
    outputs: { status: 'acquired', count: '2' },
  });
  await job.post();
  expect(await stage.locks()).toEqual([]);
});

const page404 = { status: 404, headers: { 'content-type': 'text/html' }, body: '<h1>Not Found</h1>' };
const json = { 'content-type': 'application/json' };

test('leases of any paths that a gateway answers with 404 end with the job, and a lost lock is reported', async () => {
  const { stage, proxy, job } = await openWithProxy();
  proxy.meet(once(isLocking, { kind: 'done-then-answer', ...page404 }));
  const step = await job.run(locking(['a', 'b'], { any: '1' }));
  expect(step).toMatchObject({ outputs: { status: 'acquired', count: '1' } });
  await job.run(locking([hero, 'c'], { any: '1' }));
  await stage.release(hero);
  const theirs = await stage.takenByGrace(hero);
  // Without the ledger, it is unknown that the service has leases.
  await rm(ledgerOf(job));
  proxy.meet(once(isReleasing, { kind: 'answer', status: 404, headers: json, body: '{"error":"Not found"}' }));
  await expect(job.post()).resolves.toMatchObject([{ conclusion: 'failure' }, { conclusion: 'success' }]);
  expect(await stage.locks()).toEqual([theirs]);
});

test('the post-step ends the lease of a step that was cancelled when only a gateway had answered', async () => {
  const { stage, proxy, job } = await openWithProxy();
  const first = once(isLocking, { kind: 'done-then-answer', ...page404 });
  const second = Promise.withResolvers<void>();
  proxy.meet((passing) => {
    const answer = first(passing);
    if (answer === undefined) second.resolve();
    return answer ?? { kind: 'silence' };
  });
  const step = await job.step(locking(['a', 'b']));
  await second.promise;
  await step.cancel();
  proxy.meet(() => undefined);
  await job.post();
  expect(await stage.locks()).toEqual([]);
});

test('the post-step ends the lease of any paths, although a gateway answers 404 at first', async () => {
  const { stage, proxy, job } = await openWithProxy();
  const theirs = await stage.takenByGrace('a');
  proxy.meet(once(isLocking, { kind: 'done-then-silence' }));
  const step = await job.step(locking(['a', 'b'], { any: '1' }));
  await expect.poll(() => stage.locks()).toHaveLength(2);
  await step.kill();
  proxy.meet(once(isReleasing, { kind: 'answer', status: 404, headers: json, body: '{"error":"Not found"}' }));
  await job.post();
  expect(await stage.locks()).toEqual([theirs]);
});

test('the post-step ends the lease of a killed step, although a gateway answers 404, and 403 to the list, at first', async () => {
  const { stage, proxy, job } = await openWithProxy();
  proxy.meet(once(isLocking, { kind: 'done-then-silence' }));
  const step = await job.step(locking(['a', 'b']));
  await expect.poll(() => stage.locks().then((locks) => locks.length)).toBe(2);
  await step.kill();
  const answer = (status: number): Fault => ({ kind: 'answer', status, headers: json, body: '{"error":"No"}' });
  const [releasing, listing] = [once(isReleasing, answer(404)), once(isListing, answer(403))];
  proxy.meet((passing) => releasing(passing) ?? listing(passing));
  await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success', annotations: [] }]);
  expect(await stage.locks()).toEqual([]);
});

test('a service that knows only the interface gets one request beyond it for each step', async () => {
  const { stage, proxy, job } = await openWithProxy(pathByPath);
  await expect(job.run(locking(['a', 'b']))).resolves.toMatchObject({ outputs: { count: '2' } });
  await expect(job.run(locking(['c', 'd']))).resolves.toMatchObject({ outputs: { count: '2' } });
  await job.post();
  expect(routesOf(proxy.passed).filter((route) => route.includes('leases'))).toEqual(
    Array(2).fill('PUT leases/:lease'),
  );
  expect(await stage.locks()).toEqual([]);
});

test('a check ignores a lock whose release the job has started', async () => {
  const { stage, proxy, job } = await openWithProxy();
  await job.run(locking([hero, 'b']));
  proxy.meet((passing) => (isReleasing(passing) ? { kind: 'done-then-cut' } : undefined));
  await expect(job.run(unlocking({ path: hero, retries: '0' }))).resolves.toMatchObject({ conclusion: 'failure' });
  proxy.meet(() => undefined);
  await stage.takenByGrace(hero);
  expect(await job.run(checking())).toMatchObject({ conclusion: 'success', outputs: { status: 'kept', count: '1' } });
});

test('a check fails while the service is down, and reports locks neither as kept nor as lost', async () => {
  const { proxy, job } = await openWithProxy();
  await job.run(locking([hero, 'b']));
  proxy.down();
  const result = await job.run(checking({ retries: '1' }));
  expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1, outputs: {} });
  expect(result.annotations).toMatchObject([
    { message: expect.stringMatching(/^Could not determine whether this job still holds Content\/Hero\.uasset, b\. /) },
  ]);
  proxy.up();
  expect(await job.run(checking())).toMatchObject({ conclusion: 'success', outputs: { status: 'kept' } });
});
