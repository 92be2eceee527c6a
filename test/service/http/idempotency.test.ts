import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createIdempotency, removeOldResults } from '../../../src/service/idempotency/idempotency.ts';
import { databaseKinds } from '../../support/databases.ts';
import { changeRows, findRows } from '../../support/stored-rows.ts';
import { expectInvalid, expectProblem } from './expect-problem.ts';
import { sharedService } from './shared-service.ts';

describe.each(databaseKinds)('idempotency keys on $name', (kind) => {
  const service = sharedService(kind);

  /** An empty workspace, with locks that are acquired with idempotency keys. */
  async function newWorkspace() {
    const { take, ...locks } = await service.newWorkspace();
    const lock = (path: string, key: string, headers: Readonly<Record<string, string>> = {}) =>
      take(path, { 'idempotency-key': key, ...headers });
    return { lock, ...locks };
  }

  test('a repeated request gets the same response, and has no effect', async () => {
    const { lock, release } = await newWorkspace();
    const key = randomUUID();
    const first = await lock('a', key);
    const again = await lock('a', key);
    expect([again.status, again.text]).toEqual([201, first.text]);
    for (const name of ['etag', 'location']) expect(again.headers.get(name)).toBe(first.headers.get(name));
    await release('a');
    expect((await lock('a', key)).text).toBe(first.text);
    expect((await lock('a', randomUUID())).status).toBe(201);
  });

  test('a repeated request of a person, or release over Git LFS, gets the same response, and has no effect', async () => {
    const { id, take: lock, list } = await service.newWorkspace();
    const { secret } = await service.token({ name: 'holder', scopes: ['locks:admin'] });
    const ask = (method: string, path: string, json?: object, key?: string) =>
      service.ask(method, `/v1/workspaces/${id}${path}`, {
        ...{ token: secret, ...(json && { json }) },
        ...(key !== undefined && { headers: { 'idempotency-key': key } }),
      });
    await lock('a');
    const asking = (note: string) => ask('POST', '/queue', { path: 'a', note }, 'asking');
    const asked = await asking('Please');
    expect(asked.status).toBe(201);
    await service.storage.commit({ workspace: id }, (db) =>
      db.deleteFrom('waits').where('workspace_id', '=', id).execute(),
    );
    expect((await asking('Please')).text).toBe(asked.text);
    expect((await ask('GET', '/queue?path=a')).body.queue).toEqual([]);
    expectProblem(await asking('Now'), 'idempotency-key-reused');

    const [held] = (await list()).body.locks;
    const unlock = (lockId: string) => ask('POST', `/lfs/locks/${lockId}/unlock`, { force: true }, 'unlocking');
    const unlocked = await unlock(held.id);
    expect([unlocked.status, (await list()).body.locks]).toEqual([200, []]);
    const { body: later } = await lock('a');
    expect((await unlock(held.id)).text).toBe(unlocked.text);
    expect((await unlock(later.id)).status).toBe(422);
    expect((await ask('POST', `/lfs/locks/${held.id}/unlock`, {}, 'another')).status).toBe(404);
    expect((await list()).body.locks).toEqual([later]);
  });

  test('an unsuccessful response is not remembered', async () => {
    const { lock, release } = await newWorkspace();
    await lock('a', randomUUID());
    const key = randomUUID();
    expect((await lock('a', key)).status).toBe(409);
    await release('a');
    expect((await lock('a', key)).status).toBe(201);
  });

  test('another body, path or If-Match with the same key gets 422', async () => {
    const { id, lock, list } = await newWorkspace();
    const key = randomUUID();
    const { body } = await lock('a', key);
    const sync = { token: service.secret, headers: { 'idempotency-key': key }, json: { branch: 'main' } };
    for (const response of [
      await lock('b', key),
      await service.ask('POST', `/v1/workspaces/${id}/sync`, sync),
      await lock('a', key, { 'if-match': `"${body.id}"` }),
    ]) {
      expectProblem(response, 'idempotency-key-reused');
    }
    expect((await list()).body.locks).toEqual([body]);
  });

  test('the same key in another workspace is another request, and each replays its own response', async () => {
    const workspaces = [await newWorkspace(), await newWorkspace()];
    const key = randomUUID();
    const lockBoth = () => Promise.all(workspaces.map(({ lock }) => lock('a', key)));
    const first = await lockBoth();
    expect(first.map(({ status }) => status)).toEqual([201, 201]);
    expect(first[0]?.body.id).not.toBe(first[1]?.body.id);
    expect((await lockBoth()).map(({ text }) => text)).toEqual(first.map(({ text }) => text));
  });

  test('only one of many concurrent requests runs; others get its response or request-in-progress', async () => {
    const { lock } = await newWorkspace();
    const key = randomUUID();
    const replies = await Promise.all(Array.from({ length: 20 }, () => lock('a', key)));
    const done = replies.filter(({ status }) => status === 201);
    expect(new Set(done.map(({ text }) => text)).size).toBe(1);
    for (const running of replies.filter((reply) => !done.includes(reply))) {
      expect(expectProblem(running, 'request-in-progress').lock).toBeUndefined();
      expect(running.headers.get('retry-after')).toBe('1');
    }
    expect((await lock('a', key)).text).toBe(done[0]?.text);
  });

  test('a key can be reused after 24 hours, and its remembered response is removed', async () => {
    const { lock } = await newWorkspace();
    const key = randomUUID();
    await lock('a', key);
    const age = (milliseconds: number) =>
      changeRows(service.storage, 'remembered_answers', { created_at: sql`created_at - ${milliseconds}` }, { key });
    await age(24 * 3_600_000 - 60_000);
    await removeOldResults(service.storage);
    expect((await lock('a', key)).status).toBe(201);
    await age(60_000);
    expect((await lock('a', key)).status).toBe(409);
    await removeOldResults(service.storage);
    expect(await findRows(service.storage, 'remembered_answers', { key })).toEqual([]);
  });

  test('too many newer keys of a workspace make it forget the oldest, and no other workspace', async () => {
    const { storage } = service;
    const [busy, quiet] = [await newWorkspace(), await newWorkspace()];
    const keys = Array.from({ length: 3 }, () => randomUUID());
    const [oldest = '', ...newer] = keys;
    const other = await quiet.lock('a', oldest);
    await changeRows(storage, 'remembered_answers', { created_at: sql`created_at - 100` }, { key: oldest });
    for (const [index, key] of keys.entries()) {
      await busy.lock(key, key);
      const at = { created_at: sql`created_at - ${50 - index}` };
      await changeRows(storage, 'remembered_answers', at, { key, workspace_id: busy.id });
    }
    await removeOldResults(storage, 2);
    expect((await busy.lock(oldest, oldest)).status).toBe(409);
    for (const key of newer) expect((await busy.lock(key, key)).status).toBe(201);
    expect((await quiet.lock('a', oldest)).text).toBe(other.text);
  });

  test('an invalid key is rejected', async () => {
    const { lock } = await newWorkspace();
    for (const key of ['', 'x'.repeat(256), 'with space', 'umlaut-\u00fc']) {
      expectInvalid(await lock('a', key), '#/Idempotency-Key');
    }
  });
});

describe.each(databaseKinds)('an idempotency key that two instances see at once, on $name', (kind) => {
  test('gets the result of one of them from both, although that result conflicts with the other', async () => {
    const { storage, remove } = await kind.open();
    onTestFinished(remove);
    let taken = false;
    const one = () => {
      const ask = createIdempotency(storage).idempotentBatch<{ readonly workspace: string }, { readonly kind: string }>(
        {
          decide: async (_, asked) =>
            asked.map(() => {
              const kind = taken ? 'held' : 'acquired';
              taken = true;
              return { kind };
            }),
          isDone: ({ kind }) => kind === 'acquired',
        },
      );
      return ask({ tokenId: 't', workspace: 'game', key: 'k', fingerprint: 'f' }, { workspace: 'game' });
    };
    expect(await Promise.all([one(), one()])).toEqual([{ kind: 'acquired' }, { kind: 'acquired' }]);
  });
});
