import { expect, test } from 'vitest';
import { isLocking, pathByPath } from '../../support/fault-proxy.ts';
import { locking, openStage, useService } from './stage.ts';

useService();

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
