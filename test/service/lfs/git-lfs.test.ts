import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { Scope } from '../../../src/service/contract/scopes.ts';
import { createRepository, type Repository } from '../../support/git-repository.ts';
import { leaveOut } from '../../support/left-out.ts';
import { type LfsStore, startLfsStore } from '../../support/lfs-store.ts';
import { ask } from '../../support/running-service.ts';
import { runCommand, startServiceProcess } from '../../support/service-process.ts';
import { bearerOf, takeIn } from '../../support/taken-locks.ts';
import { startTcpBalancer } from '../../support/tcp-balancer.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { locksOf, sharedService } from '../http/shared-service.ts';
import { type Credential, type Desk, setUpDesk, whyNoClient } from './desk.ts';

/** Tests the real client as artists and their editors use it: two clones of a repository with two owners. */
const service = sharedService();
let store: LfsStore;

beforeEach((context) => {
  if (whyNoClient !== undefined) leaveOut(context, whyNoClient);
});

beforeAll(async () => {
  store = await startLfsStore();
});
afterAll(() => store.close());

const hostOf = (address: string): string => new URL(address).host;
const atStore = (): Credential => ({ ...store, host: `127.0.0.1:${store.port}` });

/** The secret of an existing token, or the scopes of a new one. */
interface DeskAccess {
  readonly secret?: string;
  readonly scopes?: readonly Scope[];
}

interface Studio {
  readonly folder: string;
  readonly repository: Repository;
  readonly workspace: string;
  /** A clone whose owner can authenticate with the service and the store. */
  desk(name: string, access?: DeskAccess): Promise<Desk>;
}

/** A repository with two assets that points its clients to the service. */
async function openStudio(lfsUrl?: (workspace: string) => string): Promise<Studio> {
  const folder = temporaryFolder();
  const repository = createRepository(folder);
  const workspace = await service.workspace('ssh://git@git.example.com/studio/game.git', { lfs_url: store.url });
  const url = lfsUrl?.(workspace) ?? `${service.baseUrl}/v1/workspaces/${workspace}/lfs`;
  repository.commit({
    branch: 'main',
    files: {
      '.gitattributes': '*.uasset filter=lfs diff=lfs merge=lfs -text lockable\n',
      '.lfsconfig': `[lfs]\n\turl = ${url}\n\tlocksverify = true\n`,
    },
  });
  return {
    folder,
    repository,
    workspace,
    async desk(name, { secret, scopes = ['locks:write'] }: DeskAccess = {}) {
      const password = secret ?? (await service.token({ name, scopes })).secret;
      const here = { host: hostOf(url), username: name, password };
      return setUpDesk({ folder, name, credentials: [here, atStore()] });
    },
  };
}

/** Two clones that have both assets. */
async function twoDesks(studio: Studio): Promise<readonly [ada: Desk, bob: Desk]> {
  const ada = await studio.desk('ada');
  await ada.commit('Content/Hero.uasset', 'the first hero');
  await ada.commit('Content/Villain.uasset', 'the first villain');
  await ada.git('push', '--quiet', 'origin', 'main');
  const bob = await studio.desk('bob');
  return [ada, bob];
}

test("two owners lock, list, verify and unlock, and see each other's locks", async () => {
  const studio = await openStudio();
  const [ada, bob] = await twoDesks(studio);
  expect(await ada.git('lfs', 'lock', 'Content/Hero.uasset')).toContain('Locked Content/Hero.uasset');
  const inService = (await locksOf(service, studio.workspace, service.secret).list()).body.locks;
  expect(inService).toMatchObject([{ path: 'Content/Hero.uasset', owner: 'ada' }]);

  const refused = await bob.run('lfs', 'lock', 'Content/Hero.uasset');
  expect(refused.code).not.toBe(0);
  for (const part of ['held by ada', inService[0].expires_at, inService[0].acquired_at]) {
    expect(refused.stderr + refused.stdout).toContain(part);
  }
  expect(await bob.git('lfs', 'locks')).toMatch(/^Content\/Hero\.uasset\s+ada\s+ID:lock_\S+\n$/);
  await bob.git('lfs', 'lock', 'Content/Villain.uasset');
  expect(await bob.git('lfs', 'locks', '--verify')).toMatch(
    /^ {2}Content\/Hero\.uasset\s+ada\s+ID:\S+\nO Content\/Villain\.uasset\s+bob\s+ID:\S+\n$/,
  );
  expect(JSON.parse(await bob.git('lfs', 'locks', '--json', '--path', 'Content/Villain.uasset'))).toMatchObject([
    { path: 'Content/Villain.uasset', owner: { name: 'bob' } },
  ]);

  const stolen = await bob.run('lfs', 'unlock', 'Content/Hero.uasset');
  expect(stolen.code).not.toBe(0);
  expect(stolen.stderr + stolen.stdout).toContain('held by ada');
  expect(await ada.git('lfs', 'unlock', 'Content/Hero.uasset')).toContain('Unlocked Content/Hero.uasset');
  expect(await bob.git('lfs', 'lock', 'Content/Hero.uasset')).toContain('Locked');
});

test('unlock --force needs the scope locks:admin', async () => {
  const studio = await openStudio();
  const [ada, bob] = await twoDesks(studio);
  await ada.git('lfs', 'lock', 'Content/Hero.uasset');
  const refused = await bob.run('lfs', 'unlock', '--force', 'Content/Hero.uasset');
  expect(refused.code).not.toBe(0);
  expect(refused.stderr + refused.stdout).toContain('needs the scope locks:admin');
  const lead = await studio.desk('lead', { scopes: ['locks:admin'] });
  expect(await lead.git('lfs', 'unlock', '--force', 'Content/Hero.uasset')).toContain('Unlocked');
  expect(await ada.git('lfs', 'locks')).toBe('');
});

test('the client refuses to push a file that someone else holds, and pushes one that its user holds', async () => {
  const studio = await openStudio();
  const [ada, bob] = await twoDesks(studio);
  await ada.git('lfs', 'lock', 'Content/Hero.uasset');
  const before = studio.repository.head('main');
  await bob.git('config', 'lfs.setlockablereadonly', 'false');
  await rm(join(bob.clone, 'Content/Hero.uasset'));
  await bob.commit('Content/Hero.uasset', 'the hero of bob');
  const refused = await bob.run('push', 'origin', 'main');
  expect(refused.code).not.toBe(0);
  expect(refused.stderr + refused.stdout).toContain('Content/Hero.uasset - ada');
  expect(studio.repository.head('main')).toBe(before);

  await ada.commit('Content/Hero.uasset', 'the second hero');
  await ada.git('push', 'origin', 'main');
  expect(studio.repository.head('main')).not.toBe(before);
});

test('listing and verifying include all pages of a thousand locks', async () => {
  const studio = await openStudio();
  const [ada, bob] = await twoDesks(studio);
  const { workspace } = studio;
  const archived = Array.from({ length: 1_000 }, (_, index) => `Archive/${index}.uasset`);
  const { storage } = service;
  await storage.commit({ workspace }, (db) =>
    takeIn(db, storage, archived, { workspace, bearer: bearerOf('importer') }),
  );
  await ada.git('lfs', 'lock', 'Content/Hero.uasset');
  await bob.git('lfs', 'lock', 'Content/Villain.uasset');
  expect((await bob.git('lfs', 'locks')).split('\n')).toHaveLength(1_003);
  expect((await bob.git('lfs', 'locks', '--limit', '3')).split('\n')).toHaveLength(4);
  const verified = await bob.git('lfs', 'locks', '--verify');
  expect(verified.split('\n').filter((line) => line.startsWith('O '))).toEqual([
    expect.stringMatching(/^O Content\/Villain\.uasset/),
  ]);
  await bob.commit('Content/Villain.uasset', 'the villain of bob');
  await bob.git('push', 'origin', 'main');
});

test('a hidden workspace rejects pushes, and does not disable the lock check', async () => {
  const studio = await openStudio();
  const { secret } = await service.token({ name: 'stranger', workspaces: ['another'] });
  const stranger = await studio.desk('stranger', { secret });
  const refused = await stranger.run('lfs', 'locks');
  expect(refused.code).not.toBe(0);
  expect(refused.stderr + refused.stdout).toContain('There is no workspace');
  await stranger.commit('Content/Hero.uasset', 'a hero');
  expect((await stranger.run('push', 'origin', 'main')).code).not.toBe(0);
  expect(await stranger.git('config', '--list', '--local')).not.toContain('locksverify');
  // Without the required setting (see docs/git-lfs.md), the check only warns, and the batch rejects the push.
  await stranger.git('config', 'lfs.url', (await stranger.git('config', '--file', '.lfsconfig', 'lfs.url')).trim());
  await stranger.git('rm', '--quiet', '.lfsconfig');
  await stranger.git('commit', '--quiet', '--message', 'no check');
  const { stderr } = await stranger.run('push', 'origin', 'main');
  expect(stderr).toMatch(/^warning: Authentication error: .*There is no workspace/);
});

test('pushed objects go to the store behind the service and back, with the credentials of the store', async () => {
  const studio = await openStudio();
  await twoDesks(studio);
  expect([...store.objects.values()].map(String)).toContain('the first hero');
  const carla = await studio.desk('carla', { scopes: [] });
  await carla.git('lfs', 'pull');
  expect(await readFile(join(carla.clone, 'Content/Hero.uasset'), 'utf8')).toBe('the first hero');
  for (const authorization of store.authorizations) expect(atob((authorization ?? '').slice(6))).not.toContain('wsa_');
});

test('a client that authenticates with a header needs another header for the store', async () => {
  const studio = await openStudio();
  const { secret } = await service.token({ name: 'dora', scopes: ['locks:write'] });
  const { folder } = studio;
  const dora = await setUpDesk({ folder, name: 'dora' });
  await dora.git('config', `http.${service.baseUrl}.extraHeader`, `Authorization: Bearer ${secret}`);
  await dora.commit('Content/Hero.uasset', 'the hero of dora');
  await dora.git('lfs', 'lock', 'Content/Hero.uasset');
  expect((await dora.run('push', 'origin', 'main')).code).not.toBe(0);
  const { username, password, url } = store;
  await dora.git(
    'config',
    `http.${new URL(url).origin}.extraHeader`,
    `Authorization: Basic ${btoa(`${username}:${password}`)}`,
  );
  await dora.git('push', 'origin', 'main');
  expect([...store.objects.values()].map(String)).toContain('the hero of dora');
});

test('a remote only for locks lets users lock by its name', async () => {
  const studio = await openStudio();
  const { workspace, repository } = studio;
  const url = `${service.baseUrl}/v1/workspaces/${workspace}/lfs`;
  const lfsconfig = `[lfs]\n\tlocksverify = true\n[remote "locks"]\n\tlfsurl = ${url}\n`;
  repository.commit({ branch: 'main', files: { '.lfsconfig': lfsconfig } });
  const ada = await studio.desk('ada');
  await ada.commit('Content/Hero.uasset', 'the first hero');
  expect(await ada.git('lfs', 'lock', '--remote', 'locks', 'Content/Hero.uasset')).toContain('Locked');
  expect(await ada.git('lfs', 'locks', '--remote', 'locks', '--verify')).toMatch(/^O Content\/Hero\.uasset/);
  await ada.git('lfs', 'unlock', '--remote', 'locks', 'Content/Hero.uasset');
  expect((await locksOf(service, workspace, service.secret).list()).body.locks).toEqual([]);
});

test('a stopped service makes a push fail, and locks survive its restart', async () => {
  const folder = temporaryFolder();
  let target: number | undefined;
  const balancer = await startTcpBalancer({ targets: () => (target === undefined ? [] : [target]) });
  onTestFinished(balancer.close);
  async function start() {
    const running = await startServiceProcess({ folder: join(folder, 'data') });
    target = Number(new URL(running.baseUrl).port);
    return running;
  }
  const first = await start();
  const studio = await openStudio(() => `http://127.0.0.1:${balancer.port}/v1/workspaces/${first.workspace}/lfs`);
  const address = `http://127.0.0.1:${balancer.port}`;
  const update = ['workspace', 'update', first.workspace, '--lfs-url', store.url];
  expect(await runCommand(update, { folder: join(folder, 'data') })).toMatchObject({ code: 0 });
  const ada = await studio.desk('ada', { secret: first.token });
  await ada.commit('Content/Hero.uasset', 'the first hero');
  await ada.git('lfs', 'lock', 'Content/Hero.uasset');
  target = undefined;
  await first.kill();
  expect((await ada.run('push', 'origin', 'main')).code).not.toBe(0);
  expect((await ada.run('lfs', 'unlock', 'Content/Hero.uasset')).code).not.toBe(0);

  const second = await start();
  await ada.git('push', 'origin', 'main');
  expect(await ada.git('lfs', 'locks', '--verify')).toMatch(/^O Content\/Hero\.uasset/);
  await ada.git('lfs', 'unlock', 'Content/Hero.uasset');
  const { body } = await ask(address, 'GET', `/v1/workspaces/${second.workspace}/locks`, { token: first.token });
  expect(body.locks).toEqual([]);
  await second.stop();
});
