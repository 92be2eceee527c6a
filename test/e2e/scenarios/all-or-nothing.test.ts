import { expect, test } from 'vitest';
import { isLocking, isReleasing, pathByPath } from '../../support/fault-proxy.ts';
import { fasterTime } from '../../support/preload.ts';
import { locking, manyPaths, openStage, useService } from './stage.ts';

useService();

const [many, beforeHeld] = [200, 119];

test('rolls back the other locks if one of very many paths is held, and names the holder', async () => {
  const stage = await openStage();
  const paths = manyPaths(many);
  const theirs = await stage.takenByGrace(paths[beforeHeld] ?? '');
  const proxy = await stage.proxy(pathByPath);
  // A rollback is limited to a few seconds, which are short on a busy machine: time passes ten times slower here.
  const job = await stage.job({ env: { NODE_OPTIONS: fasterTime(1 / 10) } });
  const result = await job.run(locking(paths));

  const taken = proxy.passed.filter((one) => isLocking(one) && one.status === 201);
  const released = proxy.passed.filter((one) => isReleasing(one) && one.status === 204);
  expect(taken.length).toBeGreaterThanOrEqual(beforeHeld);
  expect(new Set(released.map(({ path }) => path))).toEqual(new Set(taken.map(({ path }) => path)));
  expect(await stage.locks()).toEqual([theirs]);

  expect(result).toMatchObject({
    conclusion: 'failure',
    outputs: { status: 'held', acquired: 'false', holder: 'grace', count: '0', locks: '[]' },
  });
  expect(result.annotations[0]?.message).toMatch(new RegExp(`^${theirs.path} is held by grace until `));
  await expect(job.post()).resolves.toMatchObject([{ log: 'Nothing was left to release at the end of the job.' }]);
});

test('fails the step if the ttl expires before all paths are locked, and leaves nothing locked', async () => {
  const stage = await openStage();
  const clock = await stage.clock();
  const proxy = await stage.proxy(pathByPath);
  const passTtl = async (): Promise<void> => {
    await expect.poll(() => proxy.passed.some(({ path, status }) => path === 'a' && status === 201)).toBe(true);
    // Longer than the ttl, but shorter than the timeout of a request.
    await clock.pass(11_000);
  };
  proxy.meet((passing) =>
    isLocking(passing) && passing.path === 'z' ? { kind: 'held-back', until: passTtl() } : undefined,
  );
  const job = await stage.job();
  const result = await job.run(locking(['a', 'z'], { ttl: '10s' }));
  expect(result).toMatchObject({ conclusion: 'failure', outputs: { acquired: 'false' } });
  expect(result.annotations[0]?.message).toMatch(
    /^The lock on a expired at .*, before all paths were locked\. Increase `ttl`/,
  );
  await job.post();
  expect(await stage.locks()).toEqual([]);
});
