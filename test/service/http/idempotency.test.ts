import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { forgetOldAnswers } from '../../../src/service/idempotency/remembered-answers.ts';
import { realDatabaseKinds } from '../../support/databases.ts';
import { type RunningService, startTestService } from '../../support/running-service.ts';

describe.each(realDatabaseKinds)('idempotency keys on $name', (kind) => {
  let service: RunningService;
  let token: string;

  beforeAll(async () => {
    service = await startTestService(kind);
    token = (await service.token({ scopes: ['locks:write', 'sync'] })).secret;
  });
  afterAll(() => service.stop());

  const lock = (workspace: string, path: string, key: string, headers: Record<string, string> = {}, by = token) =>
    service.ask('POST', `/v1/workspaces/${workspace}/locks`, {
      token: by,
      headers: { 'idempotency-key': key, ...headers },
      json: { path, type: 'exclusive', ttl: '1h' },
    });
  const release = (workspace: string, path: string) =>
    service.ask('DELETE', `/v1/workspaces/${workspace}/locks/${path}`, { token });

  test('the same request again gets the same answer, and does nothing', async () => {
    const workspace = await service.workspace();
    const key = randomUUID();
    const first = await lock(workspace, 'a', key);
    const again = await lock(workspace, 'a', key);
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    expect([first, again].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true']);
    await release(workspace, 'a');
    expect((await lock(workspace, 'a', key)).text).toBe(first.text);
    expect((await lock(workspace, 'a', randomUUID())).status).toBe(201);
  });

  test('an answer that was no success is not remembered', async () => {
    const workspace = await service.workspace();
    await lock(workspace, 'a', randomUUID());
    const key = randomUUID();
    expect((await lock(workspace, 'a', key)).status).toBe(409);
    await release(workspace, 'a');
    expect((await lock(workspace, 'a', key)).status).toBe(201);
  });

  test('another body, path or If-Match under the same key is 422', async () => {
    const workspace = await service.workspace();
    const key = randomUUID();
    const { body } = await lock(workspace, 'a', key);
    const replies = [
      await lock(workspace, 'b', key),
      await service.ask('POST', `/v1/workspaces/${workspace}/sync`, {
        token,
        headers: { 'idempotency-key': key },
        json: { branch: 'main' },
      }),
      await lock(workspace, 'a', key, { 'if-match': `"${body.id}"` }),
    ];
    for (const { status, body: problem } of replies) {
      expect([status, problem.type]).toEqual([422, 'urn:workspace-automation:problem:idempotency-key-reused']);
    }
    const { locks } = (await service.ask('GET', `/v1/workspaces/${workspace}/locks`, { token })).body;
    expect(locks).toEqual([body]);
  });

  test('the same key in another workspace is another request, and each is answered again as it was', async () => {
    const workspaces = [await service.workspace(), await service.workspace()];
    const key = randomUUID();
    const lockBoth = () => Promise.all(workspaces.map((workspace) => lock(workspace, 'a', key)));
    const first = await lockBoth();
    expect(first.map(({ status }) => status)).toEqual([201, 201]);
    expect(first[0]?.body.id).not.toBe(first[1]?.body.id);
    expect((await lockBoth()).map(({ text }) => text)).toEqual(first.map(({ text }) => text));
  });

  test('keys of different tokens have nothing to do with each other', async () => {
    const workspace = await service.workspace();
    const key = randomUUID();
    const other = (await service.token({ scopes: ['locks:write'] })).secret;
    expect((await lock(workspace, 'a', key)).status).toBe(201);
    expect((await lock(workspace, 'b', key, {}, other)).status).toBe(201);
  });

  test('of many that are sent at once one is done; the others get its answer, or are told that it is running', async () => {
    const workspace = await service.workspace();
    const key = randomUUID();
    const replies = await Promise.all(Array.from({ length: 20 }, () => lock(workspace, 'a', key)));
    const done = replies.filter(({ status }) => status === 201);
    const running = replies.filter(({ status }) => status === 409);
    expect(done.length + running.length).toBe(20);
    expect(new Set(done.map(({ text }) => text)).size).toBe(1);
    for (const { body, headers } of running) {
      expect(body.type).toBe('urn:workspace-automation:problem:request-in-progress');
      expect(body.lock).toBeUndefined();
      expect(headers.get('retry-after')).toBe('1');
    }
    expect((await lock(workspace, 'a', key)).text).toBe(done[0]?.text);
  });

  test('a renewal is remembered too', async () => {
    const workspace = await service.workspace();
    const { body } = await lock(workspace, 'a', randomUUID());
    const key = randomUUID();
    const first = await lock(workspace, 'a', key, { 'if-match': `"${body.id}"` });
    expect(first.status).toBe(200);
    expect((await lock(workspace, 'a', key, { 'if-match': `"${body.id}"` })).text).toBe(first.text);
  });

  test('a key is free again after 24 hours, and what was remembered is forgotten', async () => {
    const workspace = await service.workspace();
    const key = randomUUID();
    await lock(workspace, 'a', key);
    const age = (milliseconds: number) =>
      service.storage.commit('global', (db) =>
        db
          .updateTable('remembered_answers')
          .set({ created_at: sql<number>`created_at - ${milliseconds}` })
          .where('key', '=', key)
          .execute(),
      );
    const remembered = async () =>
      (await service.storage.read.selectFrom('remembered_answers').select('key').where('key', '=', key).execute())
        .length;
    await age(24 * 3_600_000 - 60_000);
    await forgetOldAnswers(service.storage);
    expect((await lock(workspace, 'a', key)).status).toBe(201);
    await age(60_000);
    expect((await lock(workspace, 'a', key)).status).toBe(409);
    await forgetOldAnswers(service.storage);
    expect(await remembered()).toBe(0);
  });

  test('a key that cannot be one is refused', async () => {
    const workspace = await service.workspace();
    for (const key of ['x'.repeat(256), 'with space', 'umlaut-\u00fc']) {
      const { status, body } = await lock(workspace, 'a', key);
      expect([status, body.errors[0].pointer]).toEqual([422, '#/Idempotency-Key']);
    }
  });
});
