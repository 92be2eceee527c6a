import { describe, expect, test } from 'vitest';
import type { Manner } from '../../support/fault-proxy.ts';
import { clockAhead } from '../../support/preload.ts';
import { locking, openStage, useService } from './stage.ts';

useService();

const hero = 'Content/Hero.uasset';
const hour = 3_600_000;

interface Clocks {
  readonly machine: number;
  readonly service: number;
}

const clocks: readonly (readonly [string, Clocks])[] = [
  ['the machine is an hour ahead', { machine: hour, service: 0 }],
  ['the service is an hour behind', { machine: 0, service: -hour }],
];

describe.each(clocks)('when the clock of %s', (_, { machine, service }) => {
  async function play(manner: Manner = {}) {
    const stage = await openStage();
    const proxy = await stage.proxy({ ...manner, clockAheadMs: () => service });
    const job = await stage.job({ env: machine === 0 ? {} : { NODE_OPTIONS: clockAhead(machine) } });
    return { stage, proxy, job };
  }

  test('a wait lasts as long as requested, logs the correct expiry of the lock, and then acquires it', async () => {
    const { stage, job } = await play({ retryAfter: 0 });
    await stage.take(hero, { ttl: '20m' });
    const held = await job.run(locking(hero, { wait: '1s' }));
    expect(held.durationMs).toBeLessThan(6_000);
    const advised = await job.run(locking(hero));
    expect(advised.annotations[0]?.message).toMatch(/\(in 20 min\).* Set `wait` to wait for it\./);
    const step = await job.step(locking(hero, { wait: '10m', ttl: '30m' }));
    const line = await step.waitForLog('is held by');
    expect(line).toMatch(
      /\(in 20 min\), since (\d{4}-\d\d-\d\d )?\d\d:\d\d UTC \(\d s ago\)\. You are number \d of \d in line\. Waiting, 10 min left\./,
    );
    await stage.release(hero);
    const result = await step.finished;
    expect(result).toMatchObject({ conclusion: 'success' });
    expect(Number(result.outputs['waited_seconds'])).toBeLessThan(30);
    expect(result.log).toMatch(/Locked Content\/Hero\.uasset .*\(in 30 min\)/);
    for (const post of await job.post()) expect(post).toMatchObject({ conclusion: 'success', annotations: [] });
    expect(await stage.locks()).toEqual([]);
  });

  test('a lock that only its times identify is recognized as that of the job', async () => {
    const { stage, job } = await play({ givesNoProof: true, saysNothing: true });
    await job.run(locking(hero));
    await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success', annotations: [] }]);
    expect(await stage.locks()).toEqual([]);
  });

  test('a lock that a killed step may have left is not reported as that of another holder', async () => {
    const { stage, proxy, job } = await play({ knowsNoKeys: true });
    const asked = Promise.withResolvers<void>();
    proxy.meet((passing) => {
      if (passing.path !== hero) return undefined;
      asked.resolve();
      return { kind: 'done-then-silence' };
    });
    const step = await job.step(locking(['A', hero]));
    await asked.promise;
    await expect.poll(() => stage.lockOn(hero)).toBeDefined();
    await step.kill();
    proxy.meet(() => undefined);
    const [post] = await job.post();
    expect(post?.annotations).toMatchObject([
      { level: 'warning', message: expect.stringContaining(`${hero} may have been locked`) },
    ]);
  });

  test('a lock without an ETag is released within its lifetime, and left alone after it', async () => {
    const { stage, job } = await play({
      givesNoProof: true,
      saysNothing: true,
      keepsNoTimes: true,
      keepsNoOrigin: true,
    });
    await job.run(locking('short', { ttl: '1s' }));
    await expect.poll(() => stage.lockOn('short')).toBeUndefined();
    const theirs = await stage.take('short');
    await job.run(locking('long', { ttl: '30m' }));
    const posts = await job.post();
    expect(posts.flatMap(({ annotations }) => annotations)).toMatchObject([
      { level: 'warning', message: expect.stringContaining('the current lock was left alone') },
    ]);
    expect(await stage.locks()).toEqual([theirs]);
  });
});
