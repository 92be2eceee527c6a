import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { archiveOf, budgets } from '../../bench/size.ts';
import { dist, filesOfDist, isChunk, readDist, root } from './committed.ts';

/**
 * The archive of the working tree as if it were committed: all tracked files, and all of `dist/`. Its objects are
 * written to a temporary store, so that none stay behind in the repository.
 */
function archiveOfWorkingTree() {
  const folder = mkdtempSync(join(tmpdir(), 'archive-'));
  const git = (environment: NodeJS.ProcessEnv, ...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: root, env: environment, encoding: 'utf8' }).trim();
  try {
    const objects = git(process.env, 'rev-parse', '--path-format=absolute', '--git-path', 'objects');
    const environment = {
      ...process.env,
      GIT_INDEX_FILE: join(folder, 'index'),
      GIT_OBJECT_DIRECTORY: folder,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: objects,
    };
    git(environment, 'read-tree', 'HEAD');
    git(environment, 'add', '--update');
    git(environment, 'add', '--all', 'dist');
    return archiveOf(git(environment, 'write-tree'), environment);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const files = await filesOfDist();
const archive = archiveOfWorkingTree();

test('the entry chunk is small', async () => {
  expect((await stat(join(dist, 'index.js'))).size).toBeLessThanOrEqual(budgets.entryBytes);
});

test('the archive that a runner downloads is small', () => {
  expect(archive.gzippedBytes).toBeLessThanOrEqual(budgets.archiveBytes);
});

test('the archive contains only the action and its license', () => {
  expect(archive.files.toSorted()).toEqual(['LICENSE', 'action.yml', ...files.map((file) => `dist/${file}`)]);
});

test.each(['', 'post/', 'renew/'])('every chunk of dist/%s is loaded by a file next to it', async (folder) => {
  const beside = files.filter(
    (file) => file.endsWith('.js') && file.startsWith(folder) && !/\//.test(file.slice(folder.length)),
  );
  const code = (await Promise.all(beside.map(readDist))).join('\n');
  const loaded = [...code.matchAll(/require\("\.\/([\w-]+\.js)"\)/g)].map(([, name = '']) => `${folder}${name}`);
  expect(beside.filter(isChunk)).toEqual([...new Set(loaded)].filter(isChunk).sort());
});

test('the bundle does not contain the path of the build folder', async () => {
  for (const file of files) {
    expect(await readDist(file)).not.toContain(root);
  }
});

test.each([
  ['', ['@actions/core', '@actions/github', '@actions/http-client', '@octokit/core', 'tunnel']],
  ['post/', ['@actions/core', '@actions/http-client', 'tunnel']],
  ['renew/', ['@actions/http-client', 'tunnel']],
])('the licenses of all packages in dist/%s are included', async (folder, names) => {
  expect((await readDist(`${folder}licenses.txt`)).split('\n')).toEqual(expect.arrayContaining(names));
});
