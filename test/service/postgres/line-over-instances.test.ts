import { describe, expect, onTestFinished, test } from 'vitest';
import { createPostgresDatabase, postgresAt, postgresServer } from '../../support/databases.ts';
import { startFleet } from '../../support/instances/fleet.ts';
import { type Reply, ask as send, startTestService } from '../../support/running-service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { locksOf, untilWaiting } from '../http/shared-service.ts';

const clients = 200;
const path = 'Content/Hero.uasset';

describe.skipIf(postgresServer === undefined)('a line at two instances (needs TEST_DATABASE_URL)', () => {
  test('keeps its order when one is killed, and waits for no client that has gone', { timeout: 120_000 }, async () => {
    const { url, remove } = await createPostgresDatabase(postgresServer ?? '');
    onTestFinished(remove);
    const fleet = await startFleet(temporaryFolder(), url, 2);
    onTestFinished(async () => void (await Promise.all([fleet.kill(0), fleet.kill(1)])));
    const { token } = fleet;
    let turn = 0;
    const ask = (
      method: string,
      address: string,
      headers = {},
      json?: object,
      signal?: AbortSignal,
    ): Promise<Reply> => {
      const ports = fleet.ports();
      turn += 1;
      const base = `http://127.0.0.1:${ports[turn % ports.length]}/v1/workspaces/sample`;
      return send(base, method, address, { token, headers, ...(json && { json }), ...(signal && { signal }) });
    };
    const lock = { path, type: 'exclusive', ttl: '1h' };
    const release = (etag: string | null) =>
      ask('DELETE', `/locks/${encodeURIComponent(path)}`, { 'if-match': etag ?? '' });
    const queue = async (): Promise<string[]> => {
      const { body } = await ask('GET', '/queue');
      return body.queue.map(({ origin }: { readonly origin: string }) => origin);
    };

    const held = await ask('POST', '/locks', {}, lock);
    const granted: string[] = [];
    const line = Array.from({ length: clients }, (_, index) => {
      const origin = `https://ci.example.com/runs/${index}`;
      const headers = { prefer: 'wait=30', 'idempotency-key': `client-${index}`, referer: origin };
      const leaving = new AbortController();
      async function waitAndRelease(): Promise<void> {
        while (!leaving.signal.aborted) {
          // A killed instance cuts the connection. The client asks again, at the other one.
          const reply = await ask('POST', '/locks', headers, lock, leaving.signal).catch(() => undefined);
          if (reply?.status !== 201) continue;
          granted.push(origin);
          await release(reply.headers.get('etag'));
          return;
        }
      }
      return { leaving, done: waitAndRelease() };
    });
    await expect.poll(async () => (await queue()).length, { timeout: 30_000 }).toBe(clients);
    for (const { leaving } of line.filter((_, index) => index % 20 === 5)) leaving.abort();
    const left = clients - clients / 20;
    await expect.poll(async () => (await queue()).length, { timeout: 30_000 }).toBe(left);
    const before = await queue();
    await fleet.kill(0);
    await release(held.headers.get('etag'));
    await Promise.all(line.map(({ done }) => done));
    expect(granted).toEqual(before);
  });
});

describe.skipIf(postgresServer === undefined)('a proxy that hides disconnections (needs TEST_DATABASE_URL)', () => {
  async function twoInstances() {
    const { url, remove } = await createPostgresDatabase(postgresServer ?? '');
    onTestFinished(remove);
    const [first, second] = await Promise.all([startTestService(postgresAt(url)), startTestService(postgresAt(url))]);
    onTestFinished(async () => void (await Promise.all([first.stop(), second.stop()])));
    const { secret } = await first.token();
    const workspace = await first.workspace();
    return {
      first: locksOf(first, workspace, secret),
      second: locksOf(second, workspace, secret),
      waitingAtFirst: (count: number) => untilWaiting(first, secret, count),
      waitingAtSecond: (count: number) => untilWaiting(second, secret, count),
    };
  }
  const key = { 'idempotency-key': 'hidden-client' };
  const waits = { ...key, prefer: 'wait=30' };

  test.each([{}, { prefer: 'wait=0' }, { prefer: 'wait=1' }])(
    'costs nobody a lock after the client has asked again elsewhere (%j)',
    async (prefer) => {
      const { first, second, waitingAtFirst } = await twoInstances();
      await first.take(path);
      const hidden = first.take(path, waits);
      await waitingAtFirst(1);
      expect((await second.take(path, { ...key, ...prefer })).status).toBe(409);
      await second.release(path);
      await expect.poll(async () => (await second.take(path)).status, { timeout: 10_000 }).toBe(201);
      expect((await hidden).status).toBe(409);
    },
  );

  test('does not keep the lock from a client that waits elsewhere now', async () => {
    const { first, second, waitingAtFirst, waitingAtSecond } = await twoInstances();
    await first.take(path);
    const hidden = first.take(path, waits);
    await waitingAtFirst(1);
    const again = second.take(path, waits);
    await waitingAtSecond(1);
    // The instance of the hidden client learns that it is not the one who waits.
    await waitingAtFirst(0);
    await first.release(path);
    expect([(await hidden).status, (await again).status]).toEqual([409, 201]);
  });

  test('leaves no lock of which the client was told that it is refused, also at the moment of the grant', async () => {
    const { first, second, waitingAtFirst } = await twoInstances();
    for (let round = 0; round < 6; round += 1) {
      const its = { 'idempotency-key': `hidden-client-${round}` };
      await first.take(path);
      const hidden = first.take(path, { ...its, prefer: 'wait=30' });
      await waitingAtFirst(1);
      const [asked] = await Promise.all([second.take(path, its), first.release(path)]);
      // Its request may have met the earlier one while that was granted.
      const last = asked.body.type?.endsWith(':request-in-progress') ? await second.take(path, its) : asked;
      await hidden;
      const free = async (): Promise<number> => (await first.take(path)).status;
      if (last.status !== 201) await expect.poll(free, { timeout: 10_000 }).toBe(201);
      await first.release(path);
    }
  });
});
