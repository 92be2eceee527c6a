import { expect, test } from 'vitest';
import { isLocking } from '../../support/fault-proxy.ts';
import { locking, unlocking } from './place.ts';
import { openStage, useService } from './stage.ts';

useService();

const composed = 'Content/M\u00fcnchen.umap';

/** Spellings of paths, with the paths that they stand for. */
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

test('a path that is repeated or spelled differently is locked once, and released with any spelling', async () => {
  const stage = await openStage();
  const proxy = await stage.proxy();
  const job = await stage.job();
  const written = spellings.flatMap(([each]) => [each, each]);
  const paths = [...new Set(spellings.map(([, path]) => path))];
  const lock = locking(written);
  await expect(job.run(lock)).resolves.toMatchObject({ conclusion: 'success', outputs: { count: `${paths.length}` } });
  expect(proxy.passed.filter(isLocking).flatMap((one) => one.paths)).toHaveLength(paths.length);
  expect(new Set((await stage.locks()).map(({ path }) => path))).toEqual(new Set(paths));
  await expect(job.run(unlocking({ glob: 'false', path: written.join('\n') }))).resolves.toMatchObject({
    conclusion: 'success',
    outputs: { status: 'released' },
  });
  expect(await stage.locks()).toEqual([]);
  await job.run(lock);
  await expect(job.post()).resolves.toMatchObject([{ annotations: [] }, {}, { annotations: [] }]);
  expect(await stage.locks()).toEqual([]);
});
