import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { gitAt, manyCommits } from '../../support/git-repository.ts';
import { changeRows } from '../../support/stored-rows.ts';
import { folderOfTests } from '../../support/temporary-folder.ts';
import { sharedService } from '../http/shared-service.ts';
import { fetchAt, gitClient, type Mirrored, mirrored } from './mirror-of.ts';

const folder = folderOfTests();
describe.each(databaseKinds)('a mirror on $name', (kind) => {
  const service = sharedService(kind);
  const token = () => service.secret;

  const newMirror = () => mirrored(service, folder, token());

  const mirrorFolder = ({ workspace }: Mirrored): string => join(service.dataFolder, 'mirrors', `${workspace}.git`);

  const post = (mirror: Mirrored, ...ids: readonly string[]) => fetchAt(service, mirror, token(), ...ids);

  const refusal = /ERR .*(?:not in any synced branch|not our ref)/;

  test('serves the commits of a sync when it has succeeded, and not before', async () => {
    const mirror = await newMirror();
    mirror.remote.commit(...manyCommits(3));
    await mirror.sync();
    const old = mirror.remote.head('main');
    mirror.remote.commit(
      { branch: 'main', files: { secret: 'a' } },
      { branch: 'other', from: 'main', files: { b: 'c' } },
    );
    const half = mirror.remote.head('main');
    // As after the fetch, and before the sync is recorded.
    gitAt(mirrorFolder(mirror), 'fetch', '--quiet', mirror.remote.path, '+refs/heads/*:refs/heads/*');
    const client = await gitClient();
    expect(await client.git('ls-remote', mirror.url)).toBe(`${old}\tHEAD\n${old}\trefs/heads/main\n`);
    const blob = mirror.remote.git('rev-parse', `${half}:secret`).trim();
    const tree = mirror.remote.git('rev-parse', `${half}^{tree}`).trim();
    for (const id of [half, tree, blob, 'a'.repeat(40), mirror.remote.head('other')]) {
      expect((await post(mirror, id)).text, id).toMatch(refusal);
      expect((await post(mirror, old, id)).text, id).toMatch(refusal);
    }
    await mirror.sync();
    expect((await post(mirror, half)).text).toContain('PACK');
  });

  test('completes an earlier clone for a day after a forced push, however long ago its head was synced', async () => {
    const mirror = await newMirror();
    mirror.remote.commit(...manyCommits(5));
    await mirror.sync();
    const told = mirror.remote.head('main');
    const { workspace } = mirror;
    await changeRows(service.storage, 'syncs', { created_at: 1, finished_at: 1 }, { workspace_id: workspace });
    mirror.remote.git('update-ref', '-d', 'refs/heads/main');
    mirror.remote.commit(...manyCommits(5, 'main', 'anew'));
    await mirror.sync();
    expect((await post(mirror, told)).text).toContain('PACK');

    // The sync that replaced it was more than a day ago.
    await changeRows(service.storage, 'syncs', { created_at: 1, finished_at: 1 }, { workspace_id: workspace });
    await changeRows(service.storage, 'synced_branches', { synced_at: 1 }, { workspace_id: workspace });
    expect((await post(mirror, told)).text).toMatch(refusal);
  });

  test('serves the last synced branch if two branch names conflict', async () => {
    const mirror = await newMirror();
    const { remote } = mirror;
    remote.commit({ branch: 'a', files: { one: '1' } });
    await mirror.sync('a');
    remote.git('update-ref', '-d', 'refs/heads/a');
    remote.commit({ branch: 'a/b', files: { two: '2' } });
    await mirror.sync('a/b');
    const client = await gitClient();
    expect(await client.git('ls-remote', '--refs', mirror.url)).toBe(`${remote.head('a/b')}\trefs/heads/a/b\n`);
    remote.git('update-ref', '-d', 'refs/heads/a/b');
    remote.commit({ branch: 'a', files: { three: '3' } });
    await mirror.sync('a');
    expect(await client.git('ls-remote', '--refs', mirror.url)).toBe(`${remote.head('a')}\trefs/heads/a\n`);
  });

  test('is not cloned before the first sync, as an empty repository', async () => {
    const { url, remote } = await newMirror();
    remote.commit({ branch: 'main', files: { a: '1' } });
    const client = await gitClient();
    for (const version of [0, 2]) {
      const output = await client.refused('-c', `protocol.version=${version}`, 'clone', url, 'empty');
      expect(output).toMatch(/remote: No branch of \S+ is synced\. Sync one first\./);
      expect(output).not.toContain('error: 5');
    }
  });

  test('reports the only synced branch as HEAD, and among several the default branch of the remote', async () => {
    const mirror = await newMirror();
    const { remote } = mirror;
    const client = await gitClient();
    remote.commit({ branch: 'main', files: { a: '1' } }, { branch: 'trunk', from: 'main', files: { b: '2' } });
    remote.commit({ branch: 'feature', from: 'main', files: { c: '3' } });
    remote.git('symbolic-ref', 'HEAD', 'refs/heads/trunk');
    await mirror.sync('feature');
    await client.git('clone', '--quiet', mirror.url, 'only');
    expect(await client.git('-C', 'only', 'ls-files')).toBe('a\nc\n');
    await mirror.sync('main');
    expect(await client.git('ls-remote', '--symref', mirror.url, 'HEAD')).toBe('');
    const { code, stderr } = await client.run('clone', mirror.url, 'without-head');
    expect([code, stderr]).toEqual([0, expect.stringContaining('remote HEAD refers to nonexistent ref')]);
    await mirror.sync('trunk');
    expect(await client.git('ls-remote', '--symref', mirror.url, 'HEAD')).toBe(
      `ref: refs/heads/trunk\tHEAD\n${remote.head('trunk')}\tHEAD\n`,
    );
  });

  test('reports missing synced commits instead of being empty', async () => {
    const mirror = await newMirror();
    mirror.remote.commit(...manyCommits(2));
    await mirror.sync();
    const lost = 'a'.repeat(40);
    await changeRows(service.storage, 'synced_branches', { head: lost }, { workspace_id: mirror.workspace });
    const client = await gitClient();
    const reason = `The remote no longer has the commit ${lost} of the branch main. Sync the branch again`;
    expect(await client.refused('clone', mirror.url, 'game')).toContain(`remote: ${reason}`);
    expect((await post(mirror, lost)).text).toContain(`ERR ${reason}`);
    await mirror.sync();
    await client.git('clone', '--quiet', mirror.url, 'game');
  });
});
