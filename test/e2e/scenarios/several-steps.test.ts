import { describe, expect, test } from 'vitest';
import { isReleasing, type Manner } from '../../support/fault-proxy.ts';
import { forms } from '../../support/runs.ts';
import { locking, openStage, useService } from './stage.ts';

useService();

test('two lock steps and a composite action that is used twice each release their own locks, the last step first', async () => {
  const stage = await openStage();
  const proxy = await stage.proxy();
  const job = await stage.job();
  // The runner gives the steps of a composite action the same id each time it is used.
  await job.run({ ...locking('a'), id: 'first' });
  await job.run({ ...locking('b'), id: 'composite__lock' });
  await job.run({ ...locking(['c', 'd']), id: 'composite__lock' });
  expect(await stage.locks()).toHaveLength(4);

  const left: string[][] = [];
  for (let post = await job.nextPost(); post !== undefined; post = await job.nextPost()) {
    await expect(post.finished).resolves.toMatchObject({ conclusion: 'success', annotations: [] });
    left.push((await stage.locks()).map(({ path }) => path));
  }
  expect(left).toEqual([['a', 'b'], ['a'], []]);
  expect(proxy.passed.filter(isReleasing).every(({ status }) => status === 204)).toBe(true);
});

describe('a second lock step on a path that an earlier step of the job holds', () => {
  test.each<[string, Manner]>([
    ['with ETags', {}],
    ['without ETags and ids', { givesNoProof: true }],
    ['that tells locks apart by nothing', { givesNoProof: true, keepsNoTimes: true, keepsNoOrigin: true }],
  ])('does not wait for it with a service %s, says who has it, and takes nothing', async (_, manner) => {
    const stage = await openStage();
    const proxy = await stage.proxy(manner);
    const job = await stage.job();
    await job.run({ ...locking('a'), id: 'lock-hero' });
    const lock = await stage.lockOn('a');
    const before = proxy.passed.length;
    const result = await job.run(locking(['a', 'b'], { wait: '10m' }));
    expect(result).toMatchObject({
      conclusion: 'failure',
      outputs: { status: 'held', acquired: 'false', count: '0', locks: '[]', holder: 'build-bot', waited_seconds: '0' },
    });
    expect(result.annotations.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /^This job already holds a: the step `lock-hero` locked it, until .*\. Name only the other paths in this step, or release what is not needed any more with `operation: unlock` before this step\.$/,
      ),
    ]);
    expect(proxy.passed.slice(before).map(({ method }) => method)).toEqual(['GET']);
    const second = await job.nextPost();
    await second?.finished;
    expect(await stage.locks()).toEqual([lock]);
    await job.post();
    expect(await stage.locks()).toEqual([]);
  });

  test('and that names nothing else is told that it is not needed, as long as the lock lives long enough', async () => {
    const stage = await openStage();
    const job = await stage.job();
    await job.run(locking(['a', 'b'], { ttl: '1h' }));
    const messageOf = async (ttl: string) => (await job.run(locking(['a', 'b'], { ttl }))).annotations[0]?.message;
    expect(await messageOf('1h')).toMatch(
      /^This job already holds a, b: an earlier step without an `id` \(__octo-org_workspace-automation\) locked them, .* at least half of its `ttl` of 1h: leave this step out/,
    );
    expect(await messageOf('3h')).toMatch(/leave it out and raise the `ttl` of the earlier step/);
  });

  test('asks for it where the list is in trouble, and contends like a stranger', async () => {
    const stage = await openStage();
    const proxy = await stage.proxy();
    const job = await stage.job();
    await job.run(locking('a'));
    proxy.meet(({ method }) => (method === 'GET' ? { kind: 'answer', status: 500 } : undefined));
    await expect(job.run(locking('a', { retries: '0' }))).resolves.toMatchObject({
      conclusion: 'failure',
      outputs: { status: 'held', holder: 'build-bot' },
    });
  });

  test.each(forms([403, 404, 405, 501], 0))(
    'goes by what it knows itself where it may not look: %s',
    async (status) => {
      const stage = await openStage();
      const proxy = await stage.proxy();
      const job = await stage.job();
      await job.run(locking('a', { ttl: '1h' }));
      await job.run(locking('b', { ttl: '1s' }));
      await expect.poll(() => stage.lockOn('b'), { timeout: 10_000 }).toBeUndefined();
      proxy.meet(({ method }) => (method === 'GET' ? { kind: 'answer', status } : undefined));
      const held = await job.run(locking('a', { wait: '10m' }));
      expect(held.annotations[0]?.message).toMatch(/^This job already holds a/);
      // The service has the last word on one whose time is over.
      await expect(job.run(locking('b'))).resolves.toMatchObject({ conclusion: 'success' });
    },
  );
});

test('another job with the same step is a stranger', async () => {
  const stage = await openStage();
  const [one, other] = [await stage.job(), await stage.job()];
  await one.run({ ...locking('a'), id: 'lock' });
  const result = await other.run({ ...locking('a'), id: 'lock' });
  expect(result.annotations[0]?.message).toMatch(/^a is held by build-bot .*Set `wait: /);
});

test('a path that is locked anew after its lock has expired is released by the step that has it', async () => {
  const stage = await openStage();
  const job = await stage.job();
  await job.run(locking('a'));
  await stage.expire('a');
  await job.run(locking('a'));
  const [second, first] = await job.post();
  expect(second?.log).toContain('Released 1 lock at the end of the job.');
  expect(first).toMatchObject({ conclusion: 'success', annotations: [] });
  expect(await stage.locks()).toEqual([]);
});
