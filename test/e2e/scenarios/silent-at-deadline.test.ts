import { expect, test } from 'vitest';
import { isLocking, type Passing, pathByPath } from '../../support/fault-proxy.ts';
import { measured } from '../../support/measured.ts';
import { locking, openStage, type Stage, soak, useService } from './stage.ts';

useService();

const waitSeconds = 6;

/** Path `b` is released while the step waits for it. From the lock request with this number on, nothing is answered. */
async function silentFrom(stage: Stage, number: number, done: boolean): Promise<{ readonly asked: number }> {
  const [a, b, c] = ['a', 'b', 'c'].map((name) => `${number}-${done}/${name}`);
  const paths = [a ?? '', b ?? '', c ?? ''];
  const theirs = await stage.take(paths[1] ?? '', { token: stage.graces });
  const proxy = await stage.proxy(pathByPath);
  const job = await stage.job({ proxy });
  const step = await job.step(locking(paths, { wait: `${waitSeconds}s` }));
  const began = performance.now();
  await step.waitForLog(/Waiting/);
  let asked = 0;
  let silent = false;
  proxy.meet((passing: Passing) => {
    if (isLocking(passing)) asked += 1;
    // Later requests get no response either. With `done`, all of them take effect.
    if (asked >= number) silent = true;
    if (!silent) return undefined;
    return { kind: done ? 'done-then-silence' : 'silence' };
  });
  await stage.release(theirs.path);
  const result = await step.finished;
  measuredEnd((performance.now() - began) / 1_000);
  if (silent) expect(result, result.log).toMatchObject({ conclusion: 'failure', outputs: { acquired: 'false' } });

  proxy.meet(() => undefined);
  const [post] = await job.post();
  expect(post, post?.log).toMatchObject({ conclusion: 'success', annotations: [] });
  const prefix = `${number}-${done}/`;
  expect(
    (await stage.locks()).filter(({ path }) => path.startsWith(prefix)),
    result.log,
  ).toEqual([]);
  return { asked };
}

const measuredEnd = (seconds: number): void =>
  measured('time beyond the wait of a step if the service stops responding (s)', Math.max(0, seconds - waitSeconds), {
    atMost: 20,
  });

test('an unresponsive service delays a step by at most ten seconds beyond its wait, and leaves no lock behind', async () => {
  const stage = await openStage();
  const numbers = soak ? [1, 2, 3, 4, 5] : [3];
  const all = await Promise.all(
    numbers.flatMap((number) => [silentFrom(stage, number, true), silentFrom(stage, number, false)]),
  );
  expect(all.some(({ asked }) => asked > 1)).toBe(true);
});
