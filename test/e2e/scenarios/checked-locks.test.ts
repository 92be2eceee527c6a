import { expect, test } from 'vitest';
import { isReleasing } from '../../support/fault-proxy.ts';
import { locking, openWithProxy, unlocking, useService } from './stage.ts';

useService();

const hero = 'Content/Hero.uasset';
const checking = (inputs: Readonly<Record<string, string>> = {}) => ({ with: { operation: 'check', ...inputs } });

test('ignores a lock whose release the job has started', async () => {
  const { stage, proxy, job } = await openWithProxy();
  await job.run(locking([hero, 'b']));
  proxy.meet((passing) => (isReleasing(passing) ? { kind: 'done-then-cut' } : undefined));
  await expect(job.run(unlocking({ path: hero, retries: '0' }))).resolves.toMatchObject({ conclusion: 'failure' });
  proxy.meet(() => undefined);
  await stage.takenByGrace(hero);
  expect(await job.run(checking())).toMatchObject({ conclusion: 'success', outputs: { status: 'kept', count: '1' } });
});

test('fails while the service is down, and reports locks neither as kept nor as lost', async () => {
  const { proxy, job } = await openWithProxy();
  await job.run(locking([hero, 'b']));
  proxy.down();
  const result = await job.run(checking({ retries: '1' }));
  expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1, outputs: {} });
  expect(result.annotations).toMatchObject([
    { message: expect.stringMatching(/^Could not determine whether this job still holds Content\/Hero\.uasset, b\. /) },
  ]);
  proxy.up();
  expect(await job.run(checking())).toMatchObject({ conclusion: 'success', outputs: { status: 'kept' } });
});
