import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { manyCommits } from '../../support/git-repository.ts';
import { folderOfTests } from '../../support/temporary-folder.ts';
import { sharedService } from '../http/shared-service.ts';
import { fetchAt, gitClient, type Mirrored, mirrored } from './mirror-of.ts';

const folder = folderOfTests();

describe.each(databaseKinds)('a mirror whose folder was removed, on $name', (kind) => {
  const service = sharedService(kind);

  // Maintenance of the mirror may still be writing to it.
  const removeFolder = ({ workspace }: Mirrored) =>
    rm(join(service.dataFolder, 'mirrors', `${workspace}.git`), { recursive: true, force: true, maxRetries: 10 });

  const trigger = ({ workspace }: Mirrored, branch: string) =>
    service.ask('POST', `/v1/workspaces/${workspace}/sync`, { token: service.secret, json: { branch } });

  /** The remote has deleted `old` since both branches were synced. */
  async function lostMirror(): Promise<Mirrored> {
    const mirror = await mirrored(service, folder, service.secret);
    const { remote } = mirror;
    remote.commit(...manyCommits(3), { branch: 'old', from: 'main', files: { a: '1' } });
    await mirror.sync();
    await mirror.sync('old');
    await removeFolder(mirror);
    remote.git('update-ref', '-d', 'refs/heads/old');
    remote.commit({ branch: 'main', files: { b: '2' } });
    return mirror;
  }

  test('serves a branch again after its sync, even if another branch was deleted from the remote', async () => {
    const mirror = await lostMirror();
    const [client, { remote }] = [await gitClient(), mirror];
    await mirror.sync();
    const heads = `${remote.head('main')}\tHEAD\n${remote.head('main')}\trefs/heads/main\n`;
    expect(await client.git('ls-remote', mirror.url)).toBe(heads);
    await client.git('clone', '--quiet', mirror.url, 'game');
    // A former head, next to one that the mirror lacks.
    const { text } = await fetchAt(service, mirror, service.secret, remote.git('rev-parse', 'main~1').trim());
    expect(text).toContain('PACK');
  });

  test('is fetched again when it is asked for, with all branches', async () => {
    const mirror = await mirrored(service, folder, service.secret);
    const { remote } = mirror;
    remote.commit({ branch: 'main', files: { a: '1' } }, { branch: 'art', from: 'main', files: { a: '2' } });
    await mirror.sync();
    await mirror.sync('art');
    await removeFolder(mirror);
    // The mirror is as of its syncs.
    const [main, art] = [remote.head('main'), remote.head('art')];
    remote.commit({ branch: 'main', files: { a: '3' } });
    remote.git('update-ref', '-d', 'refs/heads/art');
    const client = await gitClient();
    const heads = `${art}\trefs/heads/art\n${main}\trefs/heads/main\n`;
    expect(await client.git('ls-remote', '--heads', mirror.url)).toBe(heads);
    await client.git('clone', '--quiet', mirror.url, 'game');
  });

  test('asks clients to retry while the remote is down, and serves all branches or none', async () => {
    const mirror = await mirrored(service, folder, service.secret);
    mirror.remote.commit({ branch: 'main', files: { a: '1' } });
    await mirror.sync();
    await removeFolder(mirror);
    await rename(mirror.remote.path, `${mirror.remote.path}-down`);
    const query = `${mirror.path}/info/refs?service=git-upload-pack`;
    const { status, headers, text } = await service.ask('GET', query, { token: service.secret });
    expect([status, headers.get('retry-after'), text]).toEqual([
      503,
      '5',
      'This instance could not fetch the branch main from the remote. Try again in a minute.\n',
    ]);
    await rename(`${mirror.remote.path}-down`, mirror.remote.path);
    await (await gitClient()).git('clone', '--quiet', mirror.url, 'game');
  });

  test('stops serving a branch that the remote deleted if its sync is requested, and reports it', async () => {
    const mirror = await lostMirror();
    const { status, body } = await trigger(mirror, 'old');
    expect([status, body.errors[0].detail]).toEqual([
      422,
      'The remote no longer has the branch old, so the mirror stopped serving it. The remote has main.',
    ]);
    const again = await trigger(mirror, 'old');
    expect([again.status, again.body.errors[0].detail]).toEqual([422, 'The remote has no branch old. It has main.']);
  });
});

describe.each(databaseKinds)('a branch that the remote deleted, on $name', (kind) => {
  const service = sharedService(kind);

  test('is served until the next sync, and again after it was created and synced again', async () => {
    const mirror = await mirrored(service, folder, service.secret);
    const { remote } = mirror;
    const client = await gitClient();
    const names = async () =>
      [...(await client.git('ls-remote', '--heads', mirror.url)).matchAll(/refs\/heads\/(\S+)/g)].map(
        ([, name]) => name,
      );
    remote.commit({ branch: 'main', files: { a: '1' } }, { branch: 'old', from: 'main', files: { a: '2' } });
    await mirror.sync();
    await mirror.sync('old');
    remote.git('update-ref', '-d', 'refs/heads/old');
    expect(await names()).toEqual(['main', 'old']);
    const deleted = (await client.git('ls-remote', mirror.url, 'refs/heads/old')).slice(0, 40);
    const fetchDeleted = () => fetchAt(service, mirror, service.secret, deleted);
    expect((await fetchDeleted()).text).toContain('PACK');
    await mirror.sync();
    expect(await names()).toEqual(['main']);
    expect((await fetchDeleted()).text).toContain('ERR ');
    remote.commit({ branch: 'old', from: 'main', files: { a: '3' } });
    await mirror.sync('old');
    await mirror.sync();
    expect(await names()).toEqual(['main', 'old']);
  });
});
