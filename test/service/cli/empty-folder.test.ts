import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/git-folders.ts';
import { runMain } from './run-main.ts';

const uuid = '00000000-0000-4000-8000-000000000000';

test.each([
  ['token', 'list'],
  ['token', 'revoke', `tok_${uuid}`],
  ['workspace', 'list'],
  ['workspace', 'remove', 'game'],
  ['lock', 'list', 'game'],
  ['lock', 'release', 'game', 'a.uasset'],
  ['hook', 'list', 'game'],
  ['hook', 'remove', 'game', `hook_${uuid}`],
])('%s %s does not take a folder without a service for an empty one', async (...args) => {
  const folder = join(await temporaryFolder(), 'mistyped');
  const { code, stdout, stderr } = await runMain([...args, '--data', folder]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('No service has stored anything in the folder');
  await expect(access(folder)).rejects.toThrow('ENOENT');
});

test('tokens and workspaces can be made before the service starts for the first time', async () => {
  const data = ['--data', join(await temporaryFolder(), 'new')];
  const remote = 'https://git.example.com/game.git';
  expect(await runMain(['workspace', 'add', 'game', '--remote', remote, '--no-check', ...data])).toMatchObject({
    code: 0,
  });
  expect((await runMain(['token', 'list', ...data])).stdout).toContain('There are no tokens yet. Create one with:');
  expect(await runMain(['token', 'create', '--name=ci', '--scopes=sync', ...data])).toMatchObject({ code: 0 });
  expect((await runMain(['workspace', 'remove', 'game', ...data])).code).toBe(0);
  expect((await runMain(['workspace', 'list', ...data])).stdout).toContain(
    'There are no workspaces yet. Add one with:',
  );
});
