import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { FileChange } from '../../../src/service/git/changes.ts';
import { asTimestamp } from '../../../src/service/storage/timestamp.ts';
import { branchNamed, enoughTime, gitSetUp } from '../../support/git-service.ts';

async function setUp() {
  const { git, remote, repository } = await gitSetUp();
  const list = async (head: string, except: string) => {
    const changes: FileChange[] = [];
    for (const branch of [head, except]) await git.fetch('game', remote, branchNamed(branch), enoughTime);
    const query = { head: repository.head(head), except: repository.head(except), limits: enoughTime };
    await git.listChanges('game', query, (change) => changes.push(change));
    return changes.map(({ path, blob }) => `${path} ${blob === null ? 'deleted' : 'changed'}`);
  };
  return { git, remote, repository, list };
}

test('a branch lacks the changes of another one, the newest first, with author and time', async () => {
  const { git, repository, list } = await setUp();
  repository.commit(
    { branch: 'main', files: { a: '1', 'ö x': '1' } },
    { branch: 'feature', from: 'main', files: { b: '1' } },
    { branch: 'main', files: { a: '2' } },
    { branch: 'main', files: { 'ö x': '2' } },
  );
  expect(await list('main', 'feature')).toEqual(['ö x changed', 'a changed']);
  expect(await list('feature', 'main')).toEqual(['b changed']);
  expect(await list('main', 'main')).toEqual([]);
  const changes: FileChange[] = [];
  const query = { head: repository.head('main~1'), except: repository.head('main~2'), limits: enoughTime };
  await git.listChanges('game', query, (change) => changes.push(change));
  expect(changes[0]?.blob).toBe(repository.git('rev-parse', 'main:a').trim());
  expect(changes[0]?.commit).toEqual({
    id: repository.git('rev-parse', 'main~1').trim(),
    author: 'Test',
    at: 1_000 * Number(repository.git('log', '-1', '--format=%ct', 'main~1')),
  });
});

test('a merge changes only the files that differ from all its parents', async () => {
  const { repository, list } = await setUp();
  repository.commit(
    { branch: 'main', files: { a: '1', b: '1' } },
    { branch: 'feature', from: 'main', files: { b: '2' } },
    { branch: 'main', files: { a: '2' } },
  );
  const base = repository.head('main');
  repository.git('branch', 'before', base);
  repository.commit({ branch: 'main', merge: 'feature', files: { c: 'by the merge' } });
  expect(await list('main', 'before')).toEqual(expect.arrayContaining(['c changed', 'b changed']));
});

test('a path may begin like the header of a commit', async () => {
  const { repository, list } = await setUp();
  repository.commit({ branch: 'before', files: { a: '1' } });
  repository.commit({ branch: 'main', from: 'before', files: { '\u0001zz': '1', c: '1' } });
  expect(await list('main', 'before')).toEqual(['\u0001zz changed', 'c changed']);
});

test.each([
  { time: '1735689600 +9900', at: '2025-01-01T00:00:00.000Z' },
  { time: '9000000000000000 +0000', at: '9999-12-31T23:59:59.999Z' },
])('a commit may have any time ($time)', async ({ time, at }) => {
  const { git, remote, repository } = await setUp();
  repository.commit({ branch: 'main', files: { a: '1' } }, { branch: 'main', files: { a: '2' } });
  const except = repository.head('main~1');
  const written = repository.git('cat-file', 'commit', 'main').replace(/^(committer .*>) .*$/m, `$1 ${time}`);
  const file = join(repository.path, 'commit');
  await writeFile(file, written);
  const id = repository.git('hash-object', '-w', '--literally', '-t', 'commit', file).trim();
  repository.git('update-ref', 'refs/heads/main', id);
  await git.fetch('game', remote, branchNamed('main'), enoughTime);
  const times: string[] = [];
  const query = { head: id, except, limits: enoughTime };
  await git.listChanges('game', query, ({ commit }) => times.push(asTimestamp(commit.at)));
  expect(times).toEqual([at]);
});
