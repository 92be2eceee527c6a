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
      const tag = { 'if-match': `"${held.id}"` };
      const unforced = [await release('a'), await release('a', tag), await release('a', {}, '?force=false')];
      for (const response of [await take('a', tag), ...unforced]) {
        expect(expectProblem(response, 'lock-of-another-owner').lock, JSON.stringify(other)).toEqual(held);
      }
      expect(expectProblem(await release('a', {}, '?force=true'), 'insufficient-scope').status).toBe(403);
    }
    expect((await laptop.list()).body.locks).toEqual([held]);
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
});
