import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkOut, errorsOf, openScene, type SceneJob } from './scene.ts';

const scene = openScene();

const unlock = (job: SceneJob, given: Readonly<Record<string, string>> = {}) =>
  job.run({ with: { operation: 'unlock', ...given } });

const check = (job: SceneJob, given: Readonly<Record<string, string>> = {}) =>
  job.run({ with: { operation: 'check', ...given } });

test('check and unlock take service and workspace from the locks of the job', async () => {
  const workspace = await scene.service.workspace();
  // Its environment has neither a service nor a workspace.
  const job = await scene.job({ env: { WORKSPACE_BASE_URL: '' } });
  const place = { 'base-url': `${scene.service.baseUrl}/v1`, workspace };
  const { outputs } = await job.run({ with: { operation: 'lock', ...place, path: 'a\nb\nc\nd' } });
  expect(await check(job)).toMatchObject({ conclusion: 'success', outputs: { status: 'kept', count: '4' } });
  const locks = outputs['locks'] ?? '';
  expect(await check(job, { locks })).toMatchObject({ conclusion: 'success', outputs: { count: '4' } });
  expect(await unlock(job, { path: 'a' })).toMatchObject({ conclusion: 'success', outputs: { released: '["a"]' } });
  expect(await unlock(job, { locks: JSON.stringify(JSON.parse(locks).slice(1, 2)) })).toMatchObject({
    outputs: { released: '["b"]' },
  });
  expect(await unlock(job)).toMatchObject({ conclusion: 'success', outputs: { released: '["c","d"]' } });
  expect(await scene.locked(workspace)).toEqual([]);
  for (const post of await job.post()) expect(post).toMatchObject({ conclusion: 'success', annotations: [] });
});

describe('unlock without `path`, `locks` and `locks-file`', () => {
  const heldJob = async (path: string) => {
    const workspace = await scene.service.workspace();
    const job = await scene.job({ workspace });
    await job.run({ with: { operation: 'lock', path } });
    return { workspace, job };
  };

  test('releases all locks of the job, of every step, and nothing else', async () => {
    const { workspace, job } = await heldJob('a\nb');
    await checkOut(job, 'a', 'b', 'c');
    await job.run({ with: { operation: 'lock', path: 'c', 'auto-release': 'false' } });
    await scene.lock(workspace, 'd');
    const result = await unlock(job);
    expect(result).toMatchObject({ conclusion: 'success', annotations: [] });
    expect(result.outputs).toEqual({ status: 'released', released: '["a","b","c"]' });
    expect(await scene.locked(workspace)).toEqual(['d']);
    for (const post of await job.post()) expect(post).toMatchObject({ conclusion: 'success', annotations: [] });
  });

  test('succeeds if the job has already released its locks, or did not get them', async () => {
    const { workspace, job } = await heldJob('a');
    await unlock(job);
    const released = await unlock(job);
    expect(released).toMatchObject({ conclusion: 'success', outputs: { status: 'absent', released: '[]' } });
    expect(released.log).toContain('Released 0 locks in ');
    await scene.lock(workspace, 'b');
    const refused = await scene.job({ workspace });
    await refused.run({ with: { operation: 'lock', path: 'b' } });
    expect(await unlock(refused)).toMatchObject({ conclusion: 'success', outputs: { status: 'absent' } });
    expect(await scene.locked(workspace)).toEqual(['b']);
  });

  test('releases the readable locks of a damaged ledger, and fails because there may be more', async () => {
    const { workspace, job } = await heldJob('a');
    await writeFile(join(job.folders.temp, 'workspace-automation', 'ledger.jsonl'), '\n{"kind":"gra', { flag: 'a' });
    const result = await unlock(job);
    expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'released', released: '["a"]' } });
    expect(errorsOf(result)).toEqual([
      expect.stringMatching(/^Part of the ledger in .* cannot be read\. This job may have more locks:/),
    ]);
    expect(await scene.locked(workspace)).toEqual([]);
  });
});
