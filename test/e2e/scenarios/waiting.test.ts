import { expect, test } from 'vitest';
import { type FaultProxy, isLocking, isReleasing, once, type Passing, pathByPath } from '../../support/fault-proxy.ts';
import { measured } from '../../support/measured.ts';
import { fasterTime } from '../../support/preload.ts';
import type { Job } from '../../support/runner/job.ts';
import { everyForm, runs } from '../../support/runs.ts';
import { locking, openStage, soak, useService } from './stage.ts';

useService();

const hero = 'Content/Hero.uasset';

const pollsOf = (proxy: FaultProxy) => proxy.passed.filter(isLocking);

test('a wait of one second for a path that is held for an hour ends within one and a half seconds', async () => {
  const stage = await openStage();
  await stage.take(hero, { origin: 'https://ci.example.com/runs/7' });
  const proxy = await stage.proxy();
  const job = await stage.job();
  // One second is short on a busy machine: for this process, time passes slower.
  const times = 1 / 10;
  const result = await job.run({ ...locking(hero, { wait: '1s' }), env: { NODE_OPTIONS: fasterTime(times) } });
  const tookMs = result.durationMs * times;
  measured('a wait of one second took (ms)', tookMs, { atMost: 1_500 });
  expect(tookMs).toBeGreaterThan(600);
  expect(pollsOf(proxy).length).toBeGreaterThanOrEqual(2);
  expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'held', holder: 'build-bot' } });
  expect(result.annotations[0]?.message).toMatch(
    /^Content\/Hero\.uasset is held by build-bot until (\d{4}-\d\d-\d\d )?\d\d:\d\d UTC \(in 1 h\), locked in https:\/\/ci\.example\.com\/runs\/7\. You are number 1 of 1 in line\. Waited 1s for it\. Increase `wait` to wait longer\.$/,
  );
});

test('a wait of ten minutes survives a 502, a cut connection and a 429, and gets the lock', async () => {
  const stage = await openStage();
  const theirs = await stage.take(hero, { origin: 'https://ci.example.com/runs/7' });
  const proxy = await stage.proxy({ retryAfter: null, waitsForNothing: true });
  const done = Promise.withResolvers<void>();
  let number = 0;
  let limitedAt = 0;
  let afterLimit = 0;
  proxy.meet((passing: Passing) => {
    if (!isLocking(passing)) return undefined;
    number += 1;
    if (number === 2) return { kind: 'answer', status: 502 };
    if (number === 3) return { kind: 'cut' };
    if (number === 4) {
      limitedAt = passing.at;
      return { kind: 'answer', status: 429, headers: { 'retry-after': '2' } };
    }
    if (number === 5) {
      afterLimit = passing.at - limitedAt;
      done.resolve();
    }
    return undefined;
  });
  const job = await stage.job();
  const step = await job.step({
    ...locking(hero, { wait: '10m' }),
    env: { NODE_OPTIONS: fasterTime(2) },
  });
  await done.promise;
  expect(await stage.lockOn(hero)).toEqual(theirs);
  await stage.release(hero);
  const result = await step.finished;
  expect(result).toMatchObject({ conclusion: 'success', outputs: { status: 'acquired', acquired: 'true' } });
  expect(Number(result.outputs['waited_seconds'])).toBeGreaterThanOrEqual(3);
  // Two seconds, for a process in double time.
  expect(afterLimit).toBeGreaterThan(950);
  expect(result.log).toMatch(
    /Content\/Hero\.uasset is held by build-bot until (\d{4}-\d\d-\d\d )?\d\d:\d\d UTC \(in .*\), locked in https:\/\/ci\.example\.com\/runs\/7, since (\d{4}-\d\d-\d\d )?\d\d:\d\d UTC \(.*\)\. Waiting, 10 min left\./,
  );
  const [post] = await job.post();
  expect(post?.rawSummary).toMatch(
    /<\/table>\n\n```mermaid\n%%.*\ngantt\n.*\n.*\n.*\n {4}section Content\/Hero\.uasset\n {4}waited :done, [\d-]+ [\d:.]+, [\d-]+ [\d:.]+\n {4}held :active, [\d-]+ [\d:.]+, [\d-]+ [\d:.]+\n```\n$/,
  );
  expect(await stage.locks()).toEqual([]);
});

test('a lock that a waiting step could not roll back at once does not block the step itself', async () => {
  const stage = await openStage();
  await stage.take('b');
  const proxy = await stage.proxy({ ...pathByPath, retryAfter: null });
  proxy.meet(once(isReleasing, { kind: 'answer', status: 502 }, { kind: 'answer', status: 502 }));
  const job = await stage.job();
  const step = await job.step(locking(['a', 'b'], { wait: '10m', retries: '0' }));
  await step.waitForLog('Waiting, 10 min left');
  expect((await stage.locks()).map(({ path }) => path)).toEqual(['a', 'b']);
  await stage.release('b');
  await expect(step.finished).resolves.toMatchObject({ conclusion: 'success', outputs: { count: '2' } });
  await expect(job.post()).resolves.toMatchObject([{ annotations: [] }]);
  expect(await stage.locks()).toEqual([]);
});

const jobCount = runs(everyForm ? 8 : 4, 32);

test(`${jobCount} jobs that wait for one path all get it, one at a time, and spread their requests`, {
  timeout: 600_000,
}, async () => {
  const times = soak ? 1 : 8;
  const stage = await openStage();
  const theirs = await stage.take(hero);
  const proxy = await stage.proxy();
  const jobs: Job[] = [];
  for (let number = 0; number < jobCount; number += 1) jobs.push(await stage.job({ timeoutMs: 300_000 }));
  const held: { readonly from: number; readonly to: number; readonly fence: number }[] = [];
  const serve = async (job: Job): Promise<void> => {
    const env = times === 1 ? {} : { NODE_OPTIONS: fasterTime(times) };
    await expect(job.run({ ...locking(hero, { wait: '2h' }), env })).resolves.toMatchObject({ conclusion: 'success' });
    const from = performance.now();
    const fence = (await stage.lockOn(hero))?.fence ?? 0;
    const post = await job.nextPost();
    const to = performance.now();
    await expect(post?.finished).resolves.toMatchObject({ conclusion: 'success', annotations: [] });
    held.push({ from, to, fence });
  };
  const served = Promise.all(jobs.map(serve));
  await expect
    .poll(() => new Set(pollsOf(proxy).map(({ headers }) => headers.referer)).size, { timeout: 60_000 })
    .toBe(jobCount);
  const quietFrom = performance.now();
  await stage.release(theirs.path);
  await served;

  const inTurn = held.toSorted((one, other) => one.from - other.from);
  const outOfTurn = inTurn.filter(({ from, fence }, index) => {
    const before = inTurn[index - 1];
    return before !== undefined && (from <= before.to || fence <= before.fence);
  });
  const polls = pollsOf(proxy).filter(({ at }) => at > quietFrom);
  const seconds = (performance.now() - quietFrom) / 1_000;
  const mostInASecond = Math.max(
    ...polls.map(({ at }) => polls.filter((one) => one.at >= at && one.at < at + 1_000 / times).length),
  );
  measured('jobs that waited for one path and acquired it', inTurn.length, { exactly: jobCount });
  measured(
    'waiting jobs that held the path concurrently, or with a lower fence',
    outOfTurn.length,
    { exactly: 0 },
    JSON.stringify(inTurn),
  );
  // A busy machine delays requests and lets them through together, so only tests of the pauses check how they are
  // spread.
  measured('requests of waiting jobs in the busiest second', mostInASecond, { atMost: 2 * jobCount });
  // One request per job succeeds. The start of the processes does not run in faster time, and so delays the next job.
  measured('unsuccessful requests of waiting jobs per second', (polls.length - inTurn.length) / (seconds * times), {
    atMost: jobCount / 2,
  });
});
