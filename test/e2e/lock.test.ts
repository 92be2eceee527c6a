import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { everyForm } from '../support/runs.ts';
import { summaryShape } from '../support/summary-shape.ts';
import { checkOut, errorsOf, openScene } from './scene.ts';
import { stable } from './stable.ts';

const scene = openScene();

describe('a lock', () => {
  test('is acquired, and released when the job ends', async () => {
    const workspace = await scene.service.workspace();
    const job = await scene.job({ workspace });
    const result = await job.run({ with: { operation: 'lock', path: 'Content/Hero.uasset', ttl: '90m' } });
    expect(result).toMatchObject({ conclusion: 'success', exitCode: 0, annotations: [] });
    const { locks = '', locks_file, ...others } = result.outputs;
    expect(others).toEqual({ status: 'acquired', acquired: 'true', count: '1', holder: '', waited_seconds: '0' });
    expect(stable(locks_file ?? '')).toBe('<temp>/workspace-automation/locks-<id>.json');
    const [lock] = JSON.parse(locks);
    const times = { acquired_at: expect.any(String), expires_at: expect.any(String) };
    const proof = { id: expect.stringMatching(/^lock_/), etag: `"${lock.id}"`, fence: 1 };
    expect(lock).toEqual({ path: 'Content/Hero.uasset', type: 'exclusive', owner: 'ada', ...proof, ...times });
    expect(stable(result.log)).toContain('Locked Content/Hero.uasset in <workspace> until <clock> (<distance>).');
    expect(stable(result.summary)).toContain('<tr><td>Content/Hero.uasset</td><td><clock></td></tr>');
    expect(await scene.locked(workspace)).toEqual(['Content/Hero.uasset']);

    const [post] = await job.post();
    expect(post).toMatchObject({ conclusion: 'success', annotations: [] });
    expect(post?.log).toContain('Released 1 lock at the end of the job.\n  Content/Hero.uasset: released\n');
    expect(await scene.locked(workspace)).toEqual([]);
  });

  test('is acquired on every named path once, and on the paths that a pattern matches', async () => {
    const workspace = await scene.service.workspace();
    const job = await scene.job({ workspace });
    const files = ['Content/Hero.uasset', 'Content/Maps/Arena.umap', 'Content/Maps/Cave.umap', 'Content/Rock[1].fbx'];
    await checkOut(job, ...files);
    const path = 'Content\\Hero.uasset\nContent/Maps/*.umap\nContent/Rock[1].fbx\n./Content/Hero.uasset';
    const result = await job.run({ with: { operation: 'lock', path } });
    expect(result.conclusion).toBe('success');
    expect(result.outputs).toMatchObject({ status: 'acquired', acquired: 'true', count: '4', waited_seconds: '0' });
    expect(await scene.locked(workspace)).toEqual(files);
    const locks = await readFile(result.outputs['locks_file'] ?? '', 'utf8');
    expect(locks).toBe(result.outputs['locks']);
    const fences: readonly unknown[] = JSON.parse(locks).map(({ fence }: { readonly fence: unknown }) => fence);
    expect(new Set(fences).size).toBe(4);
    expect(fences).not.toContain(undefined);
  });

  test('has no summary with `summary: false`, neither in its step nor in the post-step', async () => {
    const job = await scene.job({ workspace: await scene.service.workspace() });
    const step = await job.run({ with: { operation: 'lock', path: 'a', summary: 'false' } });
    const [post] = await job.post();
    expect(post?.log).toContain('Released');
    expect([step.conclusion, step.summary, post?.summary]).toEqual(['success', '', '']);
  });

  test('outlives the job with auto-release: false', async () => {
    const workspace = await scene.service.workspace();
    const job = await scene.job({ workspace });
    const result = await job.run({ with: { operation: 'lock', path: 'a', 'auto-release': 'false' } });
    expect(result.log).toContain('Release them with `unlock` and the output `locks` or `locks_file`.');
    await job.post();
    expect(await scene.locked(workspace)).toEqual(['a']);
  });
});

test('a path held by someone else fails the step, which names the holder and what to do, and nothing is locked', async () => {
  const workspace = await scene.service.workspace();
  await scene.lock(workspace, 'Content/Hero.uasset', { ttl: '100m' });
  const job = await scene.job({ workspace });
  const path = 'Content/A.uasset\nContent/B.uasset\nContent/Hero.uasset';
  const result = await job.run({ with: { operation: 'lock', path } });
  expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1 });
  const held = { status: 'held', acquired: 'false', count: '0', holder: 'grace', locks: '[]', waited_seconds: '0' };
  expect(result.outputs).toEqual(held);
  expect(errorsOf(result)).toEqual([
    expect.stringMatching(/^Content\/Hero\.uasset is held by grace until <clock> .* Set `wait` to wait for it\.$/),
  ]);
  // Read much later, the table of the summary still has the date and a link to the run.
  expect(result.summary).toMatch(summaryShape);
  const summary = result.summary.replaceAll('<wbr>', '');
  expect(summary).toMatch(/by grace until .*, locked in .*\. Set <code>wait<\/code> to /);
  expect(summary).toMatch(/<td>grace<\/td><td>\d{4}-\d\d-\d\d \d\d:\d\d UTC<\/td>/);
  expect(result.summary).toContain(
    '<a href="https://github.com/octo-games/dragon/actions/runs/7">octo-games/dragon #<wbr>7</a>',
  );
  expect(await scene.locked(workspace)).toEqual(['Content/Hero.uasset']);
});

/** The log with all groups collapsed: only their titles are shown. */
const collapseGroups = (log: string): string => log.replaceAll(/(##\[group\][^\n]*)\n[\s\S]*?##\[endgroup\]/g, '$1');

/** With long paths, even few of them make an output too large. */
const [many, folder] = everyForm ? [1_000, 'Content/Maps'] : [210, `Content/${'Deep/'.repeat(60)}Maps`];
const inText = many.toLocaleString('en');

test('hundreds of paths produce a short log, a table and a file of locks', async () => {
  const workspace = await scene.service.workspace();
  const job = await scene.job({ workspace });
  const paths = Array.from({ length: many }, (_, number) => `${folder}/Level-${String(number).padStart(4, '0')}.umap`);
  const locking = await job.run({ with: { operation: 'lock', path: paths.join('\n'), 'auto-release': 'false' } });
  expect(locking.conclusion).toBe('success');
  expect(locking.outputs).toMatchObject({ status: 'acquired', count: String(many), locks: '' });
  expect(stable(collapseGroups(locking.log)).split('\n')).toEqual([
    '##[warning]The output `locks` is too large for a step and was left empty. Use the output `locks_file` instead. To pass the locks to another job, upload that file as an artifact.',
    'The locks outlive this job: `auto-release` is false. Release them with `unlock` and the output `locks` or `locks_file`.',
    `##[group]Locked ${inText} paths in <workspace> until <clock> (<distance>).`,
  ]);
  expect(locking.log.split('\n').length).toBeLessThan(120);
  expect(locking.summary).toMatch(summaryShape);
  expect(locking.summary.split('<tr><td>').length - 1).toBe(50);
  const file = locking.outputs['locks_file'] ?? '';
  const locks: readonly { readonly path: string }[] = JSON.parse(await readFile(file, 'utf8'));
  expect(locks.map(({ path }) => path)).toEqual(paths);

  const unlocking = await job.run({ with: { operation: 'unlock', 'locks-file': file } });
  expect(unlocking).toMatchObject({ conclusion: 'success', outputs: { status: 'released' } });
  expect(JSON.parse(unlocking.outputs['released'] ?? '')).toEqual(paths);
  expect(stable(collapseGroups(unlocking.log))).toBe(`##[group]Released ${inText} locks in <workspace>.`);
  expect(unlocking.log.split('\n').length).toBeLessThan(120);
  expect(await scene.locked(workspace)).toEqual([]);
});
