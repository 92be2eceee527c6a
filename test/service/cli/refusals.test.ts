import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scopeMeanings, scopes } from '../../../src/service/contract/scopes.ts';
import { besideService } from '../../command/in-service.ts';
import { runMain } from '../../command/run-main.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const { run, json } = besideService();

const uuid = '00000000-0000-4000-8000-000000000000';
const secretOfToken = `wsa_${'s3cret'.repeat(7)}s`;
const lockRelease = ['lock', 'release'];
const tokenCreate = ['token', 'create', '--name=a'];
const workspaceAdd = ['workspace', 'add'];
const trustAdd = ['trust', 'add', '--owner=a', '--scopes=sync'];
const idsOnGitHub = ['--claim=repository_id=1', '--claim=repository_owner_id=2'];

test.each<[args: readonly string[], sentence: string]>([
  [['audit', '--limit', '0'], '--limit is "0". It must be a whole number from 1 to '],
  [['serve', '--keep-audit', '29d'], '--keep-audit is "29d". It must be from 30d to 36500d.'],
  [[...lockRelease, '../x', '--force', '--reason', 'Ill'], 'PATH is '],
  [['token', 'create', '--name=a\u202eb', '--scopes=sync'], '--name is '],
  [[...tokenCreate, '--owner=a\u0007', '--scopes=sync'], '--owner is '],
  [[...tokenCreate, '--scopes=sync', '--expires=1w'], '--expires is '],
  [[...tokenCreate, '--scopes=sync,locks:reed'], '--scopes is "locks:reed". Did you mean locks:read?'],
  [[...tokenCreate, '--scopes=root'], scopes.map((scope) => `${scope} (${scopeMeanings[scope]})`).join(', ')],
  [[...tokenCreate, '--scopes=admin', '--workspaces=a'], 'A token with the scope admin cannot be limited to some'],
  [['token', 'revoke', secretOfToken], 'workspace-service token list'],
  [['trust', 'add'], '--owner is missing: the owner of the locks of these jobs'],
  [trustAdd, '--claim: A rule for GitHub needs the ids of the repository and of its owner'],
  [[...trustAdd, ...idsOnGitHub, '--claim=ref'], '--claim is "ref". It must be a name and a value'],
  [[...trustAdd, ...idsOnGitHub, '--issuer=https://a:s3cret@b.c'], '--issuer is "https://***@b.c". It must not'],
  [['trust', 'remove', secretOfToken], 'workspace-service trust list'],
  [[...workspaceAdd, 'BIG', '--remote', 'https://a.example/x.git'], 'ID is "BIG"'],
  [[...workspaceAdd, 'x', '--remote', 'ext::sh -c id'], '--remote cannot be used.'],
  [[...workspaceAdd, 'x', '--remote=git.example.com/x'], 'It must be https://host/path, ssh://user@host/path or'],
  [[...workspaceAdd, 'x', '--remote', '--upload-pack=id'], '--remote needs a value'],
  [[...workspaceAdd, 'x', '--remote', 'http://a:s3cret@b.example/x'], '--remote cannot be used. Plain http is refused'],
])('an invalid value is rejected with a sentence that repeats no secret: %j', async (args, sentence) => {
  const { code, stdout, stderr } = await runMain(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(sentence);
  expect(stderr).not.toContain('s3cret');
});

test.each<[args: readonly string[], sentence: string]>([
  [[...lockRelease, 'Content/Free', '--force', '--reason', 'Ill'], 'There is no lock on Content/Free.'],
  [
    [...tokenCreate, '--scopes=sync', '--workspaces=sampel,else'],
    'There is no workspace "sampel". Did you mean sample?',
  ],
  [[...trustAdd, ...idsOnGitHub, '--workspaces=sample,smaple'], 'There is no workspace "smaple".'],
  [['token', 'revoke', `tok_${uuid}`], `There is no token tok_${uuid}.`],
  [['trust', 'remove', `trust_${uuid}`], `There is no trust rule trust_${uuid}.`],
  [[...workspaceAdd, 'sample', '--remote', 'https://a.example/x', '--no-check'], '"sample" already exists.'],
  [['workspace', 'remove', 'sampl'], 'There is no workspace "sampl". Did you mean sample?\n'],
  [['hook', 'remove', 'sample', `hook_${uuid}`], `The workspace "sample" has no hook hook_${uuid}.`],
])('a missing or already existing item fails with a sentence, and changes nothing: %j', async (args, sentence) => {
  const before = await json('audit');
  const { code, stdout, stderr } = await run(...args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(sentence);
  expect(await json('audit')).toEqual(before);
});

test.each([
  ['token', 'list'],
  [...tokenCreate, '--scopes=sync'],
  [...trustAdd, ...idsOnGitHub],
  ['sign-in'],
  ['backup', 'never-written'],
  ['workspace', 'remove', 'game'],
])('%s %s fails for a folder without a service, and does not create it', async (...args) => {
  const folder = join(temporaryFolder(), 'mistyped');
  const { code, stdout, stderr } = await runMain([...args, '--data', folder]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('contains no data of a service');
  await expect(access(folder)).rejects.toThrow('ENOENT');
});

test('tokens and workspaces can be created before the first start of the service', async () => {
  const folder = join(temporaryFolder(), 'new');
  const data = ['--data', folder];
  const remote = 'https://git.example.com/game.git';
  expect(await runMain(['workspace', 'add', 'game', '--remote', remote, '--no-check', ...data])).toMatchObject({
    code: 0,
    stderr: `Created a database in the folder "${folder}".\n`,
  });
  expect((await runMain(['token', 'list', ...data])).stdout).toContain('There are no tokens yet. Create one with:');
  expect(await runMain(['token', 'create', '--name=ci', '--scopes=sync', ...data])).toMatchObject({ code: 0 });
  expect((await runMain(['workspace', 'remove', 'game', ...data])).code).toBe(0);
  expect((await runMain(['workspace', 'list', ...data])).stdout).toContain(
    'There are no workspaces yet. Add one with:',
  );
});
