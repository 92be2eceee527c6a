import { describe, expect, test } from 'vitest';
import { type FaultProxy, isReleasing, pathByPath } from '../../support/fault-proxy.ts';
import { forms } from '../../support/runs.ts';
import { storeLocks } from '../../support/stored-rows.ts';
import { allManners } from './faults.ts';
import { locking, manyPaths, unlocking } from './place.ts';
import { openStage, useService } from './stage.ts';

useService();

const hero = 'Content/Hero.uasset';
const checking = (inputs: Readonly<Record<string, string>> = {}) => ({ with: { operation: 'check', ...inputs } });

describe.each(forms(allManners, 0, 3))('with a service that %s', (_, manner) => {
  test('reports locks that nobody has taken over as kept, and changes nothing', async () => {
    const stage = await openStage();
    const proxy = await stage.proxy(manner);
    const job = await stage.job();
    await job.run(locking([hero, 'b']));
    const locks = await stage.locks();
    const before = proxy.passed.length;
    const result = await job.run(checking());
    expect(result, result.log).toMatchObject({ conclusion: 'success', outputs: { status: 'kept', count: '2' } });
    expect(new Set(proxy.passed.slice(before).map(({ method }) => method))).toEqual(new Set(['GET']));
    expect(await stage.locks()).toEqual(locks);
    await job.post();
    expect(await stage.locks()).toEqual([]);
  });

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

test('reports an expired lock as lost, and suggests a longer ttl', async () => {
  const stage = await openStage();
  const clock = await stage.clock();
  const job = await stage.job();
  await job.run(locking([hero], { ttl: '1h' }));
  await clock.pass(3_600_000);
  expect(await stage.locks()).toEqual([]);
  await expect(job.run(checking())).resolves.toMatchObject({
    outputs: { status: 'lost' },
    annotations: [{ message: expect.stringMatching(/It expired at .*; a longer `ttl` would have prevented that\./) }],
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

/** Returns the URLs of the requests of a check. */
async function asked(proxy: FaultProxy, check: () => Promise<unknown>): Promise<readonly URL[]> {
  const before = proxy.passed.length;
  await check();
  return proxy.passed.slice(before).map(({ url }) => new URL(url, proxy.baseUrl));
}

const inFolders = Array.from({ length: 50 }, (_, index) => `Content/${index}/Hero.uasset`);
const manyLocks: readonly (readonly [what: string, paths: readonly string[], pages: number])[] = [
  ['1,000 locks of a folder', manyPaths(1_000), 1],
  ['50 locks in 50 folders', inFolders, 1],
  ['1,200 locks of a folder', manyPaths(1_200), 2],
];

test.each(forms(manyLocks, 1))('checks %s with one request per page of a thousand locks', async (_, paths, pages) => {
  const stage = await openStage();
  const proxy = await stage.proxy(pathByPath);
  const job = await stage.job();
  await job.run(locking(paths));
  const targets = await asked(proxy, async () =>
    expect(await job.run(checking())).toMatchObject({
      conclusion: 'success',
      outputs: { status: 'kept', count: String(paths.length) },
    }),
  );
  expect(targets).toHaveLength(pages);
  for (const { searchParams } of targets) {
    expect(searchParams.get('prefix')).toBe('Content/');
    expect(Number(searchParams.get('limit'))).toBeLessThanOrEqual(1_000);
  }
});

test('looks up a few locks by path, after one page, if others hold a thousand locks in their folder', async () => {
  const stage = await openStage();
  const { workspace: workspace_id, service } = stage;
  await storeLocks(service.storage, ...manyPaths(1_000).map((path) => ({ workspace_id, path })));
  const proxy = await stage.proxy(pathByPath);
  const job = await stage.job();
  const paths = ['Content/y.uasset', 'Content/z.uasset'];
  await job.run(locking(paths));
  const targets = await asked(proxy, async () =>
    expect(await job.run(checking())).toMatchObject({ conclusion: 'success', outputs: { count: '2' } }),
  );
  expect(targets.map(({ searchParams }) => searchParams.get('path'))).toEqual([null, ...paths]);
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

test('retries a service that is down for less than the retries', async () => {
  const stage = await openStage();
  const proxy = await stage.proxy();
  const job = await stage.job();
  await job.run(locking(hero));
  let met = 0;
  proxy.meet(() => (met++ < 2 ? { kind: 'cut' } : undefined));
  expect(await job.run(checking())).toMatchObject({ conclusion: 'success', outputs: { status: 'kept', count: '1' } });
  expect(met).toBe(3);
});
