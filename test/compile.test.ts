import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkedOut } from '../scripts/compile.ts';
import { gitAt } from './support/git-repository.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

test('the revision of a build is the commit of its own checkout, and says if files differ from it', async () => {
  const folder = temporaryFolder();
  await writeFile(join(folder, 'file'), 'one');
  expect(checkedOut(folder)).toBe('unknown');
  gitAt(folder, 'init', '--quiet');
  expect(checkedOut(folder)).toBe('unknown');
  gitAt(folder, 'add', 'file');
  gitAt(folder, 'commit', '--quiet', '--message', 'A commit');
  gitAt(folder, 'tag', 'v1.0.0');
  const commit = gitAt(folder, 'rev-parse', 'HEAD').trim();
  await writeFile(join(folder, 'other'), 'git does not know this file');
  expect(checkedOut(folder)).toBe(commit);
  await writeFile(join(folder, 'file'), 'two');
  expect(checkedOut(folder)).toBe(`${commit}-dirty`);
  const unpacked = join(folder, 'unpacked');
  await mkdir(unpacked);
  expect(checkedOut(unpacked)).toBe('unknown');
});
