import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Git } from '../../../src/service/git/git.ts';
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

const isMirrored = async (git: Git, commit: string): Promise<boolean> =>
  (await git.missingCommits('game', [commit])).size === 0;

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
    const fetched = await git.fetch('game', remote, main, enoughTime, (objects) => received.push(objects));

    expect(fetched).toEqual({ head: repository.head('main'), receivedObjects: countOf(repository, 'main') });
    expect(received.at(-1)).toBe(fetched.receivedObjects);
    expect(received).toEqual(received.toSorted((one, other) => one - other));
    expect(await isMirrored(git, repository.head('main'))).toBe(true);
    expect(gitAt(mirror, 'for-each-ref', '--format=%(objectname)')).toBe(`${fetched.head}\n`);
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
    expect(await isMirrored(git, release.head)).toBe(true);

    // A rewritten branch is not ahead of the mirror.
    repository.commit({ branch: 'main', from: `${repository.head('main')}~4`, files: { a: 'rewritten' } });
    expect((await git.fetch('game', remote, main, enoughTime)).head).toBe(repository.head('main'));
    expect(await isMirrored(git, repository.head('main'))).toBe(true);
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
    for (const branch of branches) expect(await isMirrored(git, repository.head(branch))).toBe(true);
    await expectSound(mirror, data);
  });

  test('can run at the same time as maintenance', async () => {
    const { git, repository, remote, mirror, data } = await gitSetUp();
    repository.commit(...manyCommits(10));
    await git.fetch('game', remote, main, enoughTime);
    for (let round = 0; round < 12; round += 1) {
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
      expect(await isMirrored(git, repository.head('main'))).toBe(true);
    }
    await git.maintain('game', enoughTime);
    const packs = (await readdir(join(mirror, 'objects', 'pack'))).filter((file) => file.endsWith('.pack'));
    expect(packs.length).toBeLessThanOrEqual(20);
    await expectSound(mirror, data);
  });

  test('waits for another fetch of its branch, which updates the same ref', async () => {
    const { git, repository, remote } = await gitSetUp();
    repository.commit(...manyCommits(10));
    await git.fetch('game', remote, main, enoughTime);
    for (let round = 0; round < 5; round += 1) {
      repository.commit(...manyCommits(20, 'main', `round ${round}`), {
        branch: 'other',
        from: 'main',
        files: { a: `${round}` },
      });
      const [head, other] = [repository.head('main'), branchNamed('other')];
      const heads = new Map([other, main].map((branch) => [branch, repository.head(branch)]));
      const [{ receivedObjects, ...fetched }] = await Promise.all([
        git.fetch('game', remote, main, enoughTime),
        git.fetchCommits('game', remote, heads, enoughTime),
        git.fetch('game', remote, other, enoughTime),
        git.fetchCommits('game', remote, new Map([...heads].toReversed()), enoughTime),
      ]);
      expect(fetched).toEqual({ head });
    }
    const ending = new AbortController();
    const limits = { ...enoughTime, signal: ending.signal };
    const running = git.fetch('game', remote, main, enoughTime);
    const waiting = git.fetch('game', remote, main, limits);
    ending.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
    await running;
  });

  test('is not blocked by what a killed service left behind, which the next start removes', async () => {
    const { git, repository, remote, mirror, data } = await gitSetUp();
    repository.commit(...manyCommits(3));
    await git.fetch('game', remote, main, enoughTime);
    repository.commit(...manyCommits(3, 'main', 'more'));
    const abandoned = join(data, 'scratch', 'work-abandoned');
    await mkdir(abandoned);
    await writeFile(join(abandoned, 'tmp_pack_1'), '');
    const [ref = ''] = await readdir(join(mirror, 'refs', 'fetched'));
    const left = [`refs/fetched/${ref}.lock`, 'objects/pack/tmp_pack_2', 'objects/pack/.tmp-3-pack-4.pack'];
    for (const file of [...left, 'objects/pack/pack-5.keep']) await writeFile(join(mirror, file), '');

    await git.removeLeftovers();
    await git.estimate('game', remote, main, enoughTime);
    await git.fetch('game', remote, main, enoughTime);
    expect(await isMirrored(git, repository.head('main'))).toBe(true);
    await expectSound(mirror, data);
  });

  test('leaves no unfinished pack when it fails, and does not harm others that run', async () => {
    const { folder, git, repository, remote, mirror, data } = await gitSetUp();
    repository.commit(...manyCommits(3), { branch: 'other', from: 'main', files: { a: 'other' } });
    await git.fetch('game', remote, main, enoughTime);
    const packs = join(mirror, 'objects', 'pack');
    // Each fetch that runs here begins a pack of its own; that of main fails, and that of other waits for it.
    const failing = `case "$*" in fetch*) refspecs=$(cat);; esac
      case "$refspecs" in
      *heads/other*) exec << END
$refspecs
END
      : > ${packs}/tmp_pack_other; while ! [ -e ${folder}/failed ]; do sleep 0.05; done; [ -e ${packs}/tmp_pack_other ] || exit 9;;
      *heads/main*) : > ${packs}/tmp_pack_main; exit 1;;
      esac`;
    const both = gitIn(data, { PATH: await pathWithGit(folder, failing) });
    const other = both.fetch('game', remote, branchNamed('other'), enoughTime);
    await expect.poll(() => readdir(packs)).toContain('tmp_pack_other');
    await failureOf(both.fetch('game', remote, main, enoughTime));
    await writeFile(join(folder, 'failed'), '');
    expect((await other).head).toBe(repository.head('other'));
    await expectSound(mirror, data);
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

test('maintenance does not look for deltas, which takes minutes for assets', async () => {
  const { git, repository, remote, mirror } = await gitSetUp();
  for (let round = 0; round < 21; round += 1) {
    // Similar files, each in a pack of its own: the remote sends no deltas between branches without common history.
    const asset = `${round}${'similar'.repeat(2_000)}`;
    repository.commit({ branch: `asset-${round}`, files: { asset } });
    await git.fetch('game', remote, branchNamed(`asset-${round}`), enoughTime);
  }
  await git.maintain('game', enoughTime);
  const [pack = '', ...others] = (await readdir(join(mirror, 'objects', 'pack'))).filter((name) => /\.idx$/.test(name));
  expect(others).toEqual([]);
  expect(gitAt(mirror, 'verify-pack', '--verbose', join(mirror, 'objects', 'pack', pack))).not.toContain(
    'chain length',
  );
});

test('a mirror is replaced if it is not a repository', async () => {
  const { git, repository, remote, mirror, data } = await gitSetUp();
  repository.commit(...manyCommits(3));
  const packs = join(mirror, 'objects', 'pack');
  await mkdir(packs, { recursive: true });
  await writeFile(join(packs, 'pack-1.pack'), '');
  await git.fetch('game', remote, main, enoughTime);
  await expectSound(mirror, data);
});
