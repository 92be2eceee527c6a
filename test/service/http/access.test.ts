import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scopes } from '../../../src/interface/scopes.ts';
import { newTokenSecret } from '../../../src/service/tokens/secret.ts';
import { revokeToken } from '../../../src/service/tokens/tokens.ts';
import { realDatabaseKinds } from '../../support/databases.ts';
import { requestRaw } from '../../support/raw-http.ts';
import { type Reply, type RunningService, startTestService } from '../../support/running-service.ts';
import { expectedPages } from '../dashboard/expected-pages.ts';
import { describedApp } from './described-app.ts';
import { expectProblem } from './expect-problem.ts';
import { addressIn, type ExpectedOperation, expectedOperations, sufficientFor } from './operations.ts';

const guarded = expectedOperations.filter(({ need }) => need !== 'anyone');
const open = expectedOperations.filter(({ need }) => need === 'anyone');
const inWorkspaces = expectedOperations.filter(({ path }) => path.includes('{id}'));

describe('the tables of what each operation and each page needs', () => {
  test('have every route of the app, and no other', () => {
    const routes = describedApp().routes.filter(({ method }) => method !== 'ALL');
    const found = new Set(routes.map(({ method, path }) => `${method} ${path}`));
    const operations = expectedOperations.map(({ method, path }) => `${method} ${path.replaceAll(/{(\w+)}/g, ':$1')}`);
    const pages = expectedPages.map(({ method, path }) => `${method} ${path}`);
    expect([...found].sort()).toEqual([...operations, ...pages].sort());
  });
});

describe.each(realDatabaseKinds)('access on $name', (kind) => {
  let service: RunningService;
  let workspace: string;

  beforeAll(async () => {
    service = await startTestService(kind);
    // No git process is started for a remote that is none.
    workspace = await service.workspace('not a remote');
  });
  afterAll(() => service.stop());

  const ask = (operation: ExpectedOperation, token?: string, id = workspace): Promise<Reply> =>
    service.ask(operation.method, addressIn(operation, id), { token });
  const askWith = (operation: ExpectedOperation, ...authorization: readonly string[]) =>
    requestRaw(service.port, {
      method: operation.method,
      target: addressIn(operation, workspace),
      headers: authorization.map((value) => `Authorization: ${value}`),
    });

  function expectChallenge(answer: Parameters<typeof expectProblem>[0], challenge: string): void {
    expectProblem(answer, 'unauthorized');
    expect(answer.headers.get('www-authenticate')).toBe(challenge);
  }
  const noError = 'Bearer realm="workspace-service"';
  const invalidToken = 'Bearer realm="workspace-service", error="invalid_token"';

  test('the document says of every operation what it needs', async () => {
    const { body } = await service.ask('GET', '/v1/openapi.json');
    const described = Object.entries<Record<string, { operationId: string; security: unknown }>>(body.paths).flatMap(
      ([path, methods]) =>
        Object.entries(methods).map(([method, { operationId, security }]) => ({
          operationId,
          method: method.toUpperCase(),
          path,
          security,
        })),
    );
    const expected = expectedOperations.map(({ operationId, method, path, need }) => ({
      operationId,
      method,
      path,
      security: need === 'anyone' ? [] : [{ token: need === 'any-token' ? [] : [need] }],
    }));
    const byName = (a: { operationId: string }, b: { operationId: string }) =>
      a.operationId.localeCompare(b.operationId);
    expect(described.sort(byName)).toEqual(expected.sort(byName));
  });

  describe.each(guarded)('$operationId, which needs $need', (operation) => {
    const { need, letIn } = operation;

    test.each(scopes)('with the scope %s alone', async (scope) => {
      const { secret } = await service.token({ scopes: [scope] });
      const answer = await ask(operation, secret);
      if (need === 'anyone' || need === 'any-token' || sufficientFor[need].includes(scope)) {
        expect(answer.status).toBe(letIn);
        expect(answer.headers.get('www-authenticate')).toBeNull();
        return;
      }
      const { detail } = expectProblem(answer, 'insufficient-scope');
      expect(detail).toContain(need);
      expect(answer.headers.get('www-authenticate')).toBe(
        `Bearer realm="workspace-service", error="insufficient_scope", scope="${need}"`,
      );
    });

    test('with all scopes, and with none', async () => {
      const [all, none] = [await service.token(), await service.token({ scopes: [] })];
      expect((await ask(operation, all.secret)).status).toBe(letIn);
      expect((await ask(operation, none.secret)).status).toBe(need === 'any-token' ? letIn : 403);
    });

    test('without a token, or with a credential of another kind', async () => {
      expectChallenge(await ask(operation), noError);
      const { secret } = await service.token();
      for (const authorization of ['Basic dXNlcjpwYXNzd29yZA==', 'Digest a="b"', secret, 'Bearerx']) {
        expectChallenge(await askWith(operation, authorization), noError);
      }
    });

    test('with a token that is none', async () => {
      const { secret } = await service.token();
      for (const authorization of [
        `Bearer ${newTokenSecret()}`,
        `Bearer ${secret.slice(0, -1)}`,
        `Bearer ${secret}a`,
        `Bearer ${secret} ${secret}`,
        `Bearer ${secret},`,
        `Bearer "${secret}"`,
        `Bearer ${secret.toUpperCase()}`,
        'Bearer',
        'Bearer null',
        'Bearer \u00ff',
        `Bearer ${'a'.repeat(8_000)}`,
      ]) {
        expectChallenge(await askWith(operation, authorization), invalidToken);
      }
      expectChallenge(await askWith(operation, `Bearer ${secret}`, `Bearer ${secret}`), invalidToken);
    });

    test('with a token that has expired', async () => {
      const { id, secret } = await service.token({ lifetime: { seconds: 3_600 } });
      expect((await ask(operation, secret)).status).toBe(letIn);
      await service.storage.commit('global', (db) =>
        db.updateTable('tokens').set({ expires_at: 1 }).where('id', '=', id).execute(),
      );
      expectChallenge(await ask(operation, secret), invalidToken);
    });

    test('with a token that was revoked a moment ago', async () => {
      const { id, secret } = await service.token();
      expect((await ask(operation, secret)).status).toBe(letIn);
      await service.storage.commit('global', (db) => revokeToken(db, service.storage.now, id));
      expectChallenge(await ask(operation, secret), invalidToken);
    });
  });

  test.each(open)('$operationId answers anyone, whatever credentials come with it', async (operation) => {
    for (const authorization of [[], ['Bearer wsa_unknown'], ['Basic x'], ['a', 'b']]) {
      expect((await askWith(operation, ...authorization)).status).toBe(operation.letIn);
    }
  });

  test('the name of the scheme may be written in any case', async () => {
    const { secret } = await service.token();
    for (const authorization of [`bearer ${secret}`, `BEARER   ${secret}`]) {
      const answer = await requestRaw(service.port, {
        target: '/v1/workspaces',
        headers: [`Authorization: ${authorization}`],
      });
      expect(answer.status).toBe(200);
    }
  });

  test('a token is taken from nowhere but the Authorization header', async () => {
    const { secret } = await service.token();
    const answer = await requestRaw(service.port, {
      target: `/v1/workspaces?access_token=${secret}&token=${secret}`,
      headers: [`Cookie: token=${secret}`, `X-Api-Key: ${secret}`, `Proxy-Authorization: Bearer ${secret}`],
    });
    expectChallenge(answer, noError);
  });

  describe('a token that is limited to some workspaces', () => {
    test.each(inWorkspaces)('$operationId: any other workspace is like one that is not there', async (operation) => {
      const { secret } = await service.token({ workspaces: [workspace] });
      const hidden = await service.workspace();
      const askFor = async (id: string) => {
        const { method, body } = operation;
        const answer = await service.ask(method, addressIn(operation, id), {
          token: secret,
          ...(body !== undefined && { json: body }),
        });
        expectProblem(answer, 'not-found');
        const { request_id: _, ...rest } = answer.body;
        return JSON.stringify(rest).replaceAll(id, 'ID');
      };
      expect(await askFor(hidden)).toBe(await askFor('not-there'));
      expect((await ask(operation, secret)).status).toBe(operation.letIn);
    });

    test('the list has only those', async () => {
      const other = await service.workspace();
      const ids = async (workspaces: readonly string[] | null) => {
        const { secret } = await service.token({ workspaces });
        const { body } = await service.ask('GET', '/v1/workspaces', { token: secret });
        return body.workspaces.map(({ id }: { id: string }) => id);
      };
      expect(await ids([other])).toEqual([other]);
      expect(await ids([])).toEqual([]);
      expect(await ids(null)).toEqual(expect.arrayContaining([workspace, other]));
    });

    test('even an administrator of locks releases none elsewhere', async () => {
      const { secret } = await service.token();
      const limited = await service.token({ scopes: ['locks:admin'], workspaces: ['elsewhere'] });
      const json = { path: 'kept', type: 'exclusive', ttl: '1h' };
      await service.ask('POST', `/v1/workspaces/${workspace}/locks`, { token: secret, json });
      const target = `/v1/workspaces/${workspace}/locks/kept?force=true`;
      expectProblem(await service.ask('DELETE', target, { token: limited.secret }), 'not-found');
      expect((await service.ask('DELETE', target, { token: secret })).status).toBe(204);
    });
  });

  test('no answer and no log has a token in it', async () => {
    const { secret } = await service.token({ scopes: [] });
    const answers = await Promise.all(expectedOperations.map((operation) => ask(operation, secret)));
    for (const { text, headers } of answers) expect(text + JSON.stringify([...headers])).not.toContain(secret);
    expect(service.log()).not.toMatch(/wsa_/);
  });
});
