import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { createRepository } from '../../support/git-repository.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { changeRows, storeSyncedBranches } from '../../support/stored-rows.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const service = serviceOfTests();
let token: string;

beforeAll(async () => {
  token = (await service.token()).secret;
});

async function setUp() {
  const repository = createRepository(temporaryFolder());
  repository.commit(
    { branch: 'main', files: { 'Content/Hero.uasset': '1' } },
    { branch: 'topic', from: 'main', files: {} },
    { branch: 'main', files: { 'Content/Hero.uasset': '2' } },
  );
  const workspace = await service.workspace(`file://${repository.path}`, { latest: 'refuse' });
  const take = async (branch: string, name = branch) => {
    const taking = { path: `Content/${name}.uasset`, type: 'exclusive', ttl: '1h' };
    const { status, body } = await service.ask('POST', `/v1/workspaces/${workspace}/locks`, {
      ...{ token, json: taking, headers: { 'lock-branch': branch } },
    });
    return [status, body.detail];
  };
  return { repository, workspace, take };
}

const refusedBecause = (reason: string) =>
  expect.stringContaining(`refuses locks on outdated files, so nothing was locked. ${reason}`);

test('a lock is refused if the HEAD of the remote names no branch, until the branches are named', async () => {
  const { repository, workspace, take } = await setUp();
  repository.git('symbolic-ref', 'HEAD', 'refs/heads/master');
  expect(await take('topic')).toEqual([409, refusedBecause('The HEAD of the remote names no branch.')]);
  const compareWith = (branch: string) =>
    changeRows(service.storage, 'workspaces', { latest_branches: branch }, { id: workspace });
  await compareWith('mian');
  expect(await take('topic')).toEqual([409, refusedBecause('The remote has no branch to compare with')]);
  await compareWith('main');
  expect(await take('main')).toEqual([201, undefined]);
});

test('a lock is refused if the mirror lacks a commit that the remote no longer has', async () => {
  const { workspace, take } = await setUp();
  expect(await take('topic')).toEqual([201, undefined]);
  const gone = { workspace_id: workspace, name: 'main', head: 'f'.repeat(40), synced_at: Date.now() + 3_600_000 };
  await storeSyncedBranches(service.storage, gone);
  expect(await take('topic', 'another')).toEqual([
    503,
    refusedBecause('The mirror does not have the branch main yet.'),
  ]);
});

test('a lock is refused if git cannot compare the files of the mirror', async () => {
  const { repository, workspace, take } = await setUp();
  expect(await take('main')).toEqual([201, undefined]);
  const tree = repository.git('rev-parse', 'topic^{tree}').trim();
  await removeObject(join(service.dataFolder, 'mirrors', `${workspace}.git`), tree);
  expect(await take('topic')).toEqual([503, refusedBecause('The files could not be compared:')]);
});

test('a lock is refused after five seconds if git takes longer to compare its file', async () => {
  const { repository, workspace, take } = await setUp();
  expect(await take('main')).toEqual([201, undefined]);
  const tree = repository.git('rev-parse', 'topic^{tree}').trim();
  // Opening a pipe that nobody writes to takes forever.
  const object = await removeObject(join(service.dataFolder, 'mirrors', `${workspace}.git`), tree);
  execFileSync('mkfifo', [object]);
  expect(await take('topic')).toEqual([
    503,
    refusedBecause('The comparison with the other branches takes longer than 5 s.'),
  ]);
});

/** Removes an object from a repository whose packs may have it, and returns the path of its file. */
async function removeObject(repository: string, id: string): Promise<string> {
  const packs = join(repository, 'objects', 'pack');
  const aside = join(repository, 'aside');
  await rename(packs, aside);
  await mkdir(packs);
  for (const name of await readdir(aside)) {
    if (!name.endsWith('.pack')) continue;
    execFileSync('git', ['-C', repository, 'unpack-objects', '-q'], { input: await readFile(join(aside, name)) });
  }
  const object = join(repository, 'objects', id.slice(0, 2), id.slice(2));
  await rm(object);
  return object;
}

test('a lock is refused if the remote has never answered', async () => {
  const { repository, take } = await setUp();
  await rm(repository.path, { recursive: true });
  expect(await take('topic')).toEqual([503, refusedBecause('The remote of the workspace does not answer')]);
});
