import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isLocking, isReleasing, once, type Passing, pathByPath, refusal } from '../../support/fault-proxy.ts';
import { fasterTime, preload } from '../../support/preload.ts';
import { ledgerOf } from './ledger.ts';
import { locking, openStage, openWithJob, openWithProxy, unlocking, useService } from './stage.ts';

useService();

const keeping = { 'auto-release': 'false' };

const numbered = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, number) => `Content/Maps/Level-${String(number).padStart(4, '0')}.umap`);

/** Fields of the locks in the output. */
const fieldsOf = (locks: string): readonly string[] => [...new Set(JSON.parse(locks).flatMap(Object.keys))].map(String);

test('another job identifies and releases exactly the locks of a list that was shortened to fit the output', async () => {
  const stage = await openStage();
  const paths = numbered(250);
  const first = await stage.job();
  const { outputs, annotations } = await first.run(locking(paths, keeping));
  await first.post();
  expect(annotations).toEqual([]);
  const { locks = '' } = outputs;
  expect(locks.length).toBeLessThanOrEqual(30_000);
  expect(fieldsOf(locks)).toEqual(['path', 'id']);
  await stage.take('d');
  const second = await stage.job();
  expect(await second.run({ with: { operation: 'check', locks } })).toMatchObject({
    outputs: { status: 'kept', count: '250' },
  });

  const [lost = '', ...others] = paths;
  await stage.release(lost);
  const theirs = await stage.take(lost);
  const result = await second.run(unlocking({ locks }));
  expect(result.outputs).toMatchObject({ status: 'lost', released: JSON.stringify(others) });
  expect(await stage.locks()).toEqual([theirs, expect.objectContaining({ path: 'd' })]);
  const next = await stage.take(others[0] ?? '');
  // Only the lock that was lost before is reported again: the job itself released the other one.
  const again = await second.run(unlocking({ locks }));
  expect(again.outputs).toMatchObject({ status: 'lost', released: '[]' });
  expect(again.annotations.map(({ level }) => level)).toEqual(['warning', 'error']);
  expect(await stage.locks()).toEqual([theirs, next, expect.objectContaining({ path: 'd' })]);
});

/** A lease of another job, and a job whose first unlock of it is refused. */
async function openRefused() {
  const { stage, proxy, job } = await openWithProxy();
  const paths = numbered(40);
  const { outputs } = await job.run(locking(paths, keeping));
  const second = await stage.job();
  proxy.meet(once(isReleasing, refusal(403)));
  return { stage, proxy, paths, second, unlock: unlocking({ locks: outputs['locks'] ?? '' }) };
}

test('a job that released a lease of another job does not report a later lock on its paths as a loss', async () => {
  const { stage, proxy, paths, second, unlock } = await openRefused();
  await expect(second.run(unlock)).resolves.toMatchObject({ outputs: { status: 'held', released: '[]' } });
  await expect(second.run(unlock)).resolves.toMatchObject({ outputs: { released: JSON.stringify(paths) } });
  expect(proxy.passed.filter(isReleasing).map(({ url }) => url)).toEqual(
    Array(2).fill(expect.stringContaining('/leases/')),
  );
  const theirs = await stage.take(paths[0] ?? '');
  await expect(second.run(unlock)).resolves.toMatchObject({
    conclusion: 'success',
    outputs: { status: 'held', released: '[]' },
  });
  expect(await stage.locks()).toEqual([theirs]);
});

test('a loss of a lease is reported after a release that was refused', async () => {
  const { stage, paths, second, unlock } = await openRefused();
  await second.run(unlock);
  const [lost = '', ...others] = paths;
  await stage.release(lost);
  await stage.take(lost);
  await expect(second.run(unlock)).resolves.toMatchObject({
    conclusion: 'failure',
    outputs: { status: 'lost', released: JSON.stringify(others) },
  });
});

/** Kills the process as soon as it has written this text to the file named by the variable. */
const killedHavingWritten = (text: string, variable: string): string =>
  preload(`
    import { syncBuiltinESMExports } from 'node:module';
    import fs from 'node:fs';
    const append = fs.appendFileSync;
    // Before a kept process takes another id for its next step.
    const { pid } = process;
    fs.appendFileSync = (file, data, ...given) => {
      append(file, data, ...given);
      if (file === process.env.${variable} && data.includes(${JSON.stringify(text)})) process.kill(pid, 'SIGKILL');
    };
    syncBuiltinESMExports();
  `);

test('a job that is killed as soon as its locks outlive it has already output them', async () => {
  const { stage, job } = await openWithJob();
  const { outputs, signal } = await job.run({
    ...locking(['a', 'b'], keeping),
    env: { NODE_OPTIONS: killedHavingWritten('"outlivesJob":true', 'GITHUB_STATE') },
  });
  expect(signal).toBe('SIGKILL');
  await job.post();
  expect(await stage.locks()).toHaveLength(2);
  const second = await stage.job();
  await expect(second.run(unlocking({ locks: outputs['locks'] ?? '' }))).resolves.toMatchObject({
    outputs: { status: 'released', released: JSON.stringify(['a', 'b']) },
  });
});

test('a lock that an unanswered request may have taken, and that outlives the job, is reported by the step', async () => {
  const { proxy, job } = await openWithProxy(pathByPath);
  const held = { status: 409, headers: { 'content-type': 'application/json' }, body: '{"error":"It is locked"}' };
  const isPost = (passing: Passing): boolean => isLocking(passing) && passing.method === 'POST';
  proxy.meet(once(isPost, { kind: 'done-then-cut' }, { kind: 'answer', ...held }));
  const result = await job.run(locking(['a', 'b'], { ...keeping, any: '1', wait: '1m', retries: '0' }));
  expect(result).toMatchObject({ outputs: { status: 'acquired', count: '1' } });
  expect(result.annotations).toMatchObject([
    { level: 'warning', message: expect.stringMatching(/^[ab] may have been locked: /) },
  ]);
});

test('a lease that only a gateway refused, and that could not be ended, is reported if the locks outlive the job', async () => {
  const { proxy, job } = await openWithProxy();
  const page = { status: 404, headers: { 'content-type': 'application/json' }, body: '{"error":"Not found"}' };
  const first = once(isLocking, { kind: 'done-then-answer', ...page });
  proxy.meet((passing) => (isReleasing(passing) ? { kind: 'cut' } : first(passing)));
  const env = { NODE_OPTIONS: fasterTime(20) };
  const result = await job.run({ ...locking(['a', 'b', 'c'], { ...keeping, any: '1' }), env });
  expect(result).toMatchObject({ outputs: { status: 'acquired', count: '1' } });
  expect(result.annotations).toMatchObject([
    { level: 'warning', message: expect.stringContaining('A lock that is not in the outputs may stay') },
  ]);
});

test('locks of a lease outlive the job, even if the ledger is lost and one of them is released', async () => {
  const { stage, job } = await openWithProxy();
  await job.run(locking(['a', 'b', 'c'], keeping));
  rmSync(ledgerOf(job));
  await expect(job.run(unlocking({ path: 'a' }))).resolves.toMatchObject({ outputs: { released: '["a"]' } });
  await job.post();
  expect((await stage.locks()).map(({ path }) => path)).toEqual(['b', 'c']);
});

test('an unlock with `locks` that have only a path releases nothing', async () => {
  const { stage, job } = await openWithJob();
  const theirs = await stage.take('a');
  await expect(job.run(unlocking({ locks: '[{"path":"a"}]' }))).resolves.toMatchObject({
    outputs: { released: '[]' },
    annotations: [{ level: 'warning', message: expect.stringContaining('was left alone') }],
  });
  expect(await stage.locks()).toEqual([theirs]);
});
