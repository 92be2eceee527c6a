import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { WorkspaceSettings } from '../../../src/service/workspaces/workspaces.ts';
import { databaseKinds } from '../../support/databases.ts';
import { createRepository } from '../../support/git-repository.ts';
import { type LfsBehaviour, nameOf, pointerTo, startLfsStore } from '../../support/lfs-store.ts';
import type { Reply } from '../../support/running-service.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { needsClient } from '../lfs/desk.ts';
import { endOfSync } from '../mirror/mirror-of.ts';

describe.each(databaseKinds)('the LFS objects of a sync on $name', (kind) => {
  const service = serviceOfTests({}, kind);
  let token: string;

  beforeAll(async () => {
    token = (await service.token({ scopes: ['sync'] })).secret;
  });

  beforeEach(needsClient);

  async function setUp(behaviour: LfsBehaviour = {}, settings: Partial<WorkspaceSettings> = {}) {
    const store = await startLfsStore({ public: true, ...behaviour });
    onTestFinished(store.close);
    const remote = createRepository(temporaryFolder());
    const workspace = await service.workspace(remote.path, { lfs_url: store.url, ...settings });
    return {
      store,
      commit: (files: Readonly<Record<string, string>>) => remote.commit({ branch: 'main', files }),
      trigger: () => service.ask('POST', `/v1/workspaces/${workspace}/sync`, { token, json: { branch: 'main' } }),
      ended: (triggered: Reply) => endOfSync(service, token, triggered),
    };
  }

  test('are reported if they are missing, without failing the sync, and fetched later', async () => {
    const { store, commit, trigger, ended } = await setUp();
    const [here, missing] = [store.put('here'), nameOf('missing')];
    commit({ 'a.uasset': pointerTo(here), 'b.uasset': pointerTo(missing) });
    expect(await ended(await trigger())).toMatchObject({
      status: 'succeeded',
      received_bytes: here.size,
      total_bytes: here.size + missing.size,
      missing_objects: 1,
      missing: [{ path: 'b.uasset', ...missing, detail: expect.stringContaining('Object does not exist') }],
    });
    store.put('missing');
    expect(await ended(await trigger())).toMatchObject({ received_objects: 1, missing_objects: 0, missing: [] });
    expect((await trigger()).body.estimated_objects).toBe(0);
  });

  test('are not fetched in a workspace with the LFS mode `none`', async () => {
    const { commit, trigger, ended, store } = await setUp({ public: false }, { lfs_mode: 'none' });
    commit({ 'a.uasset': pointerTo(store.put('an object')) });
    expect(await ended(await trigger())).toMatchObject({ status: 'succeeded', total_bytes: 0 });
  });
});
