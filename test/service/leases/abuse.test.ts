import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { joinLine, maxWaitPathsOfToken, maxWaitsOfToken } from '../../../src/service/locks/waits.ts';
import { databaseKinds } from '../../support/databases.ts';
import { changeRows, findRows } from '../../support/stored-rows.ts';
import { waitRequest } from '../../support/waits.ts';
import { expectProblem } from '../http/expect-problem.ts';
import { locksOf, sharedService, untilWaiting } from '../http/shared-service.ts';

interface Lease {
  readonly leaseId?: string;
  readonly count?: number;
  readonly signal?: AbortSignal;
}

describe.each(databaseKinds)('a guest who may lock, on $name', (kind) => {
  const service = sharedService(kind, { allowedNetworks: ['127.0.0.0/8'] });

  async function withGuest() {
    const { id, ...honest } = await service.newWorkspace();
    const { id: tokenId, secret } = await service.token({ name: 'guest', scopes: ['locks:write'] });
    const guest = locksOf(service, id, secret);
    const lease = (paths: readonly string[], prefer: string, { leaseId = randomUUID(), count, signal }: Lease = {}) =>
      service.ask('PUT', `/v1/workspaces/${id}/leases/${leaseId}`, {
        ...{ token: secret, headers: { prefer }, json: { paths, type: 'exclusive', ttl: '1h', count } },
        ...(signal && { signal }),
      });
    const waiting = (count: number) => untilWaiting(service, service.secret, count);
    return { id, honest, guest, lease, tokenId, waiting };
  }

  test('does not keep a free path from others by waiting for another path, which the guest holds', async () => {
    const { honest, guest, lease, waiting } = await withGuest();
    await honest.take('wanted');
    await guest.take('own');
    const leaseWait = lease(['wanted', 'own'], 'wait=30');
    await waiting(1);
    const honestWait = honest.take('wanted', { prefer: 'wait=30' });
    await waiting(2);
    await honest.release('wanted');
    expect((await honestWait).status).toBe(201);
    await honest.release('wanted');
    expect((await honest.take('wanted')).status).toBe(201);
    await guest.release('own');
    await honest.release('wanted');
    expect((await leaseWait).status).toBe(201);
  });

  test('does not overtake waiting clients by releasing a lock and requesting it again, however old the key', async () => {
    const { honest, guest, waiting } = await withGuest();
    const keyed = (index: number) => ({ prefer: 'wait=30', 'idempotency-key': `guest/${index}` });
    await honest.take('a');
    const first = guest.take('a', keyed(1));
    await waiting(1);
    await honest.release('a');
    await first;
    const honestWait = honest.take('a', { prefer: 'wait=30' });
    await waiting(1);
    const again = guest.take('a', keyed(2));
    await waiting(2);
    await guest.release('a');
    expect((await honestWait).status).toBe(201);
    await honest.release('a');
    expect((await again).status).toBe(201);
  });

  test('blocks no free path with a wait for any of several paths whose response was lost', async () => {
    const { honest, lease, waiting } = await withGuest();
    for (const path of ['a', 'b']) await honest.take(path);
    const leaseId = randomUUID();
    const leaving = new AbortController();
    const lost = lease(['a', 'b'], 'wait=30', { leaseId, count: 1, signal: leaving.signal }).catch(() => 'lost');
    await waiting(1);
    // The response to the turn, or the connection before it, is lost.
    await honest.release('b');
    leaving.abort();
    await lost;
    const again = await lease(['a', 'b'], 'wait=30', { leaseId, count: 1 });
    expect(again.body.locks).toMatchObject([{ path: 'b', state: 'held' }]);
  });

  test('has a limited number of waits, which others do not share', async () => {
    const { id, honest, guest, tokenId } = await withGuest();
    const { storage } = service;
    const waits = Array.from({ length: maxWaitsOfToken }, (_, index) =>
      waitRequest(`${id} ${index}`, { workspace: id, paths: [`many/${index}`], tokenId }),
    );
    await storage.commit({ workspace: id }, (db) => joinLine(db, waits));
    await honest.take('a');
    expectProblem(await guest.take('a', { prefer: 'wait=0' }), 'quota-exceeded');
    expect((await honest.take('a', { prefer: 'wait=0' })).body.queue).toEqual({ position: 1, length: 1 });
    await changeRows(storage, 'waits', { present_until: Date.now() - 61_000 }, { token_id: tokenId });
    expectProblem(await guest.take('a', { prefer: 'wait=0' }), 'locked');
  });

  test.each(['wait=0', 'wait=1'])('leaves no wait behind that nobody can ask for again, after %s', async (prefer) => {
    const { id, honest, guest } = await withGuest();
    await honest.take('a');
    const { body } = await guest.take('a', { prefer });
    expect(body).toMatchObject({ lock: { path: 'a' }, queue: { position: 1, length: 1 } });
    expect(await findRows(service.storage, 'waits', { workspace_id: id })).toEqual([]);
    await guest.take('a', { prefer, 'idempotency-key': 'key' });
    expect(await findRows(service.storage, 'waits', { workspace_id: id })).toHaveLength(1);
  });

  test('waits for a limited number of paths, which others do not share', async () => {
    const { id, honest, lease, tokenId } = await withGuest();
    const { storage } = service;
    await honest.take('a');
    const wait = waitRequest(`${id} many`, { workspace: id, paths: ['a', 'b'], tokenId });
    await storage.commit({ workspace: id }, async (db) => {
      await joinLine(db, [wait]);
      await db
        .updateTable('waits')
        .set({ size: maxWaitPathsOfToken - 2 })
        .where('id', '=', wait.waitId)
        .execute();
    });
    const tooMany = await lease(['a', 'b', 'c'], 'wait=0');
    expectProblem(tooMany, 'quota-exceeded');
    expect((await lease(['a', 'b'], 'wait=0')).status).toBe(202);
    expect((await honest.take('a', { prefer: 'wait=0' })).status).toBe(409);
  });

  test('causes one event for a held path within a minute, with however many requests', async () => {
    const { id, honest, guest } = await withGuest();
    const { storage } = service;
    const hook = { url: 'http://127.0.0.1:9/hook', events: ['lock.requested'] };
    await service.ask('POST', `/v1/workspaces/${id}/hooks`, { token: service.secret, json: hook });
    const { body: held } = await honest.take('a');
    const origin = 'https://ci.example.com/runs/1';
    for (let each = 0; each < 20; each += 1) {
      await guest.take('a', { prefer: 'wait=0', 'idempotency-key': randomUUID(), referer: origin });
    }
    await guest.take('a', { prefer: 'wait=1', 'idempotency-key': 'again', referer: origin });
    const hooks = storage.read.selectFrom('hooks').select('id').where('workspace_id', '=', id);
    const deliveries = storage.read.selectFrom('deliveries').select('event').where('hook_id', 'in', hooks);
    expect((await deliveries.execute()).map(({ event }) => JSON.parse(event))).toMatchObject([
      { type: 'lock.requested', workspace: id, data: { lock: held, request: { owner: 'guest', origin, note: null } } },
    ]);
  });
});
