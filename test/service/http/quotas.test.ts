import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningService, startTestService } from '../../support/running-service.ts';
import { anyDatabase } from './any-database.ts';
import { expectProblem } from './expect-problem.ts';

describe.each(anyDatabase)('a workspace with as many locks as it may have', (kind) => {
  let service: RunningService;
  let workspace: string;
  beforeAll(async () => {
    service = await startTestService(kind, { quotas: { maxLocks: 5, maxLocksPerOwner: 3 } });
    workspace = await service.workspace();
  });
  afterAll(() => service.stop());

  const lock = (token: string, path: string, more: Readonly<Record<string, string>> = {}, id = workspace) =>
    service.ask('POST', `/v1/workspaces/${id}/locks`, {
      token,
      headers: more,
      json: { path, type: 'exclusive', ttl: '1h' },
    });
  const release = (token: string, path: string) =>
    service.ask('DELETE', `/v1/workspaces/${workspace}/locks/${path}`, { token });

  test('says so in a sentence, renews and releases what there is, and leaves other workspaces theirs', async () => {
    const [ada = '', bob = ''] = await Promise.all(
      ['ada', 'bob'].map(async (name) => (await service.token({ name })).secret),
    );
    const first = await lock(ada, 'a');
    for (const path of ['b', 'c']) expect((await lock(ada, path)).status).toBe(201);
    const own = await lock(ada, 'd');
    expectProblem(own, 'quota-exceeded');
    expect(own.body.detail).toContain('The owner of this token has the maximum of 3 locks in this workspace.');
    for (const path of ['d', 'e']) expect((await lock(bob, path)).status).toBe(201);
    const all = await lock(bob, 'f');
    expectProblem(all, 'quota-exceeded');
    expect(all.body.detail).toContain('The workspace has its maximum of 5 locks.');
    expect((await lock(bob, 'a')).status).toBe(409);
    expect((await lock(ada, 'a', { 'if-match': first.headers.get('etag') ?? '' })).status).toBe(200);
    expect((await lock(ada, 'a', {}, await service.workspace())).status).toBe(201);
    expect((await release(ada, 'b')).status).toBe(204);
    await expect.poll(async () => (await lock(bob, 'f')).status, { timeout: 10_000 }).toBe(201);
    const { text } = await service.ask('GET', '/metrics', { token: ada });
    expect(text).toMatch(/^workspace_locks_refused_total [1-9]/m);
  });
});

describe.each(anyDatabase)('answers that are remembered', (kind) => {
  test('beyond their share of the disk are forgotten, the oldest first', async () => {
    const service = await startTestService(kind, { quotas: { maxRememberedBytes: 20_000 } });
    try {
      const { secret: token } = await service.token();
      const workspace = await service.workspace();
      const send = (key: string) =>
        service.ask('POST', `/v1/workspaces/${workspace}/locks`, {
          token,
          headers: { 'idempotency-key': key },
          json: { path: key, type: 'exclusive', ttl: '1h' },
        });
      const keys = Array.from({ length: 100 }, () => randomUUID());
      for (const key of keys) expect((await send(key)).status).toBe(201);
      const count = async () =>
        (await service.storage.read.selectFrom('remembered_answers').select('key').execute()).length;
      await expect.poll(count, { timeout: 20_000 }).toBeLessThan(40);
      expect(await count()).toBeGreaterThan(5);
      const last = await send(keys.at(-1) ?? '');
      expect([last.status, last.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
      // The service has no memory of the first, so this is a new request, and finds the lock that the first one took.
      expect((await send(keys[0] ?? '')).status).toBe(409);
      const { text } = await service.ask('GET', '/metrics', { token });
      expect(text).toMatch(/^workspace_remembered_answers_dropped_total [1-9]/m);
    } finally {
      await service.stop();
    }
  });
});
