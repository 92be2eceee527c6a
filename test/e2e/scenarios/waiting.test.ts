import { expect, test } from 'vitest';
import { type FaultProxy, isLocking, type Passing } from '../../support/fault-proxy.ts';
import { measured } from '../../support/measured.ts';
import { fasterTime } from '../../support/preload.ts';
import { hero, locking, openWithProxy, useService } from './stage.ts';

useService();

const pollsOf = (proxy: FaultProxy) => proxy.passed.filter(isLocking);

test('a wait of one second for a path that is held for an hour ends within one and a half seconds', async () => {
  const { stage, proxy, job } = await openWithProxy();
  await stage.take(hero, { origin: 'https://ci.example.com/runs/7' });
  // One second is short on a busy machine: for this process, time passes slower.
  const times = 1 / 10;
  const result = await job.run({ ...locking(hero, { wait: '1s' }), env: { NODE_OPTIONS: fasterTime(times) } });
  const tookMs = result.durationMs * times;
  measured('a wait of one second took (ms)', tookMs, { atMost: 1_500 });
  expect(tookMs).toBeGreaterThan(600);
  expect(pollsOf(proxy).length).toBeGreaterThanOrEqual(2);
  expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'held', holder: 'build-bot' } });
  expect(result.annotations[0]?.message).toMatch(
    / You are number 1 of 1 in line\. Waited 1s for it\. Increase `wait` /,
  );
});

test('a wait of ten minutes survives a 502, a cut connection and a 429, and gets the lock', async () => {
  const { stage, proxy, job } = await openWithProxy({ retryAfter: null, waitsForNothing: true });
  const theirs = await stage.take(hero, { origin: 'https://ci.example.com/runs/7' });
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
  expect(result.log).toMatch(/is held by build-bot until .* UTC \(in .*, since .* UTC \(.*\)\. Waiting, 10 min left\./);
  const [post] = await job.post();
  expect(post?.summary).toMatch(/<\/table>\n\n```mermaid\n(.*\n)+ {4}waited :done, .*\n {4}held :active, .*\n```\n$/);
  expect(await stage.locks()).toEqual([]);
});
