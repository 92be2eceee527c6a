import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realDatabaseKinds } from '../../support/databases.ts';
import { type RunningService, startTestService } from '../../support/running-service.ts';

describe.each(realDatabaseKinds)('a workspace that is removed while it is used, on $name', (kind) => {
  let service: RunningService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  test('is not found, and nothing of it is left', async () => {
    const { secret: token } = await service.token();
    const { commit } = service.storage;
    const workspace = await service.workspace();
    // Asked for together, so that the removal comes between the look-up of the workspace and the lock.
    const removed = commit('global', async (db) => {
      await new Promise((resolve) => setTimeout(resolve, 200));
      await db.deleteFrom('workspaces').where('id', '=', workspace).execute();
    });
    const json = { path: 'a', type: 'exclusive', ttl: '1h' };
    const { status, body } = await service.ask('POST', `/v1/workspaces/${workspace}/locks`, { token, json });
    await removed;
    expect([status, body.type]).toEqual([404, 'urn:workspace-automation:problem:not-found']);
    expect(await service.storage.read.selectFrom('locks').select('path').execute()).toEqual([]);
  });
});
