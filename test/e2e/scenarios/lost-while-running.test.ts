import { describe, expect, test } from 'vitest';
import { isReleasing } from '../../support/fault-proxy.ts';
import { fasterTime } from '../../support/preload.ts';
import { useShippedService } from './shipped.ts';
import { locking, soak } from './stage.ts';
import { atEveryRequest, manners, meetAt, troubles } from './trouble.ts';

const shipped = useShippedService();

const env = { NODE_OPTIONS: fasterTime(10) };

const conclusions = [
  ['fails the job', {}, 'failure'],
  ['fails the job where that is asked for', { 'on-lost': 'fail' }, 'failure'],
  ['is told, and fails nothing, with `on-lost: warn`', { 'on-lost': 'warn' }, 'success'],
] as const;

describe.each(conclusions)('a lock that somebody else has got while the job ran %s', (_, inputs, conclusion) => {
  test('when the job ends; their lock stands, and the other locks of the job are released', async () => {
    const place = await shipped.workspace();
    const job = await place.job();
    const lock = await job.run(locking(['a', 'b', 'c'], inputs));
    expect(lock, lock.log).toMatchObject({ conclusion: 'success', annotations: [] });
    await place.release('b');
    const theirs = await place.take('b', { token: place.graces });
    const [post] = await job.post();
    expect(post, post?.log).toMatchObject({ conclusion });
    expect(post?.exitCode === 0).toBe(conclusion === 'success');
    expect(post?.annotations.filter(({ message }) => /\bb\b.* was lost .*grace/s.test(message))).toHaveLength(1);
    expect(await place.locks()).toEqual([theirs]);
  });

  test('and one that ended by itself, and that nobody else has got, fails nothing', async () => {
    const place = await shipped.workspace();
    const job = await place.job();
    await job.run(locking(['a', 'b'], { ...inputs, ttl: '1s' }));
    await expect.poll(() => place.locks(), { timeout: 10_000 }).toEqual([]);
    const [post] = await job.post();
    expect(post, post?.log).toMatchObject({ conclusion: 'success', exitCode: 0 });
  });

  test.each(
    // Where nothing tells a lock from another, one within its lifetime counts as its own.
    manners
      .filter(([, { keepsNoTimes }]) => !keepsNoTimes)
      .flatMap(([name, manner]) =>
        (soak ? troubles : troubles.slice(0, 1)).map(([what, fault]) => [name, what, manner, fault] as const),
      ),
  )('with a service that %s, whichever request of the post-step %s', async (_name, _what, manner, fault) => {
    const place = await shipped.workspace();
    const proxy = await place.proxy(manner);
    await atEveryRequest(async (number) => {
      const [lost, kept] = [`lost-${number}`, `kept-${number}`];
      proxy.meet(() => undefined);
      const job = await place.job(proxy);
      await job.run({ ...locking([lost, kept], inputs), env });
      await place.release(lost);
      const theirs = await place.take(lost, { token: place.graces });
      const met = meetAt(proxy, number, fault, async () => undefined);
      const [post] = await job.post();
      await met.done();
      expect(post, post?.log).toMatchObject({ conclusion });
      expect(await place.lockOn(kept)).toBeUndefined();
      expect(await place.lockOn(lost)).toEqual(theirs);
      const released = proxy.passed.filter((one) => isReleasing(one) && one.status === 204);
      expect(released.map(({ path }) => path)).not.toContain(lost);
      return met;
    });
  });
});
