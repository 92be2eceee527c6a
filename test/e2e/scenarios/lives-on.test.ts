import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isListing, isLocking, type Manner, once, type Passing, pathByPath } from '../../support/fault-proxy.ts';
import { preload } from '../../support/preload.ts';
import type { Job } from '../../support/runner/job.ts';
import type { Clock } from './clock.ts';
import { ledgerOf } from './ledger.ts';
import {
  hero,
  locking,
  manyPaths,
  openStage,
  openWithJob,
  openWithProxy,
  type Stage,
  unlocking,
  useService,
} from './stage.ts';

useService();

const patiently = { interval: 50 };
/** Renewed each minute of the clock. */
const renewing = { renew: 'true', ttl: '3m' };
const minute = 60_000;

describe('a step whose cancellation never reaches it, as in a container', () => {
  test('takes nothing after its post-step while it waits', async () => {
    const stage = await openStage();
    await stage.take(hero);
    const job = await stage.job({ sharesProcesses: false });
    const step = await job.step(locking(hero, { wait: '10m' }));
    await step.waitForLog('Waiting');
    await step.disconnect();
    expect(job.leftProcesses()).toHaveLength(1);
    await job.post();
    expect(job.leftProcesses()).toEqual([]);
    await stage.release(hero);
    expect(await stage.locks()).toEqual([]);
  });

  test('takes nothing after its post-step while it looks at a lock of its job', async () => {
    const stage = await openStage();
    const proxy = await stage.proxy();
    const job = await stage.job({ sharesProcesses: false });
    await job.run(locking(hero));
    const looking = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    proxy.meet((passing) => {
      if (!isListing(passing)) return undefined;
      looking.resolve();
      return { kind: 'held-back', until: over.promise };
    });
    const step = await job.step(locking([hero, 'b'], { any: '1' }));
    await looking.promise;
    await step.disconnect();
    expect(job.leftProcesses()).toHaveLength(1);
    const [post] = await job.post();
    over.resolve();
    expect(post).toMatchObject({ conclusion: 'success', annotations: [] });
    expect(job.leftProcesses()).toEqual([]);
    expect(await stage.locks()).toEqual([]);
  });

  test('keeps none of the locks that it was taking one by one when its post-step began', async () => {
    const stage = await openStage();
    const proxy = await stage.proxy(pathByPath);
    const job = await stage.job({ sharesProcesses: false });
    const step = await job.step(locking(manyPaths(800)));
    await expect.poll(() => proxy.passed.filter(isLocking).length, patiently).toBeGreaterThan(50);
    await step.disconnect();
    await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success' }]);
    expect(job.leftProcesses()).toEqual([]);
    expect(await stage.locks()).toEqual([]);
  });
});

/** On Windows, an orphan keeps the id of its parent. */
const withFixedParent = preload(`Object.defineProperty(process, 'ppid', { value: process.ppid });`);

test.each([
  ['that gets another parent', {}],
  ['that keeps the id of its parent', { NODE_OPTIONS: withFixedParent }],
])('a step whose worker was killed, and %s, stops waiting and takes nothing', async (_, env) => {
  const stage = await openStage();
  await stage.take(hero);
  const job = await stage.job({ env });
  const step = await job.step({ ...locking(hero, { wait: '10m' }), worker: 'ends' });
  await step.waitForLog('Waiting');
  await step.kill();
  await expect.poll(() => job.leftProcesses(), patiently).toEqual([]);
  await stage.release(hero);
  expect(await stage.locks()).toEqual([]);
});

describe('a job in a container, whose worker is outside, and whose temporary folder is replaced:', () => {
  async function openInContainer() {
    const stage = await openStage();
    const clock = await stage.clock();
    const outside = preload(`Object.defineProperty(process, 'ppid', { value: 0 });`);
    const NODE_OPTIONS = `${clock.env.NODE_OPTIONS} ${outside}`;
    return { stage, clock, job: await stage.job({ env: { NODE_OPTIONS } }) };
  }

  /** The next job of the runner has a ledger of the same name. */
  async function replaceLedger(job: Job): Promise<void> {
    await rm(ledgerOf(job));
    await writeFile(ledgerOf(job), '');
  }

  test('its lock is still renewed, as a step may have done that', async () => {
    const { stage, clock, job } = await openInContainer();
    await job.run(locking(hero, renewing));
    await replaceLedger(job);
    await expectRenewed(stage, clock);
    await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success' }]);
    expect(await stage.locks()).toEqual([]);
    expect(job.leftProcesses()).toEqual([]);
  });

  test('a step that waits takes nothing', async () => {
    const { stage, job } = await openInContainer();
    await stage.take(hero);
    const step = await job.step(locking(hero, { wait: '10m' }));
    await step.waitForLog('Waiting');
    await replaceLedger(job);
    await expect(step.finished).resolves.toMatchObject({ conclusion: 'failure', outputs: { acquired: 'false' } });
    await stage.release(hero);
    expect(await stage.locks()).toEqual([]);
  });
});

describe('steps of one job at the same time', () => {
  test('a step that wants a path of a parallel step fails, instead of waiting for its own job', async () => {
    const { stage, job } = await openWithJob();
    const other = await stage.take('b');
    const waiting = await job.step({ ...locking(['a', 'b'], { wait: '10m' }), background: true });
    await waiting.waitForLog('Waiting');
    await job.run(locking('a'));
    await stage.release(other.path);
    const result = await waiting.finished;
    expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'held' } });
    expect(result.log).toContain('This job already holds a. ');
    await job.post();
    expect(await stage.locks()).toEqual([]);
  });

  test.each<[string, Manner, (passing: Passing) => boolean, 'held-back' | 'done-then-held-back', number]>([
    ['whose lease is granted, but not yet answered', {}, isLocking, 'done-then-held-back', 160],
    [
      'that is still taking its own one by one',
      pathByPath,
      ({ path }) => path === 'Content/0040.uasset',
      'held-back',
      30,
    ],
  ])('an unlock of all locks leaves those of a step %s', async (_, manner, matches, kind, least) => {
    const { stage, proxy, job } = await openWithProxy(manner);
    await job.run(locking('mine'));
    const going = Promise.withResolvers<void>();
    proxy.meet(once(matches, { kind, until: going.promise }));
    const step = await job.step({ ...locking(manyPaths(160)), background: true });
    await expect.poll(() => stage.locks().then((locks) => locks.length), patiently).toBeGreaterThan(least);
    const unlocked = await job.run(unlocking({}));
    expect(JSON.parse(unlocked.outputs['released'] ?? '')).toEqual(['mine']);
    going.resolve();
    expect(await step.finished).toMatchObject({ conclusion: 'success', outputs: { count: '160' } });
    expect(await stage.locks()).toHaveLength(160);
    await job.post();
    expect(await stage.locks()).toEqual([]);
  });
});

/** A disk that is full after this number of lines of the ledger. */
const diskFullAfter = (lines: number): string =>
  preload(`
    import { syncBuiltinESMExports } from 'node:module';
    import fs from 'node:fs';
    const append = fs.appendFileSync;
    let left = ${lines};
    fs.appendFileSync = (file, data, ...given) => {
      if (String(file).endsWith('ledger.jsonl') && (left -= 1) < 0) {
        throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
      }
      append(file, data, ...given);
    };
    syncBuiltinESMExports();
  `);

test.each([
  ['before a lease is requested', {}, 2],
  ['after a lease was granted', {}, 4],
  ['while paths are locked one by one', pathByPath, 60],
])('a disk that fills %s fails the step, which keeps no lock', async (_, manner, writes) => {
  const stage = await openStage();
  await stage.proxy(manner);
  const job = await stage.job({ env: { NODE_OPTIONS: diskFullAfter(writes) } });
  const result = await job.run(locking(manyPaths(200), { renew: 'true' }));
  expect(result).toMatchObject({ conclusion: 'failure', outputs: { acquired: 'false', count: '0' } });
  expect(result.log).toMatch(/The ledger of this job's locks could not be written \(.*\).*It released all locks/);
  await job.post();
  expect(await stage.locks()).toEqual([]);
  await expect.poll(() => job.leftProcesses(), patiently).toEqual([]);
});

describe('when the temporary folder is emptied', () => {
  async function renewingJob() {
    const stage = await openStage();
    const clock = await stage.clock();
    const job = await stage.job();
    await job.run(locking(hero, renewing));
    await rm(join(job.folders.temp, 'workspace-automation'), { recursive: true });
    return { stage, clock, job };
  }

  test('the locks are still renewed, and released at the end', async () => {
    const { stage, clock, job } = await renewingJob();
    await expectRenewed(stage, clock);
    const [post] = await job.post();
    expect(post).toMatchObject({ conclusion: 'success' });
    expect(await stage.locks()).toEqual([]);
    expect(job.leftProcesses()).toEqual([]);
  });

  test('a lock that was lost fails the job', async () => {
    const { stage, clock, job } = await renewingJob();
    await stage.release(hero);
    const { id } = await stage.takenByGrace(hero);
    await clock.pass(minute);
    // The process ends once no lock is left to renew.
    await expect.poll(() => job.leftProcesses(), patiently).toEqual([]);
    const [post] = await job.post();
    expect(post).toMatchObject({ conclusion: 'failure' });
    expect(post?.log).toContain('was lost');
    expect(await stage.locks()).toMatchObject([{ id }]);
  });
});

test.each([-864_000_000, 864_000_000])(
  'a gateway whose clock is ten days wrong (%i ms) stops no renewal',
  async (ms) => {
    const stage = await openStage();
    const clock = await stage.clock();
    await stage.proxy({ dateAheadMs: ms });
    const job = await stage.job();
    const step = await job.run(locking(hero, renewing));
    expect(step.outputs).toMatchObject({ status: 'acquired' });
    await expectRenewed(stage, clock);
    await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success' }]);
    expect(await stage.locks()).toEqual([]);
  },
);

/** Expects that the same lock lasts for longer than its ttl. */
async function expectRenewed(stage: Stage, clock: Clock): Promise<void> {
  const before = await stage.lockOn(hero);
  const endOf = async (): Promise<number> => Date.parse((await stage.lockOn(hero))?.expires_at ?? '');
  for (let minutes = 1; minutes <= 4; minutes += 1) {
    // Moves the end of the lock back. A renewal moves it beyond the first one.
    await clock.pass(minute);
    await expect.poll(endOf, patiently).toBeGreaterThan(Date.parse(before?.expires_at ?? ''));
  }
  expect((await stage.lockOn(hero))?.id).toBe(before?.id);
}
