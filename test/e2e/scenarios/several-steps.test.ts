import { describe, expect, test } from 'vitest';
import { isReleasing, type Manner, refusal } from '../../support/fault-proxy.ts';
import { locking, openWithJob, openWithProxy, useService } from './stage.ts';

useService();

test('two lock steps and a composite action that is used twice release their own locks, the last step first', async () => {
  const { stage, proxy, job } = await openWithProxy();
  // The runner assigns the same id to the steps of a composite action each time.
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
  expect(proxy.passed.filter(isReleasing).every(({ status }) => status === 204 || status === 200)).toBe(true);
});

describe('a second lock step on a path that an earlier step of the job holds', () => {
  test.each<[string, Manner, 'true' | 'false']>([
    ['with ETags', {}, 'false'],
    ['without any way to identify locks', { givesNoProof: true, looksAlike: true }, 'true'],
  ])('does not wait on a service %s, and takes nothing', async (_, manner, autoRelease) => {
    const { stage, proxy, job } = await openWithProxy(manner);
    await job.run(locking('a', { 'auto-release': autoRelease }));
    const lock = await stage.lockOn('a');
    const before = proxy.passed.length;
    const result = await job.run(locking(['a', 'b'], { wait: '10m' }));
    expect(result).toMatchObject({
      conclusion: 'failure',
      outputs: { status: 'held', acquired: 'false', count: '0', locks: '[]', holder: 'build-bot', waited_seconds: '0' },
    });
    expect(result.annotations.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /^This job already holds a\. Name other paths, or release locks that are no longer needed with `operation: unlock` before this step\.$/,
      ),
    ]);
    expect(proxy.passed.slice(before).map(({ method }) => method)).toEqual(['GET']);
    const second = await job.nextPost();
    await second?.finished;
    expect(await stage.locks()).toEqual([lock]);
    await job.post();
    expect(await stage.locks()).toEqual(autoRelease === 'true' ? [] : [lock]);
  });

  test('relies on its ledger if it may not list locks', async () => {
    const { stage, proxy, job } = await openWithProxy();
    await job.run(locking('a', { ttl: '1h' }));
    await job.run(locking('b', { ttl: '1s' }));
    await expect.poll(() => stage.lockOn('b')).toBeUndefined();
    proxy.meet(({ method }) => (method === 'GET' ? refusal(403) : undefined));
    const held = await job.run(locking('a', { wait: '10m' }));
    expect(held.annotations[0]?.message).toMatch(/^This job already holds a/);
    // The service decides about a lock that has expired.
    await expect(job.run(locking('b'))).resolves.toMatchObject({ conclusion: 'success' });
  });
  test('waits for the path if it has a new holder, and gets it', async () => {
    const { stage, job } = await openWithJob();
    await job.run(locking(['a', 'b']));
    await stage.release('b');
    const theirs = await stage.take('b', { token: stage.graces });
    const step = await job.step(locking(['b', 'c'], { wait: '45s' }));
    await step.waitForLog(/held by grace/);
    expect((await stage.lockOn('b'))?.id).toBe(theirs.id);
    await stage.release('b');
    await expect(step.finished).resolves.toMatchObject({ conclusion: 'success', outputs: { status: 'acquired' } });
  });
});

test('a path that is locked again after its lock has expired is released by the step that holds it', async () => {
  const { stage, job } = await openWithJob();
  await job.run(locking('a'));
  await stage.expire('a');
  await job.run(locking('a'));
  const [second, first] = await job.post();
  expect(second?.log).toContain('Released 1 lock at the end of the job.');
  expect(first).toMatchObject({ conclusion: 'success', annotations: [] });
  expect(await stage.locks()).toEqual([]);
});
