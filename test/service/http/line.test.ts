import { beforeAll, describe, expect, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import type { Reply } from '../../support/running-service.ts';
import { revoke } from '../../support/stored-rows.ts';
import { leasesOf } from '../leases/leases-of.ts';
import { expectProblem } from './expect-problem.ts';
import { type Locks, locksOf, sharedService, untilWaiting } from './shared-service.ts';

interface Waiting {
  readonly key: string;
  readonly wait?: string;
  readonly referer?: string;
}

describe.each(databaseKinds)('a request that waits for a lock, on $name', (kind) => {
  const service = sharedService(kind);
  let workspace: string;
  let locks: Locks;
  beforeAll(async () => {
    workspace = service.home;
    locks = locksOf(service, workspace, service.secret);
  });

  const take = (path: string, { key, wait = 'wait=30', ...headers }: Waiting, signal?: AbortSignal): Promise<Reply> =>
    service.ask('POST', `/v1/workspaces/${workspace}/locks`, {
      token: service.secret,
      headers: { prefer: wait, 'idempotency-key': key, ...headers },
      json: { path, type: 'exclusive', ttl: '1h' },
      ...(signal && { signal }),
    });
  const waiting = (count: number) => untilWaiting(service, service.secret, count);
  const queue = async (path: string): Promise<string[]> => {
    const { body } = await service.ask('GET', `/v1/workspaces/${workspace}/queue?path=${path}`, {
      token: service.secret,
    });
    return body.queue.map(({ origin }: { readonly origin: string | null }) => origin?.split('/').at(-1));
  };
  const run = (name: string) => `https://ci.example.com/runs/${name}`;

  /** Requests in line for a held path, in this order. The lock of each is released as soon as it is granted. */
  async function lineFor(path: string, requests: readonly Waiting[]) {
    await locks.take(path);
    const granted: string[] = [];
    const all: Promise<void>[] = [];
    for (const [index, request] of requests.entries()) {
      const name = request.key;
      all.push(
        take(path, { ...request, key: `${path} ${name}`.replaceAll(' ', '-'), referer: run(name) }).then(
          async (reply) => {
            expect([name, reply.status]).toEqual([name, 201]);
            granted.push(name);
            await locks.release(path, { 'if-match': reply.headers.get('etag') ?? '' });
          },
        ),
      );
      await waiting(index + 1);
    }
    return { granted, end: () => Promise.all(all) };
  }

  test('is granted the lock at its turn, first come, first served', async () => {
    const { granted, end } = await lineFor('fifo', [{ key: 'a' }, { key: 'b' }, { key: 'c' }]);
    expect(await queue('fifo')).toEqual(['a', 'b', 'c']);
    await locks.release('fifo');
    await end();
    expect(granted).toEqual(['a', 'b', 'c']);
    expect(await queue('fifo')).toEqual([]);
  });

  test('keeps its place if it is sent again with a key that differs only after its last slash', async () => {
    await locks.take('kept-place');
    const positionOf = async (key: string) => (await take('kept-place', { key, wait: 'wait=0' })).body.queue.position;
    expect(await positionOf('kept-first/1')).toBe(1);
    const second = take('kept-place', { key: 'kept-second/1' });
    await waiting(1);
    expect(await positionOf('kept-first/2')).toBe(1);
    expect(await positionOf('other/2')).toBeGreaterThan(1);
    await locks.release('kept-place');
    expect((await second).status).toBe(201);
  });

  test('gets its place, the holder and the applied wait in the response at the end of its wait', async () => {
    const { body: held } = await locks.take('timeout');
    const first = take('timeout', { key: 'timeout-1' });
    await waiting(1);
    const reply = await take('timeout', { key: 'timeout-2', wait: 'wait=1' });
    expect([reply.status, reply.body.lock, reply.body.queue]).toEqual([409, held, { position: 2, length: 2 }]);
    expect(reply.headers.get('preference-applied')).toBe('wait=1');
    const plain = await locks.take('timeout');
    // The client whose wait has ended counts for a moment more.
    const { length } = plain.body.queue;
    expect([plain.status, plain.body.queue.position]).toEqual([409, length + 1]);
    expect(plain.headers.get('preference-applied')).toBeNull();
    await locks.release('timeout');
    expect((await first).status).toBe(201);
  });

  test.each(['lock', 'lease'])(
    'is answered with the holder at the end of its wait, as the %s was passed on',
    async (kind) => {
      const path = `passed-on-${kind}`;
      const { body: before } = await locks.take(path);
      const first = take(path, { key: `first-for-${path}` });
      await waiting(1);
      const { put } = leasesOf(service, workspace, service.secret);
      const ended =
        kind === 'lock'
          ? take(path, { key: `second-for-${path}`, wait: 'wait=2' })
          : put(`lease-of-${path}`, { paths: [path, 'own'] }, { prefer: 'wait=2' });
      await waiting(2);
      await locks.release(path);
      const { body: holder } = await first;
      const { body } = await ended;
      expect(body.lock ?? body.blocked[0].lock).toMatchObject({ id: holder.id });
      expect(holder.id).not.toBe(before.id);
    },
  );

  test('is no longer counted while its client is away, and keeps its place if the client asks again', async () => {
    await locks.take('away');
    const leaving = new AbortController();
    const gone = take('away', { key: 'away-1' }, leaving.signal).catch(() => 'gone');
    await waiting(1);
    const second = take('away', { key: 'away-2' });
    await waiting(2);
    leaving.abort();
    expect(await gone).toBe('gone');
    await waiting(1);
    const third = take('away', { key: 'away-1' });
    await waiting(2);
    await locks.release('away');
    const { headers } = await third;
    await locks.release('away', { 'if-match': headers.get('etag') ?? '' });
    await second;
    await locks.release('away');
  });

  test('gets nothing after the client has sent another one, if a proxy hides that the client has disconnected', async () => {
    await locks.take('hidden');
    const hidden = take('hidden', { key: 'hidden-1' });
    await waiting(1);
    expect((await locks.take('hidden', { 'idempotency-key': 'hidden-1' })).status).toBe(409);
    expect((await hidden).status).toBe(409);
    await locks.release('hidden');
    expect((await locks.take('hidden')).status).toBe(201);
  });

  test('gets nothing if its token is revoked while it waits', async () => {
    await locks.take('revoked');
    const { id, secret } = await service.token();
    const refused = locksOf(service, workspace, secret).take('revoked', { prefer: 'wait=30' });
    await waiting(1);
    await revoke(service.storage, id);
    await locks.release('revoked');
    expectProblem(await refused, 'unauthorized');
    expect((await locks.take('revoked')).status).toBe(201);
  });
});
