import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { findingsIn } from '../support/language-service.ts';
import { ourActionFile } from '../support/runner/action-file.ts';

const folder = new URL('../../.github/workflows/', import.meta.url);
const names = (await readdir(fileURLToPath(folder))).filter((name) => /\.ya?ml$/.test(name));
const action = await readFile(ourActionFile, 'utf8');

const read = (name: string): Promise<string> => readFile(new URL(name, folder), 'utf8');
const check = (name: string, content: string) =>
  findingsIn(`.github/workflows/${name}`, content, { 'octo-org/workspace-automation': action });

test('there are workflows', () => {
  expect(names).toContain('ci.yml');
});

describe.each(names)('the workflow %s', (name) => {
  test('is valid for the language service', async () => {
    expect(await check(name, await read(name))).toEqual([]);
  });

  test('would not be, with a misspelt key or an expression that means nothing', async () => {
    const content = await read(name);
    const misspelt = content.replace(/^jobs:/m, 'job:');
    expect(misspelt).not.toBe(content);
    expect((await check(name, misspelt)).map(({ at }) => at)).toContain('job');
    const expression = content.replace(/\$\{\{ *\w+\./, '${{ gitub.');
    if (expression !== content)
      expect((await check(name, expression)).map(({ message }) => message).join()).toMatch(/gitub/);
  });
});
