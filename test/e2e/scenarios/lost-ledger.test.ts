import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isLocking, isReleasing } from '../../support/fault-proxy.ts';
import type { Job } from '../../support/runner/job.ts';
import { ledgerOf } from './ledger.ts';
import { locking, manyPaths, openWithJob, openWithProxy, unlocking, useService } from './stage.ts';

useService();

const folderOf = (job: Job): string => join(job.folders.temp, 'workspace-automation');
const loseFolder = (job: Job) => rm(folderOf(job), { recursive: true });
/** Keeps only the first lines, so that the rest of the ledger is valid and shows no sign of the missing lines. */
async function shortenLedger(job: Job) {
  const lines = (await readFile(ledgerOf(job), 'utf8')).split('\n');
  await writeFile(ledgerOf(job), `${lines.slice(0, 2).join('\n')}\n`);
}

const damages: readonly (readonly [string, (job: Job) => Promise<unknown>])[] = [
  ['is deleted with its folder', loseFolder],
  ['is truncated after a line', shortenLedger],
];

describe.each(damages)('when the ledger %s', (_, damage) => {
  test('the post-step reports that, and releases all locks that it can identify', async () => {
    const { stage, job } = await openWithJob();
    await job.run(locking(manyPaths(20)));
    await damage(job);
    const [post] = await job.post();
    expect(post).toMatchObject({ conclusion: 'success' });
    expect(post?.annotations).toMatchObject([
      { level: 'warning', message: expect.stringMatching(/ledger.*stay until their ttl expires/s) },
    ]);
    expect(post?.log).toContain('Released 20 locks');
    expect(await stage.locks()).toEqual([]);
  });

  test('a lease is released to the end after a later step has unlocked its first path', async () => {
    const { stage, job } = await openWithJob();
    const locked = await job.run(locking(['a', 'b', 'c']));
    await damage(job);
    const [first] = JSON.parse(locked.outputs['locks'] ?? '[]');
    await job.run({ with: { operation: 'unlock', locks: JSON.stringify([first]) } });
    await job.post();
    expect(await stage.locks()).toEqual([]);
  });

  test('a lock that was already unlocked, and now belongs to another job, is left alone', async () => {
    const { stage, job } = await openWithJob();
    await job.run(locking(['a', 'b']));
    await job.run(unlocking({ path: 'a' }));
    const theirs = await stage.take('a');
    await damage(job);
    const [, post] = await job.post();
    expect(post).toMatchObject({ conclusion: 'success' });
    expect(post?.annotations.filter(({ level }) => level === 'error')).toEqual([]);
    expect(await stage.locks()).toEqual([theirs]);
  });

  test('a lock without an ETag that may belong to another job is left alone', async () => {
    const { stage, proxy, job } = await openWithProxy({ givesNoProof: true, saysNothing: true, looksAlike: true });
    await job.run(locking('a'));
    await damage(job);
    const [post] = await job.post();
    expect(post).toMatchObject({ conclusion: 'success' });
    expect(proxy.passed.filter(isReleasing)).toEqual([]);
    expect(post?.annotations.map(({ level }) => level)).toEqual(['warning', 'warning']);
    expect(await stage.locks()).toHaveLength(1);
  });
});

test('the locks of a killed step are reported as unknown if its ledger ends before its requests', async () => {
  const { stage, proxy, job } = await openWithProxy();
  proxy.meet((passing) => (isLocking(passing) ? { kind: 'done-then-silence' } : undefined));
  const step = await job.step(locking('a'));
  await expect.poll(() => stage.locks()).toHaveLength(1);
  await step.kill();
  await shortenLedger(job);
  await expect(job.post()).resolves.toMatchObject([
    { annotations: [{ level: 'warning', message: expect.stringMatching(/lacks entries.*ttl expires\.$/) }] },
  ]);
});

test('with a truncated line, a loss that an unlock has found is not reported again at the end of the job', async () => {
  const { stage, job } = await openWithJob();
  await job.run(locking(['a', 'b']));
  await stage.expire('a');
  await job.run(unlocking({ path: 'a' }));
  const theirs = await stage.takenByGrace('a');
  await appendFile(ledgerOf(job), '{"kind":"granted"');
  const [, post] = await job.post();
  expect(post).toMatchObject({ conclusion: 'success', log: expect.stringContaining('Released 1 lock') });
  expect(await stage.locks()).toEqual([theirs]);
});

test('with a truncated ledger, an unlock of a path leaves alone a lock that may belong to someone else', async () => {
  const { stage, job } = await openWithJob();
  const theirs = await stage.take('a');
  await expect(job.run(locking(['a', 'b']))).resolves.toMatchObject({ outputs: { status: 'held' } });
  const text = await readFile(ledgerOf(job), 'utf8');
  await writeFile(ledgerOf(job), text.slice(0, text.length / 2));
  await expect(job.run(unlocking({ path: 'a' }))).resolves.toMatchObject({ outputs: { released: '[]' } });
  expect(await stage.locks()).toEqual([theirs]);
});

test('a ledger that was deleted and recreated by another step does not hide the locks of the first step', async () => {
  const { stage, job } = await openWithJob();
  await job.run(locking('a'));
  await loseFolder(job);
  await job.run(locking('b'));
  const [second, first] = await job.post();
  expect(second).toMatchObject({ conclusion: 'success', annotations: [] });
  expect(first?.annotations).toMatchObject([{ level: 'warning', message: expect.stringContaining('lacks entries') }]);
  expect(await stage.locks()).toEqual([]);
});

test('the saved state of a step with many locks is short, and releases all of them without the ledger', async () => {
  const { stage, job } = await openWithJob();
  const { state } = await job.run(locking(manyPaths(200)));
  // Windows limits an environment string to this length.
  expect((state['locks'] ?? '').length).toBeLessThan(32_767);
  await rm(ledgerOf(job));
  const [post] = await job.post();
  expect(post).toMatchObject({ conclusion: 'success', annotations: [{ level: 'warning' }] });
  expect(post?.log).toContain('Released 200 locks');
  expect(await stage.locks()).toEqual([]);
});
