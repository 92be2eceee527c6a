import { describe, expect, test } from 'vitest';
import type { Manner } from '../../support/fault-proxy.ts';
import { preload } from '../../support/preload.ts';
import { hero, locking, openStage, useService } from './stage.ts';

useService();

const hour = 3_600_000;

/** A machine whose clock is ahead by this time, or behind if it is negative. */
const clockAhead = (ms: number): string =>
  preload(`
    const { timeOrigin } = performance;
    Object.defineProperty(performance, 'timeOrigin', { value: timeOrigin + ${ms} });
    globalThis.Date = class extends Date {
      constructor(...given) { if (given.length === 0) super(Date.now()); else super(...given); }
      static now() { return super.now() + ${ms}; }
    };
  `);

describe.each([
  ['the machine is an hour ahead', { NODE_OPTIONS: clockAhead(hour) }, 0],
  ['the service is an hour behind', {}, -hour],
])('when the clock of %s', (_, env, service) => {
  async function play(manner: Manner) {
    const stage = await openStage();
    await stage.proxy({ ...manner, clockAheadMs: () => service });
    return { stage, job: await stage.job({ env }) };
  }

  test('a wait lasts as long as requested, logs the correct expiry of the lock, and then acquires it', async () => {
    const { stage, job } = await play({ retryAfter: 0 });
    await stage.take(hero, { ttl: '20m' });
    const held = await job.run(locking(hero, { wait: '1s' }));
    expect(held.durationMs).toBeLessThan(60_000);
    const advised = await job.run(locking(hero));
    expect(advised.annotations[0]?.message).toMatch(/\(in 20 min\).* Set `wait` to wait for it\./);
    const step = await job.step(locking(hero, { wait: '10m', ttl: '30m' }));
    const line = await step.waitForLog('is held by');
    expect(line).toMatch(
      /\(in 20 min\), since (\d{4}-\d\d-\d\d )?\d\d:\d\d UTC \(\d+ s ago\)\. You are number \d of \d in line\. Waiting, 10 min left\./,
    );
    await stage.release(hero);
    const result = await step.finished;
    expect(result).toMatchObject({ conclusion: 'success' });
    expect(Number(result.outputs['waited_seconds'])).toBeLessThan(30);
    expect(result.log).toMatch(/Locked Content\/Hero\.uasset .*\(in 30 min\)/);
    for (const post of await job.post()) expect(post).toMatchObject({ conclusion: 'success', annotations: [] });
    expect(await stage.locks()).toEqual([]);
  });

  test('a lock that only its times identify is recognized as a lock of the job', async () => {
    const { stage, job } = await play({ givesNoProof: true, saysNothing: true });
    await job.run(locking(hero));
    await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success', annotations: [] }]);
    expect(await stage.locks()).toEqual([]);
  });
});
