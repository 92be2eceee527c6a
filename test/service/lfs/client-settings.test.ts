import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { lfsClientSettings } from '../../../src/service/lfs/client-settings.ts';
import { createRepository } from '../../support/git-repository.ts';
import { leaveOut } from '../../support/left-out.ts';
import { type LfsStore, startLfsStore } from '../../support/lfs-store.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { sharedService } from '../http/shared-service.ts';
import { type Credential, type Desk, setUpDesk, whyNoClient } from './desk.ts';

/** Ways to point the real client to a workspace: which ones work, and which fail without a token or the service. */
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
const storeCredential = (): Credential => ({ ...store, host: `127.0.0.1:${store.port}` });

async function serviceCredential(name: string): Promise<Credential> {
  const { secret } = await service.token({ name, scopes: ['locks:write'] });
  return { host: new URL(service.baseUrl).host, username: name, password: secret };
}

/** A repository with one asset in its store. Without the service, clients find the store as usual. */
async function openProject() {
  const folder = temporaryFolder();
  const repository = createRepository(folder);
  const workspace = await service.workspace('ssh://git@git.example.com/studio/game.git', { lfs_url: store.url });
  const settings = lfsClientSettings(service.baseUrl, workspace);
  repository.commit({
    branch: 'main',
    files: { '.gitattributes': '*.uasset filter=lfs diff=lfs merge=lfs -text lockable\n' },
  });
  async function desk(name: string, credentials: readonly Credential[]): Promise<Desk> {
    const made = await setUpDesk({ folder, name, credentials, skipSmudge: true });
    await made.git('config', 'remote.origin.lfsurl', store.url);
    return made;
  }
  const founder = await desk('founder', [storeCredential()]);
  await founder.commit(hero, 'the first hero');
  await founder.git('push', '--quiet', 'origin', 'main');
  return {
    folder,
    desk,
    /** Runs the printed commands in a clone. */
    async optIn(clone: Desk) {
      for (const command of settings.perClone) await clone.git(...command.split(' ').slice(1));
    },
    async commitConfig() {
      await writeFile(join(founder.clone, '.lfsconfig'), settings.committed);
      await founder.git('add', '.lfsconfig');
      await founder.git('commit', '--quiet', '--message', '.lfsconfig');
      await founder.git('push', '--quiet', '--no-verify', 'origin', 'main');
    },
  };
}

const outputOf = ({ stdout, stderr }: Awaited<ReturnType<Desk['run']>>): string => stdout + stderr;

test('a clone without a token cannot check out LFS files once the .lfsconfig is committed', async () => {
  const project = await openProject();
  await project.commitConfig();
  const clone = setUpDesk({ folder: project.folder, name: 'contractor', credentials: [storeCredential()] });
  await expect(clone).rejects.toThrow('Clone succeeded, but checkout failed');
  const contractor = await project.desk('job', [storeCredential()]);
  // The git configuration overrides the committed file: jobs can use this workaround.
  await contractor.git('-c', `lfs.url=${store.url}`, 'lfs', 'pull');
});

test('a clone with the printed commands can lock, verify, pull and push', async () => {
  const project = await openProject();
  const ada = await project.desk('ada', [storeCredential(), await serviceCredential('ada')]);
  await project.optIn(ada);
  await ada.git('lfs', 'pull');
  await ada.git('lfs', 'lock', hero);
  expect(await ada.git('lfs', 'locks', '--verify')).toMatch(/^O Content\/Hero\.uasset\s+ada\s/);
  await ada.commit(hero, 'the second hero');
  await ada.git('push', 'origin', 'main');

  const bob = await project.desk('bob', [storeCredential(), await serviceCredential('bob')]);
  await project.optIn(bob);
  await bob.git('config', 'lfs.setlockablereadonly', 'false');
  await bob.commit(hero, 'the hero of bob');
  const refused = await bob.run('push', 'origin', 'main');
  expect(refused.code).not.toBe(0);
  expect(outputOf(refused)).toContain('Content/Hero.uasset - ada');
});

test('for an ssh remote, git-lfs with the printed settings uses the store over https, and not ssh', async () => {
  const project = await openProject();
  const token = await serviceCredential('ada');
  const ssh = async (desk: Desk) => {
    await desk.git('config', 'remote.origin.url', 'ssh://git@git.example.com/studio/game.git');
    await desk.git('config', '--unset', 'remote.origin.lfsurl');
    await desk.git('config', 'core.sshCommand', 'echo ssh was asked >&2; false');
    expect(outputOf(await desk.run('lfs', 'pull'))).toContain('ssh was asked');
    await project.optIn(desk);
    return desk;
  };
  const without = await ssh(await project.desk('without', [token]));
  const refused = await without.run('lfs', 'pull');
  expect(refused.code).not.toBe(0);
  expect(outputOf(refused)).not.toContain('ssh was asked');
  const withBoth = await ssh(await project.desk('with-both', [token, storeCredential()]));
  await withBoth.git('lfs', 'pull');
});
