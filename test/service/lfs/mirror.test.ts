import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRepository } from '../../support/git-repository.ts';
import { leaveOut } from '../../support/left-out.ts';
import { type LfsStore, pointerTo, startLfsStore } from '../../support/lfs-store.ts';
import { storeObject } from '../../support/stored-object.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { sharedService } from '../http/shared-service.ts';
import { type Desk, setUpDesk, whyNoClient } from './desk.ts';

/** Tests the real client with the service as its `lfs.url`, and a store behind the service. */
const service = sharedService();
let store: LfsStore;

beforeEach(async (context) => {
  if (whyNoClient !== undefined) leaveOut(context, whyNoClient);
  store = await startLfsStore();
});
afterEach(() => store?.close());

const assets = new Map(
  ['Hero', 'Villain', 'World'].map((name, index) => [`${name}.uasset`, randomBytes(1_000 + index * 400_000)]),
);

/** A repository with three assets, all in the store, and a workspace whose mirror has the named ones. */
async function studio({ mirrored }: { readonly mirrored: readonly string[] }) {
  const folder = temporaryFolder();
  const repository = createRepository(folder);
  const workspace = await service.workspace('ssh://git@git.example.com/studio/game.git', { lfs_url: store.url });
  const pointers = [...assets].map(([path, content]) => [path, pointerTo(store.put(content))] as const);
  const url = `${service.baseUrl}/v1/workspaces/${workspace}/lfs`;
  repository.commit({
    branch: 'main',
    files: {
      '.gitattributes': '*.uasset filter=lfs diff=lfs merge=lfs -text\n',
      '.lfsconfig': `[lfs]\n\turl = ${url}\n`,
      ...Object.fromEntries(pointers),
    },
  });
  const objects = [];
  for (const name of mirrored) {
    objects.push(await storeObject(service.dataFolder, workspace, assets.get(name) ?? Buffer.of()));
  }
  const { secret: password } = await service.token({ scopes: ['contents:read'] });
  const here = { host: new URL(service.baseUrl).host, username: 'ci', password };
  return {
    objects,
    clone: (options: { readonly skipSmudge?: boolean; readonly atStore?: boolean } = {}) => {
      const atStore = { ...store, host: `127.0.0.1:${store.port}` };
      const credentials = options.atStore === true ? [here, atStore] : [here];
      return setUpDesk({ folder, name: 'ci', credentials, skipSmudge: options.skipSmudge === true });
    },
  };
}

async function expectAllAssets({ clone, git }: Desk): Promise<void> {
  for (const [path, content] of assets) expect(await readFile(join(clone, path))).toEqual(content);
  await git('lfs', 'fsck');
}

test('a clone gets all objects from the mirror while the store is down', async () => {
  const { clone } = await studio({ mirrored: [...assets.keys()] });
  store.close();
  await expectAllAssets(await clone());
});

test.each([
  ['has none', []],
  ['lacks some', ['Hero.uasset']],
])('a clone gets all objects from the store with its own credentials if the mirror %s', async (_what, mirrored) => {
  const { clone } = await studio({ mirrored });
  await expectAllAssets(await clone({ atStore: true }));
  expect(store.downloads).toHaveLength(3);
});

test('an interrupted download resumes', async () => {
  const { clone, objects } = await studio({ mirrored: [...assets.keys()] });
  const desk = await clone({ skipSmudge: true });
  const incomplete = join(desk.clone, '.git/lfs/incomplete');
  await mkdir(incomplete, { recursive: true });
  const [, , world] = objects;
  const content = assets.get('World.uasset') ?? Buffer.of();
  await writeFile(join(incomplete, `${world?.oid}.part`), content.subarray(0, 300_000));
  await desk.git('lfs', 'pull');
  await expectAllAssets(desk);
  const parts = service
    .log()
    .split('\n')
    .filter((line) => line.includes('"status":206') && line.includes(world?.oid ?? ''));
  expect(parts).toHaveLength(1);
});

test('an uploaded object goes to the store', async () => {
  const { clone } = await studio({ mirrored: [...assets.keys()] });
  const desk = await clone({ atStore: true });
  await desk.commit('New.uasset', 'a new asset');
  await desk.git('push', '--quiet', 'origin', 'main');
  expect([...store.objects.values()].map(String)).toContain('a new asset');
});
