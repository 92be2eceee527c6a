import { beforeAll, describe, expect, test } from 'vitest';
import { scopes } from '../../../src/service/contract/scopes.ts';
import { newTokenSecret } from '../../../src/service/tokens/secret.ts';
import { databaseKinds, sqlite } from '../../support/databases.ts';
import { requestRaw } from '../../support/raw-http.ts';
import type { Ask, Reply } from '../../support/running-service.ts';
import { changeRows } from '../../support/stored-rows.ts';
import { serveApp } from '../http/described-app.ts';
import { sufficientFor } from '../http/operations.ts';
import { sharedService, words } from '../http/shared-service.ts';
import { expectedLfsRoutes } from './expected-routes.ts';
import { expectLfsError, lfsMediaType, lfsOf } from './lfs-of.ts';

const routes = expectedLfsRoutes.flatMap((route) =>
  // URLs of objects are signed: see download.test.ts.
  route.need === 'anyone'
    ? []
    : [{ ...route, need: route.need, name: `${route.method} ${route.path.replace(/.*lfs/, '')}` }],
);
const addressIn = (path: string, workspace: string): string =>
  path.replace(':id', workspace).replace(':lock', 'lock_1');
const lockRoutes = routes.filter(({ path }) => /lfs\/locks(?:\/verify)?$/.test(path));
const basic = 'Basic realm="workspace-service"';

describe.each(databaseKinds)('an LFS endpoint on $name', (kind) => {
  const service = sharedService(kind);

  describe.each(routes)('$name', ({ method, path, need }) => {
    const ask = (given: Ask, workspace = service.home): Promise<Reply> =>
      service.ask(method, addressIn(path, workspace), {
        ...(method === 'POST' && { json: {} }),
        ...given,
        headers: { ...(method === 'POST' && { 'content-type': lfsMediaType }), ...given.headers },
      });

    test('responds 401 to missing, unknown, expired and revoked tokens, with both challenges', async () => {
      const [expired, revoked] = [await service.token(), await service.token()];
      await changeRows(service.storage, 'tokens', { expires_at: 1 }, { id: expired.id });
      await changeRows(service.storage, 'tokens', { revoked_at: 1 }, { id: revoked.id });
      const invalid = 'Bearer realm="workspace-service", error="invalid_token"';
      const asBasic = (text: string) => ({ headers: { authorization: `Basic ${btoa(text)}` } });
      const refused: readonly (readonly [Ask, message: string, challenge: string])[] = [
        [{}, 'Sign in with an API token', 'Bearer realm="workspace-service"'],
        [asBasic(`ada:${newTokenSecret()}`), 'Unknown API token', invalid],
        [asBasic(service.secret), 'Unknown API token', invalid],
        [{ headers: { authorization: 'Basic \u00ff' } }, 'Unknown API token', invalid],
        [asBasic(`ada:${expired.secret}`), 'has expired', invalid],
        [{ token: revoked.secret }, 'has been revoked', invalid],
      ];
      for (const [given, message, challenge] of refused) {
        const response = await ask(given);
        expect(expectLfsError(response, 401)).toContain(message);
        expect(response.headers.get('www-authenticate')).toBe(`${challenge}, ${basic}`);
        expect(response.headers.get('lfs-authenticate')).toBe(basic);
      }
    });

    test.each(scopes)('responds 403 to the scope %s if it is insufficient, naming the required one', async (scope) => {
      const { secret: token } = await service.token({ scopes: [scope] });
      const response = await ask({ token });
      if (need === 'any-token' || sufficientFor[need].includes(scope)) {
        expect(response.status).not.toBe(403);
        return;
      }
      expect(expectLfsError(response, 403)).toContain(need);
      expect(response.headers.get('www-authenticate')).toContain(`scope="${need}"`);
    });

    test('responds 403 equally for unknown, hidden and invalid workspaces', async () => {
      const hidden = await service.workspace();
      const { secret: token } = await service.token({ workspaces: [service.home] });
      const message = async (workspace: string): Promise<string> =>
        expectLfsError(await ask({ token }, workspace), 403).replace(workspace, 'ID');
      expect(await message(hidden)).toBe(await message('not-there'));
      for (const id of ['NONE', '%00', '%', 'a%2Fb', 'x'.repeat(5_000), '%ff']) {
        expectLfsError(await ask({ token }, id), 403);
      }
    });

    test('responds 405 to every other method', async () => {
      const known = expectedLfsRoutes.flatMap((each) => (each.path === path ? [each.method] : []));
      for (const other of words('GET POST PUT PATCH DELETE OPTIONS TRACE PROPFIND')) {
        if (known.includes(other)) continue;
        const response = await service.ask(other, addressIn(path, service.home), { token: service.secret });
        expect(expectLfsError(response, 405)).toContain(other);
        expect(response.headers.get('allow')).toContain(known[0]);
      }
    });
  });

  const bodies = routes.filter(({ method }) => method === 'POST');

  test.each(bodies)('$name responds 400, 413, 415 or 422 to an invalid body', async ({ method, path }) => {
    const send = (raw: string | Uint8Array<ArrayBuffer>, headers: Readonly<Record<string, string>> = {}) =>
      service.ask(method, addressIn(path, service.home), {
        token: service.secret,
        raw,
        headers: { 'content-type': lfsMediaType, ...headers },
      });
    expectLfsError(await send('{'), 400);
    expectLfsError(await send('a'.repeat(1_048_577)), 413);
    expectLfsError(await send('{}', { 'content-type': 'text/plain' }), 415);
    for (const json of ['null', '[]', '1']) expectLfsError(await send(json), 422);
  });

  test.each(
    words('/ //locks /locks//verify /locks/verify/ /LOCKS /locks? /locks/verify?x=% /objects/a /objects/..%2f'),
  )('never responds 404 or 501, which disables the client, not even at %s', async (end) => {
    for (const workspace of [service.home, 'x', '', '%', '.', ';a', 'a@b']) {
      for (const method of ['GET', 'POST', 'PROPFIND']) {
        const target = `/v1/workspaces/${workspace}/lfs${end}`;
        const response = await requestRaw(service.port, {
          ...{ method, target, headers: [`authorization: Bearer ${service.secret}`], body: '{}' },
        });
        expect([404, 500, 501], `${method} ${target}`).not.toContain(response.status);
        if (response.status < 400) continue;
        expect(response.headers.get('content-type'), `${method} ${target}`).toBe(lfsMediaType);
        expect(response.body.message).toMatch(/\S/);
      }
    }
  });

  test('responds 422 to invalid fields, and names them', async () => {
    const lfs = lfsOf(service, service.home, service.secret);
    for (const json of [{}, { path: 1 }, { path: '' }, { path: '../a' }, { path: 'a/' }, { path: 'a\0' }]) {
      expect(expectLfsError(await lfs.post('/locks', json), 422)).toContain('path');
    }
    expect(expectLfsError(await lfs.verify({ limit: 'many' }), 422)).toContain('limit');
    expect(expectLfsError(await lfs.verify({ cursor: 'none' }), 422)).toContain('cursor');
    expect(expectLfsError(await lfs.release('lock_1', { force: 1 }), 422)).toContain('force');
    for (const query of ['path=', 'path=%00', 'limit=x', 'cursor=none', 'path=a&path=b', 'id=%ff']) {
      expect(expectLfsError(await lfs.list(`?${query}`), 422)).toContain(query.replace(/=.*/, ''));
    }
  });
});

const busy = sharedService(sqlite, { rateLimit: { perSecond: 1 / 3_600, burst: 2 } });

test('responds 429 beyond the rate limit of a token, but lets it release its own lock', async () => {
  const workspace = await busy.workspace();
  const lfs = lfsOf(busy, workspace, (await busy.token()).secret);
  const { lock } = (await lfs.take('a')).body;
  expect((await lfs.verify()).status).toBe(200);
  const refused = [await lfs.verify(), await lfs.list(), await lfs.take('b'), await lfs.batch()];
  for (const response of refused) {
    expect(expectLfsError(response, 429)).toContain('Too many requests');
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect((await lfs.release(lock.id)).status).toBe(200);
});

describe('when the database fails', () => {
  const unknown = new Error('unforeseen');
  const orphaned = Object.assign(new Error('gone'), { code: '23503' });
  let failure: Error | undefined;
  let app: Awaited<ReturnType<typeof serveApp>>;
  let token: string;

  beforeAll(async () => {
    app = await serveApp({
      requestLimit: {
        identify() {
          if (failure !== undefined) throw failure;
        },
      },
    });
    token = await app.token('admin');
    return app.stop;
  });

  test.each(lockRoutes)('$name responds 503, or 403 if the workspace was removed', async ({ method, path }) => {
    for (const [error, status] of [
      [unknown, 503],
      [orphaned, 403],
    ] as const) {
      failure = error;
      const json = method === 'POST' ? {} : undefined;
      expectLfsError(await app.ask(method, addressIn(path, 'game'), { token, json }), status);
    }
  });
});
