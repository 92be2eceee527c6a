import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { declared, type FigureName, figureOf } from './figures.ts';
import { measured, oneMore } from './measured.ts';
import { figuresFile, readNotes } from './notes.ts';
import { tried } from './tried.ts';

const late: FigureName = 'a canceled step ended after';
const lost: FigureName = 'locks lost or partially stored on a full disk';
const calls: FigureName = 'arbitrary JSON sent to locks';

let file: string;

beforeEach(() => {
  file = join(temporaryFolder(), 'figures');
  vi.stubEnv(figuresFile, file);
  onTestFinished(() => void vi.unstubAllEnvs());
});

const told = async () => readNotes(await readFile(file, 'utf8'));

test('a figure is recorded, passes within its limit, and otherwise fails its test with limit and findings', async () => {
  measured(late, 5);
  oneMore(calls);
  expect(() => measured(late, 5.01)).toThrow(`${late}: 5.01 s, expected at most 5 s. `);
  expect(() => measured(lost, 1, ['a is gone.', 'b is gone.'])).toThrow(
    /1, expected exactly 0\. .*\na is gone\.\nb is/,
  );
  expect(() => measured(late, Number.NaN)).toThrow('none');
  const values = (await told()).map(({ value }) => value);
  expect(values).toEqual([5, 1, 5.01, 1, Number.NaN]);
});

test('a failed property reports its counterexample, and records how often it held before', async () => {
  let left = Number.POSITIVE_INFINITY;
  const property = fc.asyncProperty(fc.constant('the one'), async () => {
    left -= 1;
    if (left < 0) throw new Error('It broke.');
  });
  await tried(calls, property);
  left = 3;
  await expect(tried(calls, property)).rejects.toThrow(/"the one".*It broke\..*measured\.test\.ts/s);
  expect((await told()).map(({ value }) => value)).toEqual([figureOf(calls).limit.value, 3]);
});

test('figures are declared only for existing tests, and their names are unique', () => {
  const files = Object.keys(declared);
  expect(globSync(files)).toHaveLength(files.length);
  const names = Object.values(declared).flatMap((figures) => Object.keys(figures));
  expect(new Set(names).size).toBe(names.length);
});
