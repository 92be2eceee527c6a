import { describe, expect, test } from 'vitest';
import { createRateLimiter } from '../../../src/service/http/rate-limit.ts';
import { startServer } from '../../../src/service/http/server.ts';
import { createToken } from '../../../src/service/tokens/tokens.ts';
import { connectRaw, type RawConnection, writeRequest } from '../../support/raw-http.ts';
import { startTestService } from '../../support/running-service.ts';
import { anyDatabase } from './any-database.ts';
import { describedApp } from './described-app.ts';

/** Sends a request but for its body, and waits until the service asks for that. */
async function beginLock(port: number, token: string, target: string) {
  const body = JSON.stringify({ path: 'a', type: 'exclusive', ttl: '1h' });
  const connection = await connectRaw(port);
  await connection.send(
    writeRequest({
      method: 'POST',
      target,
      token,
      headers: ['Content-Type: application/json', 'Expect: 100-continue', `Content-Length: ${body.length}`],
    }),
  );
  expect((await connection.answer()).status).toBe(100);
  return { connection, body };
}

const idle = async (port: number): Promise<RawConnection> => {
  const connection = await connectRaw(port);
  await connection.send(writeRequest({ target: '/healthz' }));
  expect((await connection.answer()).status).toBe(200);
  return connection;
};

describe.each(anyDatabase)('stopping', (kind) => {
  test('lets a running request finish, ends all other connections and takes no new ones', async () => {
    const service = await startTestService(kind);
    const { secret } = await service.token();
    const workspace = await service.workspace();
    const { connection, body } = await beginLock(service.port, secret, `/v1/workspaces/${workspace}/locks`);
    const others = [await idle(service.port), await connectRaw(service.port)];

    const stopped = service.stop();
    await Promise.all(others.map(({ closed }) => closed));
    await expect(connectRaw(service.port)).rejects.toThrow('ECONNREFUSED');
    await connection.send(body);
    const answer = await connection.answer();
    expect(answer.status).toBe(201);
    expect(answer.headers.get('connection')).toBe('close');
    await connection.closed;
    await stopped;
  });

  test('does not wait for ever: what has not ended by then is cut', async () => {
    const { storage, remove } = await kind.open();
    const newToken = { name: 'ada', scopes: ['locks:write'], workspaces: null, lifetime: null } as const;
    const { secret } = await storage.commit('global', (db) => createToken(db, storage.now, newToken));
    const app = describedApp({ storage, rateLimiter: createRateLimiter(null, () => 0) });
    const server = await startServer(app, '127.0.0.1', 0);
    const { connection } = await beginLock(server.port, secret, '/v1/workspaces/w/locks');
    await server.close(20);
    await connection.closed;
    await remove();
  });
});
