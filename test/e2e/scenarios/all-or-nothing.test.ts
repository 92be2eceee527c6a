import { expect, test } from 'vitest';
import { isLocking, isReleasing, type Passing, pathByPath } from '../../support/fault-proxy.ts';
import { fasterTime } from '../../support/preload.ts';
import { everyForm } from '../../support/runs.ts';
import { locking, manyPaths, openStage, useService } from './stage.ts';

useService();

/** The first request asks for a lease, which the service does not know. */
const isLockingOne = (passing: Passing): boolean => isLocking(passing) && passing.method === 'POST';

const [many, beforeHeld, granted] = everyForm ? [1_000, 809, 300] : [200, 119, 60];

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
  // The other connections send requests until the response for the held path arrives.
  expect(taken.length).toBeLessThan(many * 0.95);
  expect(new Set(released.map(({ path }) => path))).toEqual(new Set(taken.map(({ path }) => path)));
  expect(await stage.locks()).toEqual([theirs]);

  expect(result).toMatchObject({
    conclusion: 'failure',
    outputs: { status: 'held', acquired: 'false', holder: 'grace', count: '0', locks: '[]' },
  });
  expect(result.log).toContain(
    `${taken.length} of ${many.toLocaleString('en')} paths had been locked; ${taken.length} were released again.`,
  );
  expect(result.annotations).toMatchObject([
    {
      level: 'error',
      message: expect.stringMatching(
        `^${theirs.path} is held by grace until (\\d{4}-\\d\\d-\\d\\d )?\\d\\d:\\d\\d UTC \\(in .*\\), locked in https://ci\\.example\\.com/runs/7\\. Set \`wait\` to`,
      ),
    },
  ]);
  await expect(job.post()).resolves.toMatchObject([{ log: 'Nothing was left to release at the end of the job.' }]);
});

test('the post-step of a job that was killed after some of very many grants releases all of them', async () => {
  const stage = await openStage();
  const proxy = await stage.proxy(pathByPath);
  const enough = Promise.withResolvers<void>();
  let count = 0;
  proxy.meet((passing) => {
    if (!isLockingOne(passing)) return undefined;
    count += 1;
    if (count <= granted) return undefined;
    enough.resolve();
    return { kind: 'silence' };
  });
  const job = await stage.job();
  const step = await job.step(locking(manyPaths(many)));
  await enough.promise;
  await expect.poll(() => stage.locks()).toHaveLength(granted);
  await step.kill();
  const ours = await stage.locks();
  expect(ours).toHaveLength(granted);
  const theirs = await stage.take(manyPaths(many).at(-5) ?? '');

  proxy.meet(() => undefined);
  const before = proxy.passed.length;
  await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success', annotations: [] }]);
  const inPost = proxy.passed.slice(before);
  const released = inPost.filter((one) => isReleasing(one) && one.status === 204);
  // The post-step repeats unanswered requests with their keys, to make sure that their paths are not held.
  const askedAgain = inPost.filter(isLocking);
  expect(askedAgain.length).toBeLessThanOrEqual(16);
  expect(new Set(released.map(({ headers }) => headers['if-match']))).toEqual(
    new Set([...ours.map(({ id }) => `"${id}"`), ...askedAgain.map(({ response }) => `"${JSON.parse(response).id}"`)]),
  );
  expect(await stage.locks()).toEqual([theirs]);
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
    /^The lock on a expired at .*, before all 2 paths were locked\. Increase `ttl`/,
  );
  await job.post();
  expect(await stage.locks()).toEqual([]);
});
