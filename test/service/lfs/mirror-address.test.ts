import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pointerTo } from '../../support/lfs-store.ts';
import { folderOfTests } from '../../support/temporary-folder.ts';
import { sharedService } from '../http/shared-service.ts';
import { gitClient, mirrored } from '../mirror/mirror-of.ts';
import { needsClient } from './desk.ts';
import { expectLfsError, lfsOf } from './lfs-of.ts';
import { objectName, ownerOf, storeObject } from './stored-object.ts';

/** Tests the LFS endpoint at the URLs that clients derive from the URL of a mirror. */
const service = sharedService();
const folder = folderOfTests();
const hero = randomBytes(1_000);
const guesses = ['git.git/info/lfs', 'git/info/lfs'];

test.each(guesses)(
  'locks, lists, verifies and unlocks at %s, with the locks of the workspace and the errors of Git LFS',
  async (guess) => {
    const { id: workspace, paths } = await service.newWorkspace();
    const lfs = lfsOf(service, workspace, service.secret, guess);
    const taken = await lfs.take('Content/Hero.uasset');
    expect([taken.status, taken.body.lock.path]).toEqual([201, 'Content/Hero.uasset']);
    expect(await paths()).toEqual(['Content/Hero.uasset']);
    expect((await lfs.list('?limit=1')).body.locks).toEqual([taken.body.lock]);
    expect((await lfs.verify()).body).toMatchObject({ ours: [taken.body.lock], theirs: [] });
    expect((await lfs.release(taken.body.lock.id)).status).toBe(200);
    expect(await paths()).toEqual([]);
    expectLfsError(await lfsOf(service, 'nowhere', service.secret, guess).list(), 403);
  },
);

test.each(['git.git', 'git.git/info/lfsx', 'git.git/info/refs', 'git.gitt/info/lfs/locks', 'git/x/info/lfs/locks'])(
  'no LFS endpoint exists at %s',
  async (path) => {
    const response = await service.ask('GET', `/v1/workspaces/${service.home}/${path}`, { token: service.secret });
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.headers.get('content-type')).not.toContain('git-lfs');
  },
);

test('a plain clone of a mirror fetches its LFS objects from the mirror', async (context) => {
  needsClient(context);
  const { secret } = await service.token({ scopes: ['sync'] });
  const { remote, workspace, sync, url } = await mirrored(service, folder, secret);
  remote.commit({
    branch: 'main',
    files: { '.gitattributes': '*.uasset filter=lfs -text\n', 'Hero.uasset': pointerTo(objectName(hero)) },
  });
  await storeObject(service.dataFolder, await ownerOf(service, workspace), hero);
  await sync();
  const client = await gitClient();
  await client.git('lfs', 'install', '--skip-repo');
  await client.git('clone', '--quiet', url, 'game');
  expect(await readFile(join(client.folder, 'game/Hero.uasset'))).toEqual(hero);
});
