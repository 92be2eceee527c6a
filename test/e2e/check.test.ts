import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { errorsOf, openScene } from './scene.ts';
import { stable } from './stable.ts';

const scene = openScene();

const check = (inputs: Readonly<Record<string, string>> = {}) => ({ with: { operation: 'check', ...inputs } });

async function lockedJob(path: string, inputs: Readonly<Record<string, string>> = {}) {
  const workspace = await scene.service.workspace();
  const job = await scene.job({ workspace, name: 'build-bot', scopes: ['locks:write'] });
  const { outputs } = await job.run({ with: { operation: 'lock', path, ...inputs } });
  return { workspace, job, locks: outputs['locks'] ?? '', file: outputs['locks_file'] ?? '' };
}

test('reports the locks of all steps of a job as kept', async () => {
  const { job, locks } = await lockedJob('Content/Hero.uasset');
  await job.run({ with: { operation: 'lock', path: 'Content/Other.uasset\nContent/Third.uasset', ttl: '2h' } });
  await job.run({ with: { operation: 'unlock', path: 'Content/Third.uasset' } });
  const result = await job.run(check());
  expect(result).toMatchObject({ conclusion: 'success', annotations: [], state: {} });
  expect(result.outputs).toMatchObject({ status: 'kept', count: '2' });
  const [hero] = JSON.parse(locks);
  expect(JSON.parse(result.outputs['locks'] ?? '')).toMatchObject([hero, { path: 'Content/Other.uasset', fence: 2 }]);
  expect(result.log).toMatch(/^##\[group\]This job still holds 2 of 2 locks in /);
});

test('fails the step for a lost lock, names the current holder, and outputs the kept locks', async () => {
  const { workspace, job } = await lockedJob('a\nb\nc');
  await scene.release(workspace, 'b');
  await scene.lock(workspace, 'b');
  await scene.release(workspace, 'c');
  const result = await job.run(check());
  expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1 });
  expect(result.outputs).toMatchObject({ status: 'lost', count: '1' });
  expect(JSON.parse(result.outputs['locks'] ?? '')).toMatchObject([{ path: 'a', type: 'exclusive' }]);
  expect(errorsOf(result)).toEqual([
    expect.stringMatching(/^This job lost its lock on b\. .* b is held by grace until /),
    expect.stringMatching(/^This job lost its lock on c\. .* Nobody holds c now\.$/),
  ]);
  expect(result.summary).toContain('<tr><td>b</td><td>lost</td><td>grace</td>');
  expect(await scene.locked(workspace)).toEqual(['a', 'b']);
});

describe('a check without locks', () => {
  test.each([
    ['a job that has locked nothing', []],
    ['a job that has released all its locks', ['lock', 'unlock']],
  ])('fails for %s', async (_, before) => {
    const job = await scene.job({ workspace: await scene.service.workspace() });
    for (const operation of before) await job.run({ with: { operation, path: 'a' } });
    const result = await job.run(check());
    expect(result).toMatchObject({ conclusion: 'failure', outputs: { count: '0', locks: '[]' } });
    expect(result.outputs['status']).toBeUndefined();
    expect(errorsOf(result)).toEqual([
      'This job holds no lock in <workspace>, so there is nothing to check. Lock something before this step, or pass locks of another job with `locks` or `locks-file`.',
    ]);
  });

  test('succeeds for an empty list', async () => {
    const job = await scene.job({ workspace: await scene.service.workspace() });
    const file = join(job.folders.temp, 'locks.json');
    await writeFile(file, '[]');
    for (const inputs of [{ locks: '[]' }, { 'locks-file': file }]) {
      const result = await job.run(check(inputs));
      expect(result).toMatchObject({ conclusion: 'success', outputs: { status: 'kept', count: '0', locks: '[]' } });
      expect(stable(result.log)).toBe('This job still holds 0 of 0 locks in <workspace>.');
    }
  });
});

test('a check with a damaged ledger fails for the job, but still accepts a list of its locks', async () => {
  const { job, locks } = await lockedJob('a');
  await writeFile(join(job.folders.temp, 'workspace-automation', 'ledger.jsonl'), '\n{"kind":"gra', { flag: 'a' });
  const result = await job.run(check());
  expect(result).toMatchObject({ conclusion: 'failure', outputs: {} });
  expect(errorsOf(result)).toEqual([expect.stringMatching(/^Part of the ledger in .* cannot be read/)]);
  expect(await job.run(check({ locks }))).toMatchObject({ conclusion: 'success', outputs: { status: 'kept' } });
});
