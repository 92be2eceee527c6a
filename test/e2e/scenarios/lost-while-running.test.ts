import { describe, expect, test } from 'vitest';
import { isReleasing } from '../../support/fault-proxy.ts';
import { useShippedService } from './shipped.ts';
import { locking } from './stage.ts';
import { atEveryRequest, manners, meetAt, troubles } from './trouble.ts';

const shipped = useShippedService();

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
});

test('a lock that ended by itself while the job ran, and that nobody else has got, fails nothing', async () => {
  const place = await shipped.workspace();
  const job = await place.job();
  await job.run(locking(['a', 'b'], { ttl: '1s' }));
  await expect.poll(() => place.locks(), { timeout: 10_000 }).toEqual([]);
  const [post] = await job.post();
  expect(post, post?.log).toMatchObject({ conclusion: 'success', exitCode: 0 });
});

/** A second and a half: whatever the clock of the service rounds, it was before. */
const work = [process.execPath, '-e', 'setTimeout(() => {}, 1500)'] as const;

describe.each(
  // Where nothing tells a lock from another, one within its lifetime counts as its own.
  manners.filter(([, { keepsNoTimes }]) => !keepsNoTimes),
)('with a service that %s', (_, manner) => {
  test.each(troubles)(
    'a lost lock fails the job, and theirs stands, whichever request of the post-step %s',
    async (_, fault) => {
      const place = await shipped.workspace();
      const proxy = await place.proxy(manner);
      await atEveryRequest(async (number) => {
        const [lost, kept] = [`lost-${number}`, `kept-${number}`];
        proxy.meet(() => undefined);
        const job = await place.job(proxy);
        await job.run(locking([lost, kept]));
        await place.release(lost);
        const theirs = await place.take(lost, { token: place.graces });
        await (await job.command({ command: work, id: 'work' })).finished;
        const met = meetAt(proxy, number, fault, async () => undefined);
        const [post] = await job.post();
        await met.done();
        expect(post, post?.log).toMatchObject({ conclusion: 'failure' });
        expect(await place.lockOn(kept)).toBeUndefined();
        expect(await place.lockOn(lost)).toEqual(theirs);
        const released = proxy.passed.filter((one) => isReleasing(one) && one.status === 204);
        expect(released.map(({ path }) => path)).not.toContain(lost);
        return met;
      });
    },
  );
});
