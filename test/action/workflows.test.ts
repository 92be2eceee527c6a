import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { findingsIn } from '../support/language-service.ts';
import { ourActionFile } from '../support/runner/action-file.ts';

const folder = new URL('../../.github/workflows/', import.meta.url);
const names = (await readdir(fileURLToPath(folder))).filter((name) => /\.ya?ml$/.test(name));
const action = await readFile(ourActionFile, 'utf8');

const read = (name: string): Promise<string> => readFile(new URL(name, folder), 'utf8');
const check = (name: string, content: string) =>
  findingsIn(`.github/workflows/${name}`, content, { 'octo-org/workspace-automation': action });

test.each(names)('the workflow %s is valid for the language service', async (name) => {
  expect(await check(name, await read(name))).toEqual([]);
});

test('the language service rejects a workflow with a misspelled key or an invalid expression', async () => {
  const content = await read('ci.yml');
  const misspelt = await check('ci.yml', content.replace(/^jobs:/m, 'job:'));
  expect(misspelt.map(({ at }) => at)).toContain('job');
  const expression = await check('ci.yml', content.replace(/\$\{\{ *\w+\./, '${{ gitub.'));
  expect(expression.map(({ message }) => message).join()).toMatch(/gitub/);
});
