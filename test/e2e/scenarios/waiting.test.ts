import { expect, test } from 'vitest';
import { type FaultProxy, isLocking, isReleasing, once, type Passing, pathByPath } from '../../support/fault-proxy.ts';
import { measured } from '../../support/measured.ts';
import { fasterTime } from '../../support/preload.ts';
import { locking, openStage, useService } from './stage.ts';

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
