import { describe, expect, test } from 'vitest';
import { type FaultProxy, isReleasing } from '../../support/fault-proxy.ts';
import { manners } from './faults.ts';
import { locking, openStage, unlocking, useService } from './stage.ts';

useService();

const hero = 'Content/Hero.uasset';
const checking = (inputs: Readonly<Record<string, string>> = {}) => ({ with: { operation: 'check', ...inputs } });

describe.each(manners)('with a service that %s', (_, manner) => {
  test('reports a lock released by force as lost, even if someone else has the path now', async () => {
    const stage = await openStage();
    await stage.proxy(manner);
    const job = await stage.job();
    await job.run(locking(['a', hero, 'c'], { 'on-lost': 'warn' }));
    await stage.release(hero);
    const gone = await job.run(checking());
    expect(gone, gone.log).toMatchObject({
      conclusion: 'failure',
      outputs: { status: 'lost', count: '2' },
      annotations: [{ level: 'error', message: expect.stringMatching(/^This job lost its lock on Content.*Nobody/) }],
    });
    const theirs = await stage.takenByGrace(hero);
    const taken = await job.run(checking());
    expect(taken, taken.log).toMatchObject({
      conclusion: 'failure',
      outputs: { status: 'lost', count: '2' },
      annotations: [{ message: expect.stringMatching(/ Content\/Hero\.uasset is held by grace\b/) }],
    });
    expect(await stage.lockOn(hero)).toEqual(theirs);
  });
});

test('ignores a lock whose release the job has started', async () => {
  const stage = await openStage();
  const proxy = await stage.proxy();
  const job = await stage.job();
  await job.run(locking([hero, 'b']));
  proxy.meet((passing) => (isReleasing(passing) ? { kind: 'done-then-cut' } : undefined));
  await expect(job.run(unlocking({ path: hero, retries: '0' }))).resolves.toMatchObject({ conclusion: 'failure' });
  proxy.meet(() => undefined);
  await stage.takenByGrace(hero);
  expect(await job.run(checking())).toMatchObject({ conclusion: 'success', outputs: { status: 'kept', count: '1' } });
});

test.each([
  ['down', (proxy: FaultProxy) => proxy.down()],
  ['broken', (proxy: FaultProxy) => proxy.meet(() => ({ kind: 'answer', status: 500 }))],
])('fails with a service that is %s, and reports locks neither as kept nor as lost', async (_, fail) => {
  const stage = await openStage();
  const proxy = await stage.proxy();
  const job = await stage.job();
  await job.run(locking([hero, 'b']));
  fail(proxy);
  const result = await job.run(checking({ retries: '1' }));
  expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1, outputs: {} });
  expect(result.annotations).toMatchObject([
    { message: expect.stringMatching(/^Could not determine whether this job still holds Content\/Hero\.uasset, b\. /) },
  ]);
  expect(Object.keys(result.outputs)).toEqual([]);
  proxy.up();
  proxy.meet(() => undefined);
  expect(await job.run(checking())).toMatchObject({ conclusion: 'success', outputs: { status: 'kept' } });
});
