import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isLocking } from '../../support/fault-proxy.ts';
import { locking, openStage, unlocking, useService } from './stage.ts';

useService();

const composed = 'Content/M\u00fcnchen.umap';

/** What is written, and the path that it means. */
const spellings: readonly (readonly [written: string, path: string])[] = [
  ['a', 'a'],
  ['./a', 'a'],
  ['b//c', 'b/c'],
  ['.\\b\\c', 'b/c'],
  [composed.normalize('NFD'), composed],
  ['Content/with spaces in it.uasset', 'Content/with spaces in it.uasset'],
  ['Content/#1.uasset', 'Content/#1.uasset'],
  ['Content/what?.uasset', 'Content/what?.uasset'],
  ['Content/100%2F7.uasset', 'Content/100%2F7.uasset'],
  ['Content/50%.uasset', 'Content/50%.uasset'],
  ["Content/it's; $(echo) `x`.uasset", "Content/it's; $(echo) `x`.uasset"],
  ['Content/[1].uasset', 'Content/[1].uasset'],
];

test('a path that is written twice, or in another way, is one lock: the right one, and released', async () => {
  const stage = await openStage();
  const proxy = await stage.proxy();
  const job = await stage.job();
  const written = spellings.flatMap(([each]) => [each, each]);
  const paths = [...new Set(spellings.map(([, path]) => path))];
  await expect(job.run(locking(written))).resolves.toMatchObject({
    conclusion: 'success',
    outputs: { count: String(paths.length) },
  });
  expect(proxy.passed.filter(isLocking)).toHaveLength(paths.length);
  expect(new Set((await stage.locks()).map(({ path }) => path))).toEqual(new Set(paths));
  await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success', annotations: [] }]);
  expect(await stage.locks()).toEqual([]);
});

test('each of them is unlocked by any of its spellings', async () => {
  const stage = await openStage();
  const job = await stage.job();
  await job.run(locking(spellings.map(([, path]) => path)));
  await expect(
    job.run(unlocking({ glob: 'false', path: spellings.map(([written]) => written).join('\n') })),
  ).resolves.toMatchObject({ conclusion: 'success', outputs: { status: 'released' } });
  expect(await stage.locks()).toEqual([]);
});

test('a line that names a file of the checkout is that file, also with the characters of a pattern', async () => {
  const stage = await openStage();
  const job = await stage.job();
  const file = join(job.folders.workspace, 'Content', 'what?[1].uasset');
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, '');
  await expect(job.run({ with: { operation: 'lock', path: 'Content/what?[1].uasset' } })).resolves.toMatchObject({
    conclusion: 'success',
  });
  expect((await stage.locks()).map(({ path }) => path)).toEqual(['Content/what?[1].uasset']);
  await job.post();
});

describe('before any request', () => {
  test.each([
    ['../x', /must not have a segment/],
    ['a/../../x', /must not have a segment/],
    ['/x', /must not start with \//],
    ['\\x', /must not start with \//],
    ['C:\\x', /must not start with a drive/],
    ['a/', /must not end with \//],
    ['', /Name what to lock|is missing/],
  ])('the path "%s" is refused', async (path, why) => {
    const stage = await openStage();
    const proxy = await stage.proxy();
    const job = await stage.job();
    const result = await job.run(locking(path));
    expect(result).toMatchObject({ conclusion: 'failure' });
    expect(result.annotations[0]?.message).toMatch(why);
    await job.post();
    expect(proxy.passed).toEqual([]);
  });

  test('one bad path among good ones is refused with all of them', async () => {
    const stage = await openStage();
    const proxy = await stage.proxy();
    const job = await stage.job();
    await expect(job.run(locking(['a', '../x', 'b']))).resolves.toMatchObject({ conclusion: 'failure' });
    expect(proxy.passed).toEqual([]);
  });
});
