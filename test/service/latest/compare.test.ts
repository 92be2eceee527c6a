import { beforeAll, expect, test } from 'vitest';
import { createRepository } from '../../support/git-repository.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { folderOfTests } from '../../support/temporary-folder.ts';

const service = serviceOfTests({ windowsPaths: true });
const folder = folderOfTests();
let token: string;
let repositories = 0;

beforeAll(async () => {
  token = (await service.token()).secret;
});

async function setUp() {
  repositories += 1;
  const repository = createRepository(folder, `remote-${repositories}.git`);
  repository.commit(
    { branch: 'main', files: { 'Content/Hero.uasset': '1' } },
    { branch: 'topic', from: 'main', files: {} },
    { branch: 'main', files: { 'Content/Hero.uasset': '2' } },
  );
  const workspace = await service.workspace(`file://${repository.path}`, { latest: 'refuse' });
  const ask = (operation: string, json: object, headers: Readonly<Record<string, string>> = {}) =>
    service.ask('POST', `/v1/workspaces/${workspace}/${operation}`, { token, json, headers });
  const check = async (json: object) => {
    const { status, body } = await ask('check', json);
    expect(status).toBe(200);
    return body;
  };
  const blob = (revision: string) => repository.git('rev-parse', `${revision}:Content/Hero.uasset`).trim();
  return { repository, workspace, ask, check, blob };
}

test('with Windows paths, a file is outdated in any case of its letters', async () => {
  const { repository, ask, check } = await setUp();
  const path = 'content/hero.uasset';
  const taken = await ask('locks', { path, type: 'exclusive', ttl: '1h' }, { 'lock-branch': 'topic' });
  expect([taken.status, taken.body.outdated]).toMatchObject([409, { path, commit: repository.head('main') }]);
  expect((await check({ paths: [path], branch: 'topic' })).outdated).toMatchObject([{ path, branch: 'main' }]);
});

test('a copy is outdated if a merge did not take its version, although it is the latest', async () => {
  const { repository, check, blob } = await setUp();
  const version = blob('main');
  repository.commit({
    branch: 'main',
    merge: 'topic',
    // The file of the topic branch.
    files: { 'Content/Hero.uasset': '1' },
  });
  const body = { paths: ['Content/Hero.uasset'], branch: 'main' };
  expect((await check({ ...body, versions: [version] })).outdated).toMatchObject([{ branch: 'main', behind: 1 }]);
  expect((await check({ ...body, versions: [blob('main')] })).outdated).toEqual([]);
});

test('a copy is current if its branch has merged the newest version and reverted the file', async () => {
  const { repository, check, blob } = await setUp();
  repository.commit(
    { branch: 'topic', merge: 'main', files: { 'Content/Hero.uasset': '2' } },
    { branch: 'topic', files: { 'Content/Hero.uasset': '1' } },
  );
  const body = { paths: ['Content/Hero.uasset'], branch: 'topic' };
  expect((await check({ ...body, versions: [blob('topic')] })).outdated).toEqual([]);
  expect((await check({ ...body, versions: [blob('main')] })).outdated).toMatchObject([{ branch: 'topic', behind: 1 }]);
});

test('a token that may not lock or sync does not sync its branch', async () => {
  const { workspace, repository } = await setUp();
  repository.commit({ branch: 'unused', from: 'main', files: {} });
  const reader = await service.token({ scopes: ['locks:read'] });
  const json = { paths: ['Content/Hero.uasset'], branch: 'unused' };
  const checked = await service.ask('POST', `/v1/workspaces/${workspace}/check`, { token: reader.secret, json });
  expect(checked.body).toMatchObject({ outdated: [], as_of: null });
  const syncs = service.storage.read.selectFrom('syncs').select('branch').where('workspace_id', '=', workspace);
  expect(await syncs.execute()).toEqual([{ branch: 'main' }]);
});
