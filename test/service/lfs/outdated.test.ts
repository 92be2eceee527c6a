import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createRepository } from '../../support/git-repository.ts';
import { leaveOut } from '../../support/left-out.ts';
import { type LfsStore, startLfsStore } from '../../support/lfs-store.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { locksOf, sharedService } from '../http/shared-service.ts';
import { setUpDesk, whyNoClient } from './desk.ts';

/** The real client in two clones of a repository with three branches. */
const service = sharedService();
let store: LfsStore;

beforeEach((context) => {
  if (whyNoClient !== undefined) leaveOut(context, whyNoClient);
});
beforeAll(async () => {
  store = await startLfsStore();
});
afterAll(() => store.close());

const hero = 'Content/Hero.uasset';
const villain = 'Content/Villain.uasset';

async function openStudio() {
  const folder = temporaryFolder();
  const repository = createRepository(folder);
  const workspace = await service.workspace(`file://${repository.path}`, {
    lfs_url: store.url,
    latest: 'refuse',
    latest_branches: '["main","release/*"]',
  });
  const url = `${service.baseUrl}/v1/workspaces/${workspace}/lfs`;
  repository.commit({
    branch: 'main',
    files: {
      '.gitattributes': '*.uasset filter=lfs diff=lfs merge=lfs -text lockable\n',
      '.lfsconfig': `[lfs]\n\turl = ${url}\n\tlocksverify = true\n`,
    },
  });
  const desk = async (name: string) => {
    const { secret } = await service.token({ name, scopes: ['locks:write', 'contents:read'] });
    const credentials = [
      { host: new URL(url).host, username: name, password: secret },
      { ...store, host: `127.0.0.1:${store.port}` },
    ];
    return setUpDesk({ folder, name, credentials });
  };
  const ada = await desk('ada');
  await ada.commit(hero, 'hero 1');
  await ada.commit(villain, 'villain 1');
  await ada.git('push', '--quiet', 'origin', 'main', 'main:release/1.4');
  const bob = await desk('bob');
  await bob.git('switch', '--quiet', '--create', 'feature');
  await bob.git('push', '--quiet', '--set-upstream', 'origin', 'feature');
  const { paths } = locksOf(service, workspace, service.secret);
  return { ada, bob, held: paths };
}

test('a lock on an outdated file is refused with the reason, and granted after a merge', async () => {
  const { ada, bob, held } = await openStudio();
  await ada.git('lfs', 'lock', hero);
  await ada.commit(hero, 'hero 2');
  await ada.git('push', '--quiet', 'origin', 'main:release/1.4');

  await ada.git('lfs', 'unlock', '--force', hero);
  const refused = await bob.run('lfs', 'lock', hero);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr + refused.stdout).toMatch(
    /Content\/Hero\.uasset is outdated on feature: release\/1\.4 has a newer version, from commit \w+ by ada .*Merge release\/1\.4 first/s,
  );
  expect(await held()).toEqual([]);
  // A file that is the same on all branches.
  await bob.git('lfs', 'lock', villain);
  expect(await bob.git('lfs', 'locks', '--verify')).toMatch(/^O Content\/Villain\.uasset\s+bob\s/);

  await bob.git('pull', '--quiet', '--no-edit', 'origin', 'release/1.4');
  await bob.git('push', '--quiet', 'origin', 'feature');
  await expect.poll(async () => (await bob.run('lfs', 'lock', hero)).code, { timeout: 30_000 }).toBe(0);
  expect(await held()).toEqual([hero, villain]);
  await ada.git('config', 'lfs.setlockablereadonly', 'false');
  await ada.commit(hero, 'hero 3');
  const locked = await ada.run('push', 'origin', 'main');
  expect(locked.code).not.toBe(0);
  expect(locked.stdout + locked.stderr).toContain('Content/Hero.uasset - bob');
}, 120_000);

/** The calls of the Unreal plugin: it locks several files at once, and reads the columns of `git lfs locks`. */
test('the calls of the Unreal plugin lock what is current, and name the file that is not', async () => {
  const { ada, bob, held } = await openStudio();
  await ada.git('config', 'lfs.setlockablereadonly', 'false');
  await ada.commit(hero, 'hero 2');
  await ada.git('push', '--quiet', 'origin', 'main:release/1.4');
  const locked = await bob.run('lfs', 'lock', hero, villain);
  expect(locked.code).not.toBe(0);
  expect(locked.stderr + locked.stdout).toContain('Content/Hero.uasset is outdated on feature');
  expect(await held()).toEqual([villain]);
  for (const where of [[], ['--cached']]) {
    const [line = '', ...others] = (await bob.git('lfs', 'locks', ...where)).trimEnd().split('\n');
    const [path, owner, id] = line.split('\t').map((column) => column.trim());
    expect([path, owner, id, others]).toEqual([villain, 'bob', expect.stringMatching(/^ID:lock_/), []]);
  }
  await bob.git('lfs', 'unlock', villain);
  expect(await held()).toEqual([]);
}, 120_000);
