import { mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { processesNaming } from '../../support/git-processes.ts';
import { gitAt, manyCommits, pathWithGit, type Repository } from '../../support/git-repository.ts';
import {
  branchNamed,
  enoughTime,
  expectSound,
  failureOf,
  gitIn,
  gitSetUp,
  remoteAt,
} from '../../support/git-service.ts';

const main = branchNamed('main');

const countOf = (repository: Repository, ...revisions: string[]): number =>
  repository
    .git('rev-list', '--objects', ...revisions)
    .trim()
    .split('\n').length;

describe('a fetch', () => {
  test('transfers the branch with all its objects, and reports the progress', async () => {
    const { git, repository, remote, mirror, data } = await gitSetUp();
    repository.commit(...manyCommits(60), { branch: 'other', from: 'main', files: { other: 'x' } });
    repository.git('tag', '-m', 'tag', 'v1', 'main');

    const received: number[] = [];
    const fetched = await git.fetch('game', remote, main, enoughTime, {
      onReceived: (objects) => received.push(objects),
    });

    expect(fetched).toEqual({ head: repository.head('main'), receivedObjects: countOf(repository, 'main') });
    expect(received.at(-1)).toBe(fetched.receivedObjects);
    expect(received).toEqual(received.toSorted((one, other) => one - other));
    expect(await git.head('game', main)).toBe(repository.head('main'));
    expect(gitAt(mirror, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main\n');
    await expectSound(mirror, data);
  });

  test('transfers only new objects: none twice, and none that another branch has brought', async () => {
    const { git, repository, remote, mirror, data } = await gitSetUp();
    repository.commit(...manyCommits(30));
    await git.fetch('game', remote, main, enoughTime);
    const before = repository.head('main');
    repository.commit(...manyCommits(5, 'main', 'more'));

    const more = await git.fetch('game', remote, main, enoughTime);
    expect(more).toEqual({ head: repository.head('main'), receivedObjects: countOf(repository, 'main', `^${before}`) });
    expect(await git.fetch('game', remote, main, enoughTime)).toEqual({ head: more.head, receivedObjects: 0 });
    repository.git('update-ref', 'refs/heads/release', 'main~1');
    const release = { head: repository.head('release'), receivedObjects: 0 };
    expect(await git.fetch('game', remote, branchNamed('release'), enoughTime)).toEqual(release);
    expect(await git.head('game', branchNamed('release'))).toBe(release.head);

    // A rewritten branch is not ahead of the mirror.
    repository.commit({ branch: 'main', from: `${repository.head('main')}~4`, files: { a: 'rewritten' } });
    expect((await git.fetch('game', remote, main, enoughTime)).head).toBe(repository.head('main'));
    expect(await git.head('game', main)).toBe(repository.head('main'));
    await expectSound(mirror, data);
  });

  test('fails with its own kind of error if the branch does not exist', async () => {
    const { git, repository, remote } = await gitSetUp();
    repository.commit(...manyCommits(1));
    for (const attempt of [git.fetch, git.estimate]) {
      const failure = await failureOf(attempt('game', remote, branchNamed('nope'), enoughTime));
      expect(failure.kind).toBe('no-such-branch');
      expect(failure.message).toBe(`There is no branch nope in ${remote.address}.`);
    }
    expect(await git.head('game', branchNamed('nope'))).toBeUndefined();
  });

  test('accepts a branch name that conflicts with an earlier branch above or below it', async () => {
    const { git, repository, remote, mirror, data } = await gitSetUp();
    repository.commit({ branch: 'release', files: { a: '1' } }, { branch: 'release-2', files: { a: '2' } });
    await git.fetch('game', remote, branchNamed('release'), enoughTime);
    await git.fetch('game', remote, branchNamed('release-2'), enoughTime);

    repository.git('update-ref', '-d', 'refs/heads/release');
    repository.commit({ branch: 'release/1.0', files: { a: '3' } });
    await git.fetch('game', remote, branchNamed('release/1.0'), enoughTime);
    expect(gitAt(mirror, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/release-2\nrefs/heads/release/1.0\n');
    expect(await git.head('game', branchNamed('release'))).toBeUndefined();

    repository.git('update-ref', '-d', 'refs/heads/release/1.0');
    repository.commit({ branch: 'release', files: { a: '4' } });
    await git.fetch('game', remote, branchNamed('release'), enoughTime);
    expect(gitAt(mirror, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/release\nrefs/heads/release-2\n');
    await expectSound(mirror, data);
  });

  test('transfers several branches concurrently into a new mirror', async () => {
    const { git, repository, remote, mirror, data } = await gitSetUp();
    const branches = ['main', 'one', 'two', 'three', 'four/five'];
    repository.commit(
      ...manyCommits(20),
      ...branches.slice(1).map((branch) => ({ branch, from: 'main', files: { a: branch } })),
    );
    await Promise.all(branches.map((branch) => git.fetch('game', remote, branchNamed(branch), enoughTime)));
    for (const branch of branches) expect(await git.head('game', branchNamed(branch))).toBe(repository.head(branch));
    await expectSound(mirror, data);
  });

  test('can run at the same time as maintenance', async () => {
    const { git, repository, remote, mirror, data } = await gitSetUp();
    repository.commit(...manyCommits(10));
    await git.fetch('game', remote, main, enoughTime);
    for (let round = 0; round < 6; round += 1) {
      const other = branchNamed(`other-${round}`);
      repository.commit(...manyCommits(4, 'main', `round ${round}`), {
        branch: other,
        from: 'main',
        files: { a: other },
      });
      await Promise.all([
        git.maintain('game', enoughTime),
        git.fetch('game', remote, main, enoughTime),
        git.fetch('game', remote, other, enoughTime),
      ]);
      expect(await git.head('game', main)).toBe(repository.head('main'));
    }
    await git.maintain('game', enoughTime);
    const packs = (await readdir(join(mirror, 'objects', 'pack'))).filter((file) => file.endsWith('.pack'));
    expect(packs.length).toBeLessThan(6);
    await expectSound(mirror, data);
  });

  test('is not blocked by files that a killed service left behind', async () => {
    const { git, repository, remote, mirror, data } = await gitSetUp();
    repository.commit(...manyCommits(3));
    await git.fetch('game', remote, main, enoughTime);
    repository.commit(...manyCommits(3, 'main', 'more'));

    const long = new Date(Date.now() - 2 * 60 * 60 * 1_000);
    const leave = async (path: string) => {
      await writeFile(path, '');
      await utimes(path, long, long);
    };
    const abandoned = join(data, 'scratch', 'work-abandoned');
    await mkdir(abandoned);
    await leave(join(abandoned, 'tmp_pack_1'));
    await utimes(abandoned, long, long);
    await leave(join(mirror, 'refs', 'heads', 'main.lock'));
    await leave(join(mirror, 'packed-refs.lock'));
    await leave(join(mirror, 'objects', 'pack', 'tmp_pack_2'));
    await leave(join(mirror, 'objects', 'pack', '.tmp-3-pack-4.pack'));
    // Another instance is still using a scratch folder that is just as old.
    const others = join(data, 'scratch', 'work-of-another-instance');
    await mkdir(others);
    await writeFile(join(others, 'tmp_pack_1'), 'arriving');
    await utimes(others, long, long);

    await git.fetch('game', remote, main, enoughTime);
    await git.maintain('game', enoughTime);
    expect(await git.head('game', main)).toBe(repository.head('main'));
    expect(await readdir(others)).toEqual(['tmp_pack_1']);
    await rm(others, { recursive: true });
    await expectSound(mirror, data);
  });

  test('keeps its scratch folder while it runs, even if idle for hours while others fetch', async () => {
    const { git, repository, remote, mirror, data } = await gitSetUp();
    repository.commit(...manyCommits(3));
    const long = new Date(Date.now() - 2 * 60 * 60 * 1_000);
    const beforePublish = async () => {
      const scratch = join(data, 'scratch');
      for (const path of ['', ...(await readdir(scratch, { recursive: true }))])
        await utimes(join(scratch, path), long, long);
      await git.fetch('other', remote, main, enoughTime);
    };
    await git.fetch('game', remote, main, enoughTime, { beforePublish });
    await expectSound(mirror, data);
  });

  test('does not change the mirror after its lease was lost', async () => {
    const { git, repository, remote, mirror, data } = await gitSetUp();
    repository.commit(...manyCommits(3));
    const lost = new Error('The lease was lost.');
    const fetching = git.fetch('game', remote, main, enoughTime, { beforePublish: () => Promise.reject(lost) });
    await expect(fetching).rejects.toBe(lost);
    expect(await readdir(join(mirror, 'objects', 'pack'))).toEqual([]);
    expect(await git.head('game', main)).toBeUndefined();
    await expectSound(mirror, data);
  });

  test('leaves nothing behind if the mirror is removed just before the fetch ends', async () => {
    const { git, repository, remote, data } = await gitSetUp();
    repository.commit(...manyCommits(3));
    const beforePublish = () => git.removeMirror('game');
    await failureOf(git.fetch('game', remote, main, enoughTime, { beforePublish }));
    await git.maintain('game', enoughTime);
    expect(await readdir(join(data, 'mirrors'))).toEqual([]);
  });

  test('leaves no folder behind if the mirror is removed during its maintenance', async () => {
    const { folder, git, repository, remote, mirror, data } = await gitSetUp();
    repository.commit(...manyCommits(3));
    await git.fetch('game', remote, main, enoughTime);
    // `odb_mkstemp` of git creates the missing folders of a path before it writes there.
    const removed = `case "$*" in *repack*) mv ${mirror} ${folder}/removed && mkdir -p ${mirror}/objects/pack;; esac`;
    const PATH = await pathWithGit(folder, removed);
    await failureOf(gitIn(data, { PATH }).maintain('game', enoughTime));
    expect(await readdir(join(data, 'mirrors'))).toEqual([]);
  });

  test('explains the fix if the remote is a shallow clone', async () => {
    const { folder, git, repository } = await gitSetUp();
    repository.commit(...manyCommits(5));
    const shallow = join(folder, 'shallow.git');
    repository.git('clone', '--quiet', '--bare', '--depth=2', `file://${repository.path}`, shallow);
    const failure = await failureOf(git.fetch('game', remoteAt(shallow), main, enoughTime));
    expect(failure.kind).toBe('failed');
    expect(failure.message).toContain('--unshallow');
  });

  test('ignores the git settings of the user, and runs no hooks', async () => {
    const { folder, repository, remote, mirror, data } = await gitSetUp();
    repository.commit(...manyCommits(2));
    const home = join(folder, 'home');
    const addHook = async (where: string) => {
      await mkdir(join(where, 'hooks'), { recursive: true });
      const hook = join(where, 'hooks', 'reference-transaction');
      await writeFile(hook, `#!/bin/sh\ntouch ${folder}/hook-ran\n`, { mode: 0o755 });
    };
    await addHook(home);
    await writeFile(
      join(home, '.gitconfig'),
      `[url "file:///elsewhere"]\n\tinsteadOf = ${remote.address}\n[core]\n\thooksPath = ${home}/hooks\n`,
    );
    const git = gitIn(data, { HOME: home });
    await git.fetch('game', remote, main, enoughTime);
    await addHook(mirror);
    repository.commit(...manyCommits(2, 'main', 'more'));
    await git.fetch('game', remote, main, enoughTime);
    expect(await readdir(folder)).not.toContain('hook-ran');
  });
});

describe('mirrors', () => {
  test('are separate for workspaces with similar names', async () => {
    const { git, repository, remote, data } = await gitSetUp();
    repository.commit(...manyCommits(1));
    const names = ['game', 'Game', 'ga me', '../game', '..', 'ga%20me', 'größe'];
    for (const name of names) await git.fetch(name, remote, main, enoughTime);
    expect(await readdir(join(data, 'mirrors'))).toHaveLength(names.length);
    expect(new Set((await readdir(join(data, 'mirrors'))).map((name) => name.toLowerCase())).size).toBe(names.length);
  });

  test('are removed on request, and created again by the next fetch', async () => {
    const { git, repository, remote, data } = await gitSetUp();
    repository.commit(...manyCommits(3));
    const first = await git.fetch('game', remote, main, enoughTime);
    await git.removeMirror('game');
    await git.removeMirror('game');
    expect(await readdir(join(data, 'mirrors'))).toEqual([]);
    expect(await git.head('game', main)).toBeUndefined();
    expect(await git.fetch('game', remote, main, enoughTime)).toEqual(first);
  });

  test.each(['is fetched', 'is removed'])(
    'are replaced if they are not repositories when their workspace %s',
    async (when) => {
      const { git, repository, remote, mirror, data } = await gitSetUp();
      repository.commit(...manyCommits(3));
      const packs = join(mirror, 'objects', 'pack');
      await mkdir(packs, { recursive: true });
      await writeFile(join(packs, 'pack-1.pack'), '');
      if (when === 'is removed') {
        await git.removeMirror('game');
        expect(await readdir(join(data, 'mirrors'))).toEqual([]);
      }
      await git.fetch('game', remote, main, enoughTime);
      await expectSound(mirror, data);
    },
  );
});

test('without git, an operation fails with the advice to install it', async () => {
  const { folder, remote } = await gitSetUp();
  const failure = await failureOf(gitIn(folder, { PATH: join(folder, 'empty') }).branches(remote, enoughTime));
  expect(failure.kind).toBe('not-installed');
  expect(failure.message).toContain('Install git');
});

test('a fetch with an aborted signal starts no process', async () => {
  const { git, repository, remote, data } = await gitSetUp();
  repository.commit(...manyCommits(1));
  const failure = await failureOf(git.fetch('game', remote, main, { ...enoughTime, signal: AbortSignal.abort() }));
  expect(failure.kind).toBe('aborted');
  expect(await readdir(join(data, 'scratch'))).toEqual([]);
  expect(processesNaming(repository.path)).toEqual([]);
});
