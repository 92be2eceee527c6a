import { describe, expect, test } from 'vitest';
import { scopes } from '../../../src/service/contract/scopes.ts';
import { newTokenSecret } from '../../../src/service/tokens/secret.ts';
import { databaseKinds } from '../../support/databases.ts';
import { type RawAnswer, requestRaw } from '../../support/raw-http.ts';
import type { Reply } from '../../support/running-service.ts';
import { changeRows, revoke } from '../../support/stored-rows.ts';
import { expectedPages } from '../dashboard/expected-pages.ts';
import { expectedLfsRoutes } from '../lfs/expected-routes.ts';
import { mirrorRoutes } from '../mirror/mirror-of.ts';
import { describedApp } from './described-app.ts';
import { expectProblem } from './expect-problem.ts';
import { addressIn, type ExpectedOperation, expectedOperations, sufficientFor } from './operations.ts';
import { sharedService } from './shared-service.ts';

const guarded = expectedOperations.filter(({ need }) => need !== 'anyone');
const open = expectedOperations.filter(({ need }) => need === 'anyone');
const inWorkspaces = expectedOperations.filter(({ path }) => path.includes('{id}'));

test('the tables of operations, LFS routes, git routes and pages cover exactly the routes of the app', () => {
  const routes = describedApp().routes.filter(({ method }) => method !== 'ALL');
  const found = new Set(routes.map(({ method, path }) => `${method} ${path}`));
  const operations = expectedOperations.map(({ method, path }) => `${method} ${path.replaceAll(/{(\w+)}/g, ':$1')}`);
  const pages = expectedPages.map(({ method, path }) => `${method} ${path}`);
  const lfs = expectedLfsRoutes.map(({ method, path }) => `${method} ${path}`);
  expect([...found].sort()).toEqual([...operations, ...lfs, ...mirrorRoutes, ...pages].sort());
});

describe.each(databaseKinds)('access on $name', (kind) => {
  const service = sharedService(kind);

  const ask = (operation: ExpectedOperation, token?: string): Promise<Reply> =>
    service.ask(operation.method, addressIn(operation, service.home), { token });
  const askWith = (operation: ExpectedOperation, ...authorization: readonly string[]): Promise<RawAnswer> =>
    requestRaw(service.port, {
      method: operation.method,
      target: addressIn(operation, service.home),
      headers: authorization.map((value) => `Authorization: ${value}`),
    });

  function expectChallenge(response: Parameters<typeof expectProblem>[0], error = ''): void {
    expectProblem(response, 'unauthorized');
    expect(response.headers.get('www-authenticate')).toBe(`Bearer realm="workspace-service"${error}`);
  }
  const invalidToken = ', error="invalid_token"';

  test('the OpenAPI document states the required scope of each operation', async () => {
    const { body } = await service.ask('GET', '/v1/openapi.json');
    const described = Object.entries<Record<string, { operationId: string; security: unknown }>>(body.paths).flatMap(
      ([path, methods]) =>
        Object.entries(methods).map(([method, { operationId, security }]) => ({ operationId, method, path, security })),
    );
    const expected = expectedOperations.map(({ operationId, method, path, need }) => ({
      operationId,
      method: method.toLowerCase(),
      path,
      security: need === 'anyone' ? [] : [{ token: need === 'any-token' ? [] : [need] }],
    }));
    expect(new Set(described)).toEqual(new Set(expected));
  });

  describe.each(guarded)('access to $operationId, which requires $need', (operation) => {
    const { need, letIn } = operation;

    test.each(scopes)('is granted to a token with only the scope %s if that is sufficient', async (scope) => {
      const { secret } = await service.token({ scopes: [scope] });
      const response = await ask(operation, secret);
      if (need === 'anyone' || need === 'any-token' || sufficientFor[need].includes(scope)) {
        expect([response.status, response.headers.get('www-authenticate')]).toEqual([letIn, null]);
        return;
      }
      expect(expectProblem(response, 'insufficient-scope').detail).toContain(need);
      expect(response.headers.get('www-authenticate')).toBe(
        `Bearer realm="workspace-service", error="insufficient_scope", scope="${need}"`,
      );
    });

    test('is granted with all scopes, and with none only if no scope is required', async () => {
      const none = await service.token({ scopes: [] });
      expect((await ask(operation, service.secret)).status).toBe(letIn);
      expect((await ask(operation, none.secret)).status).toBe(need === 'any-token' ? letIn : 403);
    });

    test('is refused without a token, or with another kind of credential', async () => {
      expectChallenge(await ask(operation));
      for (const authorization of ['Basic dXNlcjpwYXNzd29yZA==', 'Digest a="b"', service.secret, 'Bearerx']) {
        expectChallenge(await askWith(operation, authorization));
      }
    });

    test('is refused with an invalid token', async () => {
      const { secret } = service;
      const tokens = [newTokenSecret(), secret.slice(0, -1), `${secret}a`, `${secret} ${secret}`, `${secret},`];
      tokens.push(`"${secret}"`, secret.toUpperCase(), '', 'null', '\u00ff', 'a'.repeat(8_000));
      for (const token of tokens) expectChallenge(await askWith(operation, `Bearer ${token}`.trimEnd()), invalidToken);
      expectChallenge(await askWith(operation, `Bearer ${secret}`, `Bearer ${secret}`), invalidToken);
    });

    test('is refused with a token that has expired, or was just revoked', async () => {
      const [expired, revoked] = [await service.token({ lifetime: { seconds: 3_600 } }), await service.token()];
      for (const { secret } of [expired, revoked]) expect((await ask(operation, secret)).status).toBe(letIn);
      await changeRows(service.storage, 'tokens', { expires_at: 1 }, { id: expired.id });
      await revoke(service.storage, revoked.id);
      for (const { secret } of [expired, revoked]) expectChallenge(await ask(operation, secret), invalidToken);
    });
  });

  test.each(open)('$operationId answers all requests, whatever their credentials', async (operation) => {
    for (const authorization of [[], ['Bearer wsa_unknown'], ['Basic x'], ['a', 'b']]) {
      expect((await askWith(operation, ...authorization)).status).toBe(operation.letIn);
    }
  });

  test('a token is read only from the Authorization header', async () => {
    const { secret } = service;
    const target = `/v1/workspaces?access_token=${secret}&token=${secret}`;
    const headers = [`Cookie: token=${secret}`, `X-Api-Key: ${secret}`, `Proxy-Authorization: Bearer ${secret}`];
    expectChallenge(await requestRaw(service.port, { target, headers }));
  });

  describe('a token limited to some workspaces', () => {
    test.each(inWorkspaces)('sees other workspaces like missing ones: $operationId', async (operation) => {
      const { secret: token } = await service.token({ workspaces: [service.home] });
      const { method, body: json } = operation;
      const askFor = async (id: string) => {
        const response = await service.ask(method, addressIn(operation, id), { token, json });
        expectProblem(response, 'not-found');
        const { request_id: _, ...rest } = response.body;
        return JSON.stringify(rest).replaceAll(id, 'ID');
      };
      expect(await askFor(await service.workspace())).toBe(await askFor('not-there'));
      expect((await ask(operation, token)).status).toBe(operation.letIn);
    });

    test('can read its own details, but not its secret', async () => {
      const given = { name: 'laptop', owner: 'ada', scopes: ['locks:write' as const], workspaces: [service.home] };
      const { id, secret } = await service.token(given);
      const { body, text } = await service.ask('GET', '/v1/token', { token: secret });
      expect(body).toEqual({ id, ...given });
      expect(text).not.toContain(secret);
    });

    test('can list only these workspaces', async () => {
      const other = await service.workspace();
      const ids = async (workspaces: readonly string[] | null) => {
        const { secret } = await service.token({ workspaces });
        const { body } = await service.ask('GET', '/v1/workspaces', { token: secret });
        return body.workspaces.map(({ id }: { id: string }) => id);
      };
      expect(await ids([other])).toEqual([other]);
      expect(await ids([])).toEqual([]);
      expect(await ids(null)).toEqual(expect.arrayContaining([service.home, other]));
    });
  });

  test('neither responses nor logs contain a token', async () => {
    const { secret } = await service.token({ scopes: [] });
    const answers = await Promise.all(expectedOperations.map((operation) => ask(operation, secret)));
    for (const { text, headers } of answers) expect(text + JSON.stringify([...headers])).not.toContain(secret);
    expect(service.log()).not.toMatch(/wsa_/);
  });
});
