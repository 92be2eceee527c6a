import { describe, expect, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import type { TokenOptions } from '../../support/running-service.ts';
import { expectProblem } from './expect-problem.ts';
import { type Locks, locksOf, sharedService } from './shared-service.ts';

const quotas = { maxLocks: 100, maxLocksPerOwner: 3 };

describe.each(databaseKinds)('locks of an owner with several tokens, on $name', (kind) => {
  const service = sharedService(kind, { quotas });

  /** An empty workspace, as seen with different tokens. */
  async function newWorkspace() {
    const id = await service.workspace();
    const as = async (options: TokenOptions): Promise<Locks & { readonly tokenId: string }> => {
      const token = await service.token({ scopes: ['locks:write'], ...options });
      return { ...locksOf(service, id, token.secret), tokenId: token.id };
    };
    return { id, as };
  }

  test('can be renewed and released with any of them, and name the owner, not the token', async () => {
    const { as } = await newWorkspace();
    const [laptop, desk] = [await as({ name: 'laptop', owner: 'ada' }), await as({ name: 'desk', owner: 'ada' })];
    const { body: taken } = await laptop.take('a');
    expect(taken.owner).toBe('ada');
    const renewed = await desk.take('a', { ttl: '2h', 'if-match': `"${taken.id}"` });
    expect([renewed.status, renewed.body.id, renewed.body.owner]).toEqual([200, taken.id, 'ada']);
    expect((await desk.release('a')).status).toBe(204);
    // A token that was created without an owner has its name as owner.
    await (await as({ name: 'ada' })).take('b');
    expect((await laptop.release('b')).status).toBe(204);
  });

  test('do not belong to a token with the name of the owner, or to an owner in different case', async () => {
    const { as } = await newWorkspace();
    const laptop = await as({ name: 'laptop', owner: 'ada' });
    const { body: held } = await laptop.take('a');
    const others = [{ name: 'ada', owner: 'bob' }, { name: 'laptop' }, { owner: 'Ada' }, { owner: 'ada ' }];
    for (const other of others) {
      const { take, release } = await as(other);
      const renewed = await take('a', { 'if-match': `"${held.id}"` });
      for (const response of [renewed, await release('a'), await release('a', {}, '?force=false')]) {
        expect(expectProblem(response, 'lock-of-another-owner').lock, JSON.stringify(other)).toEqual(held);
      }
      expect(expectProblem(await release('a', {}, '?force=true'), 'insufficient-scope').status).toBe(403);
    }
    expect((await laptop.list()).body.locks).toEqual([held]);
  });

  test('are distinguished by If-Match, and cannot be acquired a second time', async () => {
    const { as } = await newWorkspace();
    const [laptop, desk] = [await as({ name: 'laptop', owner: 'ada' }), await as({ name: 'desk', owner: 'ada' })];
    const { body: before } = await laptop.take('a');
    await laptop.release('a');
    const { body: held } = await laptop.take('a');
    expect(expectProblem(await desk.take('a'), 'locked').lock).toEqual(held);
    const stale = { 'if-match': `"${before.id}"` };
    for (const response of [await desk.take('a', stale), await desk.release('a', stale)]) {
      expect(expectProblem(response, 'lock-changed').lock).toEqual(held);
    }
  });

  test('have idempotency keys per token: the same key of another token is another request', async () => {
    const { as } = await newWorkspace();
    const [laptop, desk] = [await as({ name: 'laptop', owner: 'ada' }), await as({ name: 'desk', owner: 'ada' })];
    const key = { 'idempotency-key': crypto.randomUUID() };
    const { body: held } = await laptop.take('a', key);
    expect((await laptop.take('a', key)).body).toEqual(held);
    expectProblem(await desk.take('a', key), 'locked');
  });

  test('count together against the limit of an owner', async () => {
    const { as } = await newWorkspace();
    const [laptop, desk] = [await as({ name: 'laptop', owner: 'ada' }), await as({ name: 'desk', owner: 'ada' })];
    for (const path of ['a', 'b']) expect((await laptop.take(path)).status).toBe(201);
    expect((await desk.take('c')).status).toBe(201);
    for (const { take } of [laptop, desk]) expectProblem(await take('d'), 'quota-exceeded');
    expect((await (await as({ name: 'laptop', owner: 'bob' })).take('d')).status).toBe(201);
  });

  test('are reported to webhooks as released by the owner, and audited only if forced', async () => {
    const { id, as } = await newWorkspace();
    const url = 'https://ci.example.com/released';
    const hook = { json: { url, events: ['lock.released'] }, token: service.secret };
    const { body } = await service.ask('POST', `/v1/workspaces/${id}/hooks`, hook);
    expect(body.active).toBe(true);
    const [laptop, desk] = [await as({ name: 'laptop', owner: 'ada' }), await as({ name: 'desk', owner: 'ada' })];
    const admin = await as({ name: 'root key', owner: 'root', scopes: ['locks:admin'] });
    for (const path of ['a', 'b']) await laptop.take(path);
    await desk.release('a', {}, '?force=true');
    await admin.release('b', {}, '?force=true');
    const rows = await service.storage.read
      .selectFrom('deliveries')
      .select('event')
      .where('hook_id', '=', body.id)
      .orderBy('sequence')
      .execute();
    expect(rows.map(({ event }) => JSON.parse(event).data)).toMatchObject([
      { lock: { path: 'a', owner: 'ada' }, released_by: 'ada', forced: false },
      { lock: { path: 'b', owner: 'ada' }, released_by: 'root', forced: true },
    ]);
    const audit = await service.storage.read.selectFrom('audit').select(['actor', 'detail']).execute();
    expect(audit.filter(({ detail }) => detail.includes(id) && detail.includes('"path"'))).toEqual([
      { actor: 'root key', detail: expect.stringContaining('"path":"b"') },
    ]);
  });
});

describe.each(databaseKinds)('a token that has used up its rate limit, on $name', (kind) => {
  const service = sharedService(kind, { rateLimit: { perSecond: 0.001, burst: 3 } });

  test('can release the locks of other tokens of its owner, but not those of other owners', async () => {
    const ofToken = async (options: TokenOptions) =>
      locksOf(service, service.home, (await service.token({ scopes: ['locks:write'], ...options })).secret);
    const ada = await ofToken({ name: 'laptop', owner: 'ada' });
    const desk = await ofToken({ name: 'desk', owner: 'ada' });
    const bob = await ofToken({ name: 'bob' });
    for (const path of ['a', 'b']) expect((await ada.take(path)).status).toBe(201);
    expect((await bob.take('c')).status).toBe(201);
    // Uses up its limit with releases that find no lock.
    for (let asked = 0; asked < 3; asked += 1) expectProblem(await desk.release('absent'), 'not-found');
    expectProblem(await desk.take('d'), 'rate-limited');
    expectProblem(await desk.release('c'), 'lock-of-another-owner');
    for (const path of ['a', 'b']) expect((await desk.release(path)).status).toBe(204);
    expect((await bob.release('c')).status).toBe(204);
  });
});
