import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { Scope } from '../../../src/service/contract/scopes.ts';
import type { WorkspaceSettings } from '../../../src/service/workspaces/workspaces.ts';
import { createRepository } from '../../support/git-repository.ts';
import { startLfsStore } from '../../support/lfs-store.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { locksOf, sharedService } from '../http/shared-service.ts';
import { needsClient, setUpDesk } from './desk.ts';

/** Tests the real client as artists, editors and jobs use it: clones of a repository with several owners. */
const service = sharedService();

beforeEach(needsClient);

const hero = 'Content/Hero.uasset';
const villain = 'Content/Villain.uasset';

interface DeskAccess {
  /** The secret of an existing token, or the scopes of a new one. */
  readonly secret?: string;
  readonly scopes?: readonly Scope[];
}

/**
 * A repository for assets with a workspace, and a store behind the service with credentials of its own. With settings,
 * the workspace knows the repository, and compares its branches.
 */
async function openStudio(settings?: Partial<WorkspaceSettings>) {
  const store = await startLfsStore();
  onTestFinished(store.close);
  const folder = temporaryFolder();
  const repository = createRepository(folder);
  const remote = settings === undefined ? 'ssh://git@git.example.com/studio/game.git' : `file://${repository.path}`;
  const workspace = await service.workspace(remote, { lfs_url: store.url, ...settings });
  const url = `${service.baseUrl}/v1/workspaces/${workspace}/lfs`;
  const config = `[lfs]\n\turl = ${url}\n\tlocksverify = true\n`;
  const attributes = '*.uasset filter=lfs diff=lfs merge=lfs -text lockable\n';
  repository.commit({ branch: 'main', files: { '.gitattributes': attributes, '.lfsconfig': config } });
  async function desk(name: string, { secret, scopes = ['locks:write'] }: DeskAccess = {}) {
    const password = secret ?? (await service.token({ name, scopes })).secret;
    const here = { host: new URL(url).host, username: name, password };
    const there = { ...store, host: `127.0.0.1:${store.port}` };
    return setUpDesk({ folder, name, credentials: [here, there] });
  }
  const { paths } = locksOf(service, workspace, service.secret);
  return { store, repository, workspace, url, desk, held: paths };
}

/** Two clones that have both assets. */
async function twoDesks({ desk }: Pick<Awaited<ReturnType<typeof openStudio>>, 'desk'>, branches = ['main']) {
  const ada = await desk('ada');
  await ada.commit(hero, 'the first hero');
  await ada.commit(villain, 'the first villain');
  await ada.git('push', '--quiet', 'origin', ...branches);
  return [ada, await desk('bob')] as const;
}

test("two owners lock, list, verify and unlock, and see each other's locks", async () => {
  const studio = await openStudio();
  const [ada, bob] = await twoDesks(studio);
  expect(await ada.git('lfs', 'lock', hero)).toContain(`Locked ${hero}`);
  const [lock] = (await locksOf(service, studio.workspace, service.secret).list()).body.locks;
  expect(lock).toMatchObject({ path: hero, owner: 'ada' });
  const refused = await bob.refused('lfs', 'lock', hero);
  for (const part of ['held by ada', lock.expires_at, lock.acquired_at]) expect(refused).toContain(part);
  expect(await bob.git('lfs', 'locks')).toMatch(/^Content\/Hero\.uasset\s+ada\s+ID:lock_\S+\n$/);
  await bob.git('lfs', 'lock', villain);
  expect(await bob.git('lfs', 'locks', '--verify')).toMatch(
    /^ {2}Content\/Hero\.uasset\s+ada\s+ID:\S+\nO Content\/Villain\.uasset\s+bob\s+ID:\S+\n$/,
  );
  expect(JSON.parse(await bob.git('lfs', 'locks', '--json', '--path', villain))).toMatchObject([
    { path: villain, owner: { name: 'bob' } },
  ]);
  expect(await bob.refused('lfs', 'unlock', hero)).toContain('held by ada');
  expect(await bob.refused('lfs', 'unlock', '--force', hero)).toContain('needs the scope locks:admin');
  expect(await ada.git('lfs', 'unlock', hero)).toContain(`Unlocked ${hero}`);
  expect(await bob.git('lfs', 'lock', hero)).toContain('Locked');
});

test('the client refuses to push a file that someone else holds, and pushes one that its user holds', async () => {
  const studio = await openStudio();
  const [ada, bob] = await twoDesks(studio);
  await ada.git('lfs', 'lock', hero);
  const before = studio.repository.head('main');
  await bob.git('config', 'lfs.setlockablereadonly', 'false');
  await rm(join(bob.clone, hero));
  await bob.commit(hero, 'the hero of bob');
  expect(await bob.refused('push', 'origin', 'main')).toContain(`${hero} - ada`);
  expect(studio.repository.head('main')).toBe(before);
  await ada.commit(hero, 'the second hero');
  await ada.git('push', 'origin', 'main');
  expect(studio.repository.head('main')).not.toBe(before);
});

test('a hidden workspace rejects pushes, and does not disable the lock check', async () => {
  const studio = await openStudio();
  const { secret } = await service.token({ name: 'stranger', workspaces: ['another'] });
  const stranger = await studio.desk('stranger', { secret });
  expect(await stranger.refused('lfs', 'locks')).toContain('There is no workspace');
  await stranger.commit(hero, 'a hero');
  await stranger.refused('push', 'origin', 'main');
  expect(await stranger.git('config', '--list', '--local')).not.toContain('locksverify');
  // Without the required setting (see docs/git-lfs.md), the check only warns, and the batch rejects the push.
  await stranger.git('config', 'lfs.url', studio.url);
  await stranger.git('rm', '--quiet', '.lfsconfig');
  await stranger.git('commit', '--quiet', '--message', 'no check');
  expect(await stranger.refused('push', 'origin', 'main')).toMatch(
    /^warning: Authentication error: .*There is no workspace/,
  );
});

test('pushed objects go to the store behind the service and back, with the credentials of the store', async () => {
  const studio = await openStudio();
  const { store } = studio;
  await twoDesks(studio);
  expect([...store.objects.values()].map(String)).toContain('the first hero');
  const carla = await studio.desk('carla', { scopes: [] });
  await carla.git('lfs', 'pull');
  expect(await readFile(join(carla.clone, hero), 'utf8')).toBe('the first hero');
  for (const authorization of store.authorizations) expect(atob((authorization ?? '').slice(6))).not.toContain('wsa_');
});

test('a lock on an outdated file is refused with the reason, and granted after a merge', async () => {
  const { desk, held } = await openStudio({ latest: 'refuse', latest_branches: 'main,release/*' });
  const [ada, bob] = await twoDesks({ desk: (name) => desk(name, { scopes: ['locks:write', 'contents:read'] }) }, [
    'main',
    'main:release/1.4',
  ]);
  await bob.git('switch', '--quiet', '--create', 'feature');
  await bob.git('push', '--quiet', '--set-upstream', 'origin', 'feature');
  await ada.git('config', 'lfs.setlockablereadonly', 'false');
  await ada.commit(hero, 'hero 2');
  await ada.git('push', '--quiet', 'origin', 'main:release/1.4');
  // As the Unreal plugin does, with several files at once. The other one is the same on all branches.
  expect(await bob.refused('lfs', 'lock', hero, villain)).toMatch(
    /Content\/Hero\.uasset is outdated on feature: release\/1\.4 has a newer version, from commit \w+ by ada .*Merge release\/1\.4 first/s,
  );
  expect(await held()).toEqual([villain]);

  await bob.git('pull', '--quiet', '--no-edit', 'origin', 'release/1.4');
  await bob.git('push', '--quiet', 'origin', 'feature');
  await expect.poll(() => bob.git('lfs', 'lock', hero).catch(String), { timeout: 30_000 }).toContain('Locked');
  expect(await held()).toEqual([hero, villain]);
}, 120_000);
