import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createToken } from '../../../src/service/tokens/tokens.ts';
import { addWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import { createPostgresDatabase, postgresAt, postgresServer } from '../../support/databases.ts';
import { createRepository, manyCommits } from '../../support/git-repository.ts';
import { pointerTo, startLfsStore } from '../../support/lfs-store.ts';
import { operator } from '../../support/operator.ts';
import { postgresOfTests } from '../../support/postgres-of-tests.ts';
import { ask, type RunningService, startTestService } from '../../support/running-service.ts';
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.ts';
import { changeRows } from '../../support/stored-rows.ts';
import { folderOfTests, temporaryFolder } from '../../support/temporary-folder.ts';
import { locksOf } from '../http/shared-service.ts';
import { needsClient } from '../lfs/desk.ts';
import { lfsOf } from '../lfs/lfs-of.ts';
import { fetchAt, gitClient, mirrored, mirrorUrl, syncAt } from '../mirror/mirror-of.ts';

describe.skipIf(postgresServer === undefined)('two instances with a disk each (needs TEST_DATABASE_URL)', () => {
  const url = postgresOfTests();
  let [one, other]: RunningService[] = [];
  let token: string;
  const folder = folderOfTests();

  beforeAll(async () => {
    [one, other] = await Promise.all([startTestService(postgresAt(url())), startTestService(postgresAt(url()))]);
    token = (await one.token()).secret;
  });
  afterAll(() => Promise.all([one, other].map((instance) => instance?.stop())));

  function both(): readonly [RunningService, RunningService] {
    if (one === undefined || other === undefined) throw new Error('The instances were not started.');
    return [one, other];
  }

  test('every clone from either is complete, whichever has run the sync', async () => {
    const mirror = await mirrored(both()[0], folder, token);
    const { remote, workspace } = mirror;
    remote.git('symbolic-ref', 'HEAD', 'refs/heads/trunk');
    remote.commit(...manyCommits(3, 'trunk'), { branch: 'art', from: 'trunk', files: { art: '1' } });
    await syncAt(both()[0], workspace, token, 'art');
    const client = await gitClient();
    for (let round = 0; round < 4; round += 1) {
      remote.commit({ branch: 'trunk', files: { round: String(round) } });
      await syncAt(both()[round % 2] ?? both()[0], workspace, token, 'trunk');
      for (const [index, instance] of both().entries()) {
        const clone = `clone-${round}-${index}`;
        await client.git('clone', '--quiet', mirrorUrl(instance, workspace, token), clone);
        const heads = ['HEAD', 'origin/trunk', 'origin/art'];
        expect((await client.git('-C', clone, 'rev-parse', ...heads)).trim().split('\n')).toEqual([
          remote.head('trunk'),
          remote.head('trunk'),
          remote.head('art'),
        ]);
      }
    }
  });

  test('a clone that began before a forced push continues at either, or must start again', async () => {
    const mirror = await mirrored(both()[0], folder, token);
    const { remote } = mirror;
    remote.commit({ branch: 'main', files: { a: '1' } }, { branch: 'main', files: { a: '2' } });
    await mirror.sync();
    const before = remote.head('main');
    remote.commit({ branch: 'main', from: `${before}~1`, files: { a: '3' } });
    await mirror.sync();
    for (const instance of both()) {
      const { text } = await fetchAt(instance, mirror, token, before);
      expect(text).toMatch(/PACK|ERR A branch was replaced while it was being cloned. Try again./);
    }
  });

  const takeOnFeature = (instance: RunningService, workspace: string) =>
    locksOf(instance, workspace, token).take('a.umap', { 'lock-branch': 'feature' });

  test('an outdated file is refused by either', async () => {
    const remote = createRepository(folder, 'latest.git');
    remote.commit(
      { branch: 'main', files: { 'a.umap': '1' } },
      { branch: 'feature', from: 'main', files: { 'b.umap': '1' } },
    );
    const workspace = await both()[0].workspace(remote.path, { latest: 'refuse' });
    for (let round = 0; round < 10; round += 1) {
      remote.commit({ branch: 'main', files: { 'a.umap': String(round) } });
      if (round % 2 === 0) await syncAt(both()[0], workspace, token, 'main');
      for (const instance of both()) {
        const { status, body } = await takeOnFeature(instance, workspace);
        expect([status, body.outdated]).toMatchObject([409, { path: 'a.umap', branch: 'main' }]);
      }
    }
  });

  test('an outdated file is refused while an instance cannot fetch what it lacks', async () => {
    const remote = createRepository(folder, 'down.git');
    remote.commit(
      { branch: 'main', files: { 'a.umap': '1' } },
      { branch: 'feature', from: 'main', files: { 'b.umap': '1' } },
      { branch: 'main', files: { 'a.umap': '2' } },
    );
    const settings = { latest: 'refuse', latest_branches: 'main' };
    const workspace = await both()[0].workspace(remote.path, settings);
    for (const branch of ['main', 'feature']) await syncAt(both()[0], workspace, token, branch);
    await changeRows(both()[0].storage, 'workspaces', { remote: 'file:///nowhere' }, { id: workspace });
    const replies = await Promise.all(both().map((instance) => takeOnFeature(instance, workspace)));
    const statuses = replies.map(({ status }) => status);
    // The instance that has run the syncs compares with them.
    for (const status of statuses) expect([409, 503]).toContain(status);
    expect(statuses).toContain(503);
  });

  test('LFS objects come from either, also by a URL that the other has signed', async (context) => {
    needsClient(context);
    const store = await startLfsStore({ public: true });
    onTestFinished(store.close);
    const contents = Array.from({ length: 20 }, (_, index) => randomBytes(10_000 + index));
    const names = contents.map((content) => store.put(content));
    const remote = createRepository(folder, 'lfs.git');
    remote.commit({
      branch: 'main',
      files: Object.fromEntries(names.map((name, index) => [`${index}.uasset`, pointerTo(name)])),
    });
    const workspace = await both()[0].workspace(remote.path, { lfs_url: store.url });
    await syncAt(both()[0], workspace, token, 'main');
    const offers = await Promise.all(both().map((instance) => lfsOf(instance, workspace, token).batch(names)));
    for (const { status, body } of offers) {
      expect(status).toBe(200);
      for (const { actions } of body.objects) {
        const { pathname, search } = new URL(actions.download.href);
        for (const instance of both()) {
          const index = names.findIndex(({ oid }) => pathname.endsWith(oid));
          const response = await fetch(`${instance.baseUrl}${pathname}${search}`);
          expect(Buffer.from(await response.arrayBuffer())).toEqual(contents[index]);
        }
      }
    }
    // Once for each disk.
    expect(store.downloads).toHaveLength(2 * names.length);
  });
});

test.skipIf(postgresServer === undefined)(
  'while instances are killed and added, every clone is complete or told to come back',
  async () => {
    const { url, remove } = await createPostgresDatabase(postgresServer ?? '');
    onTestFinished(remove);
    const folder = temporaryFolder();
    const remote = createRepository(folder);
    remote.commit(...manyCommits(20), { branch: 'art', from: 'main', files: { art: randomBytes(300_000) } });
    let started = 0;
    const startInstance = (): Promise<ServiceProcess> => {
      started += 1;
      const args = ['--allow-file-remotes', '--log-level', 'error'];
      return startServiceProcess({ folder: join(folder, `data-${started}`), environment: { DATABASE_URL: url }, args });
    };
    const instances = await Promise.all([startInstance(), startInstance(), startInstance()]);
    onTestFinished(async () => void (await Promise.all(instances.map((instance) => instance.stop()))));
    const [first] = instances;
    if (first === undefined) throw new Error('No instance was started.');
    const workspace = 'game';
    const { storage, remove: close } = await postgresAt(url).open();
    const { secret: token } = await storage.commit('global', async (db) => {
      await addWorkspace(db, operator, { id: workspace, remote: remote.path });
      const ci = { name: 'ci', scopes: ['sync'] as const, workspaces: null, lifetime: null };
      return createToken(db, operator, { ...ci, owner: undefined });
    });
    await close();
    const originOf = ({ baseUrl }: ServiceProcess) => ({ baseUrl: baseUrl.replace('/v1', ''), ask: askAt(baseUrl) });
    const sync = (instance: ServiceProcess, branch: string) => syncAt(originOf(instance), workspace, token, branch);
    for (const branch of ['main', 'art']) await sync(first, branch);

    const client = await gitClient();
    let clones = 0;
    async function cloneAt(instance: ServiceProcess) {
      clones += 1;
      const clone = `clone-${clones}`;
      const { code, stderr } = await client.run(
        ...['-c', 'protocol.version=2', 'clone', '--quiet'],
        ...[mirrorUrl(originOf(instance), workspace, token), clone],
      );
      if (code !== 0) return stderr;
      await client.git('-C', clone, 'fsck', '--connectivity-only');
      return (await client.git('-C', clone, 'for-each-ref', '--format=%(refname:lstrip=3)', 'refs/remotes/origin'))
        .trim()
        .split('\n')
        .sort();
    }
    const isComplete = (result: unknown): boolean => JSON.stringify(result) === '["HEAD","art","main"]';

    const rounds = Array.from({ length: 6 }, async (_, round) => {
      remote.commit({ branch: 'main', files: { [`round-${round}`]: randomBytes(100_000) } });
      const syncing = Promise.allSettled(instances.map((instance) => sync(instance, 'main')));
      const cloning = instances.map(async (instance) => ({ instance, result: await cloneAt(instance) }));
      const cloned = await Promise.all(cloning);
      await syncing;
      return cloned;
    });
    const [killed] = instances.splice(1, 1);
    await killed?.kill();
    const added = await startInstance();
    instances.push(added);
    const results = [...(await Promise.all(rounds)).flat(), { instance: added, result: await cloneAt(added) }];
    for (const { instance, result } of results) {
      // A killed instance says nothing more.
      if (instance !== killed && !isComplete(result)) expect(String(result)).toMatch(/Try again/);
    }
    for (const instance of instances) expect(await cloneAt(instance)).toEqual(['HEAD', 'art', 'main']);
  },
);

const askAt =
  (baseUrl: string): RunningService['ask'] =>
  (method, path, given) =>
    ask(baseUrl.replace('/v1', ''), method, path, given);
