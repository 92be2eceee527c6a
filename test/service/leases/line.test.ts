import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import type { Reply } from '../../support/running-service.ts';
import { changeRows } from '../../support/stored-rows.ts';
import { sharedService, untilWaiting } from '../http/shared-service.ts';

describe.each(databaseKinds)('leases that wait, on $name', (kind) => {
  const service = sharedService(kind);

  async function line() {
    const workspace = await service.newWorkspace();
    const address = `/v1/workspaces/${workspace.id}/leases`;
    const headersOf = (wait: number | undefined, priority?: string) => ({
      ...(wait !== undefined && { prefer: `wait=${wait}` }),
      ...(priority !== undefined && { priority }),
    });
    function put(
      paths: readonly string[],
      { id = randomUUID(), wait, priority, token = service.secret, ...more }: Options = {},
    ): Promise<Reply> & { readonly id: string } {
      const json = { paths, type: 'exclusive', ttl: '1h', ...more };
      const reply = service.ask('PUT', `${address}/${id}`, { token, headers: headersOf(wait, priority), json });
      return Object.assign(reply, { id });
    }
    const end = (id: string) => service.ask('DELETE', `${address}/${id}`, { token: service.secret });
    const get = (id: string) => service.ask('GET', `${address}/${id}`, { token: service.secret });
    const waiting = (count: number) => untilWaiting(service, service.secret, count);
    return { workspace, put, end, get, waiting };
  }

  interface Options {
    readonly id?: string;
    readonly wait?: number;
    readonly priority?: string;
    readonly count?: number;
    readonly token?: string;
  }

  const pathsIn = ({ body }: Reply): string[] => body.locks.map(({ path }: { path: string }) => path);

  test('are granted as a whole at their turn, and hold nothing before', async () => {
    const { workspace, put, waiting } = await line();
    await workspace.take('b');
    const all = put(['a', 'b', 'c'], { wait: 30 });
    await waiting(1);
    expect(await workspace.paths()).toEqual(['b']);
    await workspace.release('b');
    const granted = await all;
    expect([granted.status, pathsIn(granted)]).toEqual([201, ['a', 'b', 'c']]);
    expect(granted.headers.get('preference-applied')).toBe('wait=30');
  });

  test('return their place and the obstacles, and keep the place', async () => {
    const { workspace, put, get } = await line();
    await workspace.take('b');
    // However long the next request takes: without this, a client is only present for 300 ms after a request.
    const stay = () =>
      changeRows(service.storage, 'waits', { present_until: Date.now() + 60_000 }, { workspace_id: workspace.id });
    const first = put(['a', 'b'], { wait: 0 });
    const reply = await first;
    await stay();
    expect(reply.status).toBe(202);
    expect(reply.body).toMatchObject({
      ...{ id: first.id, state: 'waiting', queue: { position: 1, length: 1 } },
      blocked: [{ path: 'b', lock: { path: 'b' } }],
    });
    expect((await put(['b', 'c'], { wait: 0 })).body.queue).toEqual({ position: 2, length: 2 });
    await stay();
    expect((await put(['a', 'b'], { id: first.id, wait: 0 })).body.queue).toEqual({ position: 1, length: 2 });
    expect((await get(first.id)).body).toMatchObject({ state: 'waiting', blocked: [{ path: 'b' }] });
    expect((await put(['a'], { id: first.id, wait: 0 })).status).toBe(422);
    expect((await put(['a', 'b'])).status).toBe(409);
    // A client that does not wait gives up its place.
    expect((await put(['a', 'b'], { id: first.id })).status).toBe(409);
    expect((await get(first.id)).status).toBe(404);
  });

  test('are served in the order of their arrival, single locks among them', async () => {
    const { workspace, put, end, waiting } = await line();
    await workspace.take('a');
    const order: string[] = [];
    const set = put(['a', 'b'], { wait: 30 });
    await waiting(1);
    const single = workspace.take('a', { prefer: 'wait=30' });
    await waiting(2);
    const last = put(['a', 'c'], { wait: 30 });
    await waiting(3);
    await workspace.release('a');
    await set.then(() => order.push('set'));
    await end(set.id);
    await single.then(() => order.push('single'));
    await workspace.release('a');
    await last.then(() => order.push('last'));
    expect(order).toEqual(['set', 'single', 'last']);
  });

  test('have their free paths kept for them once they have waited for five minutes', async () => {
    const { workspace, put, waiting } = await line();
    await workspace.take('held');
    const set = put(['free', 'held'], { wait: 30 });
    await waiting(1);
    const sixMinutesAgo = Date.now() - 6 * 60_000;
    await changeRows(
      service.storage,
      'waits',
      { since: sixMinutesAgo, rank: sixMinutesAgo * 1_000 },
      { workspace_id: workspace.id },
    );
    const refused = await workspace.take('free');
    expect([refused.status, refused.body.lock]).toEqual([409, undefined]);
    await workspace.release('held');
    expect((await set).status).toBe(201);
  });

  test('get the first free path if they want any of several', async () => {
    const { workspace, put, waiting } = await line();
    for (const path of ['a', 'b', 'c']) await workspace.take(path);
    const two = put(['a', 'b', 'c'], { wait: 30, count: 2 });
    await waiting(1);
    await workspace.release('c');
    await workspace.release('a');
    expect(pathsIn(await two)).toEqual(['a', 'c']);
  });

  test('leave the line when they are ended, and others proceed at once', async () => {
    const { workspace, put, end, waiting } = await line();
    await workspace.take('a');
    const first = put(['a', 'b'], { wait: 30 });
    await waiting(1);
    const second = workspace.take('a', { prefer: 'wait=30' });
    await waiting(2);
    expect((await end(first.id)).body).toEqual({ released: [], lost: [] });
    expect((await first).status).toBe(410);
    await workspace.release('a');
    expect((await second).status).toBe(201);
    expect((await put(['a', 'b'], { id: first.id, wait: 0 })).status).toBe(410);
  });

  test('are all granted, one after the other, if their paths overlap while others also ask', async () => {
    const { put, end } = await line();
    const all = ['a', 'b', 'c', 'd', 'e'];
    const holders = new Map<string, string>();
    const hold = async (index: number) => {
      const paths = [0, 1, 3].map((step) => all[(index + step) % all.length] ?? '');
      const asked = put(paths, { wait: 30 });
      const { status } = await asked;
      expect(status).toBe(201);
      for (const path of paths) expect(holders.get(path), `a second holder of ${path}`).toBeUndefined();
      for (const path of paths) holders.set(path, asked.id);
      await setImmediate();
      for (const path of paths) holders.delete(path);
      expect((await end(asked.id)).body.released.toSorted()).toEqual(paths.toSorted());
    };
    await Promise.all(Array.from({ length: 20 }, (_, index) => hold(index)));
  });
});
