import { randomUUID } from 'node:crypto';
import { connect, createServer } from 'node:net';
import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openPostgres } from '../../../src/service/storage/postgres.ts';
import { databaseProblem } from '../../../src/service/storage/unavailable.ts';
import { createPostgresDatabase, postgresAt, postgresServer } from '../../support/databases.ts';
import { joinSockets, listenHere } from '../../support/listen.ts';
import { startTestService } from '../../support/running-service.ts';
import { locksOf } from '../http/shared-service.ts';

test.skipIf(postgresServer === undefined)(
  'a connection to a silent server is replaced after one timeout, also that of a listener (needs TEST_DATABASE_URL)',
  async () => {
    const database = await createPostgresDatabase(postgresServer ?? '');
    const target = new URL(database.url);
    const proxy = await startCuttableProxy(target.hostname, Number(target.port));
    target.port = String(proxy.port);
    const storage = await openPostgres({ url: target.href, queryTimeoutMs: 1_000, onIdleError: () => undefined });
    onTestFinished(async () => {
      await storage.close();
      await proxy.close();
      await database.remove();
    });
    const ask = {
      read: () => storage.read.selectFrom('tokens').select('id').execute(),
      commit: () => storage.commit('global', (db) => db.selectFrom('tokens').select('id').execute()),
    };
    const heard: unknown[] = [];
    storage.broadcast.listen((message) => heard.push(message));
    await expect.poll(() => heard).toEqual([undefined]);
    for (const work of [ask.read, ask.commit, ask.read]) {
      expect(await work()).toEqual([]);
      proxy.silence();
      await expect(work()).rejects.toThrow('Query read timeout');
      expect(await work()).toEqual([]);
    }
    // The listener may have missed messages.
    await expect.poll(() => heard.length).toBeGreaterThan(1);
  },
);

test.skipIf(postgresServer === undefined)(
  'a change of a table fails one query of a connection, as if the database were gone (needs TEST_DATABASE_URL)',
  async () => {
    const { url, remove } = await createPostgresDatabase(postgresServer ?? '');
    const storage = await openPostgres({ url, onIdleError: () => undefined });
    onTestFinished(async () => {
      await storage.close();
      await remove();
    });
    const workspaces = () => storage.read.selectFrom('workspaces').selectAll().execute();
    expect(await workspaces()).toEqual([]);
    await sql`alter table workspaces add column later text`.execute(storage.read);
    const error = await workspaces().catch((error: unknown) => error);
    expect(databaseProblem(error)).toBe('The database does not answer.');
    expect(await workspaces()).toEqual([]);
  },
);

describe.skipIf(postgresServer === undefined)('an outage of PostgreSQL (needs TEST_DATABASE_URL)', () => {
  async function startBehindProxy() {
    const database = await createPostgresDatabase(postgresServer ?? '');
    const target = new URL(database.url);
    const proxy = await startCuttableProxy(target.hostname, Number(target.port));
    target.hostname = '127.0.0.1';
    target.port = String(proxy.port);
    const service = await startTestService(postgresAt(target.href));
    onTestFinished(async () => {
      proxy.restore();
      await service.stop();
      await proxy.close();
      await database.remove();
    });
    const { secret: token } = await service.token();
    const { take, paths } = locksOf(service, await service.workspace(), token);
    const lock = (path: string, key = randomUUID()) => take(path, { 'idempotency-key': key });
    const held = () => paths('?limit=1000');
    return { service, proxy, lock, held };
  }

  test('fails requests with 503 without exposing the password, and requires no restart', async () => {
    const { service, proxy, lock, held } = await startBehindProxy();
    expect((await lock('before')).status).toBe(201);
    proxy.cut();
    const { status, body, headers, text } = await lock('meanwhile');
    expect([status, body.type]).toEqual([503, 'urn:workspace-automation:problem:unavailable']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await service.ask('GET', '/readyz')).status).toBe(503);
    expect((await service.ask('GET', '/healthz')).status).toBe(200);
    await expect.poll(() => service.log()).toContain('request failed');
    const { password } = new URL(postgresServer ?? '');
    expect(password.length).toBeGreaterThan(5);
    expect(text + service.log()).not.toContain(password);
    proxy.restore();
    await expect.poll(async () => (await service.ask('GET', '/readyz')).status).toBe(200);
    expect((await lock('after')).status).toBe(201);
    expect(await held()).toEqual(['after', 'before']);
  });

  test('lets clients settle unanswered requests with their idempotency keys', async () => {
    const { proxy, lock, held } = await startBehindProxy();
    for (let round = 0; round < 5; round += 1) {
      const requests = Array.from({ length: 40 }, (_, index) => ({ path: `r${round}-${index}`, key: randomUUID() }));
      const running = requests.map(({ path, key }) => lock(path, key));
      await Promise.race(running);
      proxy.cut();
      const first = await Promise.all(running);
      for (const { status } of first) expect([201, 503]).toContain(status);
      proxy.restore();
      const again = [];
      for (const { path, key } of requests) again.push(await lock(path, key));
      expect(new Set(again.map(({ status }) => status))).toEqual(new Set([201]));
      for (const [index, reply] of first.entries()) {
        if (reply.status === 201) expect(again[index]?.text).toBe(reply.text);
      }
    }
    expect(await held()).toHaveLength(200);
  });
});

/** A network between two programs that can fail: bytes pass through it until it is cut. */
async function startCuttableProxy(host: string, port: number) {
  let isCut = false;
  const server = createServer((incoming) => {
    if (isCut) incoming.resetAndDestroy();
    else joinSockets(incoming, connect(port, host));
  });
  const { sockets, ...listening } = await listenHere(server);
  return {
    ...listening,
    /** Cuts all connections, and new ones until `restore`. */
    cut() {
      isCut = true;
      for (const socket of sockets) socket.resetAndDestroy();
    },
    /** Stops all bytes in the open connections without an error. New connections are not affected. */
    silence() {
      for (const socket of sockets) socket.unpipe().pause().cork();
    },
    restore() {
      isCut = false;
    },
  };
}
