import { describe, expect, onTestFinished, test } from 'vitest';
import { createPostgresDatabase, postgresServer } from '../../support/databases.ts';
import { startFleet } from '../../support/instances/fleet.ts';
import { type Reply, ask as send } from '../../support/running-service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

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
