import { expect, test } from 'vitest';
import { isReleasing } from '../../support/fault-proxy.ts';
import { hero, locking, openStage, openWithProxy, useService } from './stage.ts';

useService();

const hourMs = 3_600_000;

test('without any way to identify locks, one within its lifetime is released, and an older one is left alone', async () => {
  const stage = await openStage();
  const clock = await stage.clock();
  const proxy = await stage.proxy({ givesNoProof: true, saysNothing: true, looksAlike: true });
  const job = await stage.job();
  await job.run(locking(hero, { ttl: '1h' }));
  await job.run(locking('b', { ttl: '2h' }));
  await clock.pass(hourMs);
  expect(await stage.lockOn(hero)).toBeUndefined();
  const theirs = await stage.take(hero);
  const [within, past] = await job.post();
  expect(within).toMatchObject({ conclusion: 'success', annotations: [] });
  expect(past).toMatchObject({
    conclusion: 'success',
    annotations: [{ level: 'warning', message: expect.stringContaining('the current lock was left alone') }],
  });
  expect(proxy.passed.filter(isReleasing).map(({ path }) => path)).toEqual(['b']);
  expect(await stage.locks()).toEqual([theirs]);
});

test('without an ETag, a release whose response is lost does not release the next lock on the path', async () => {
  const { stage, proxy, job } = await openWithProxy({ givesNoProof: true });
  await job.run(locking(hero));
  const released = Promise.withResolvers<void>();
  const taken = Promise.withResolvers<void>();
  let seen = 0;
  proxy.meet((passing) => {
    if (isReleasing(passing)) {
      seen += 1;
      released.resolve();
      return { kind: 'done-then-cut' };
    }
    // Later requests are answered after someone else has taken the path.
    return seen > 0 ? { kind: 'held-back', until: taken.promise } : undefined;
  });
  const post = await job.nextPost();
  await released.promise;
  await expect.poll(() => stage.locks()).toEqual([]);
  const theirs = await stage.takenByGrace(hero);
  taken.resolve();
  await expect(post?.finished).resolves.toMatchObject({ conclusion: 'success', annotations: [] });
  expect(proxy.passed.filter(isReleasing)).toHaveLength(1);
  expect(await stage.locks()).toEqual([theirs]);
});
