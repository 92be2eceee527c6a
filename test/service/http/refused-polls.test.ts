import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Answer } from '../../../src/service/contract/answer.ts';
import { Refusal } from '../../../src/service/contract/problem.ts';
import { createIdempotency } from '../../../src/service/idempotency/idempotency.ts';
import { realDatabaseKinds } from '../../support/databases.ts';
import { type RunningService, startTestService } from '../../support/running-service.ts';

describe.each(realDatabaseKinds)('asking for a path that somebody holds, on $name', (kind) => {
  let service: RunningService;
  let token: string;

  beforeAll(async () => {
    service = await startTestService(kind);
    token = (await service.token({ scopes: ['locks:write'] })).secret;
  });
  afterAll(() => service.stop());

  const lock = (workspace: string, path: string, headers: Record<string, string> = {}) =>
    service.ask('POST', `/v1/workspaces/${workspace}/locks`, {
      token,
      headers,
      json: { path, type: 'exclusive', ttl: '1h' },
    });

  // PGlite has one connection, which the change that is under way keeps.
  test.skipIf(kind.name === 'PGlite')('is refused while a change is under way, and does not wait for it', async () => {
    const workspace = await service.workspace();
    const { body: taken } = await lock(workspace, 'a', { 'idempotency-key': 'first' });
    const { promise: end, resolve: endIt } = Promise.withResolvers<void>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const change = service.storage.commit('global', async () => {
      begin();
      await end;
    });
    onTestFinished(() => endIt());
    await begun;
    const refused = await lock(workspace, 'a');
    expect([refused.status, refused.body.lock.id]).toEqual([409, taken.id]);
    const again = await lock(workspace, 'a', { 'idempotency-key': 'first' });
    expect([again.status, again.body.id]).toEqual([201, taken.id]);
    const free = lock(workspace, 'b');
    endIt();
    await change;
    expect((await free).status).toBe(201);
  });

  // PGlite has one connection, which the change that is under way keeps.
  test.skipIf(kind.name === 'PGlite')('is decided in its turn when it was free at the look of several', async () => {
    const workspace = await service.workspace();
    const { promise: end, resolve: endIt } = Promise.withResolvers<void>();
    onTestFinished(() => endIt());
    const change = service.storage.commit('global', () => end);
    const asked = ['a', 'a', 'b'].map((path) => lock(workspace, path));
    endIt();
    await change;
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect([statuses.slice(0, 2).sort(), statuses[2]]).toEqual([[201, 409], 201]);
  });

  test('takes it as soon as the lock has expired, though its row may still be there', async () => {
    const workspace = await service.workspace();
    await lock(workspace, 'a');
    expect((await lock(workspace, 'a')).status).toBe(409);
    await service.storage.commit('global', (db) =>
      db.updateTable('locks').set({ expires_at: 0 }).where('workspace_id', '=', workspace).execute(),
    );
    expect((await lock(workspace, 'a')).status).toBe(201);
  });
});

describe.each(realDatabaseKinds)('a key that two instances see at once, on $name', (kind) => {
  test('is answered by both with what one of them has done, though that stands in the way of the other', async () => {
    const { storage, remove } = await kind.open();
    try {
      let taken = false;
      const one = (): ((answer: Answer) => Promise<Answer>) => {
        const ask = createIdempotency(storage).idempotentBatch<Answer>({
          scopeOf: () => 'global',
          refusedBefore: async () => undefined,
          decide: async (_, asked) =>
            asked.map((answer) => {
              if (taken) return new Refusal('locked', 'It is taken.');
              taken = true;
              return answer;
            }),
        });
        return (answer) => ask({ tokenId: 't', key: 'k', fingerprint: 'f' }, answer);
      };
      const answers = await Promise.all([one(), one()].map((ask) => ask({ status: 201, headers: {}, body: '{}' })));
      expect(answers.map(({ status, headers }) => [status, headers['idempotency-replayed']])).toEqual([
        [201, undefined],
        [201, 'true'],
      ]);
    } finally {
      await remove();
    }
  });
});
