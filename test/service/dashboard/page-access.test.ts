import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scopes } from '../../../src/interface/scopes.ts';
import { realDatabaseKinds } from '../../support/databases.ts';
import { type Reply, type RunningService, startTestService } from '../../support/running-service.ts';
import { sufficientFor } from '../http/operations.ts';
import { formTokenIn, type Visitor, visit } from './browser-like.ts';
import { type ExpectedPage, expectedPages } from './expected-pages.ts';

const guarded = expectedPages.filter(({ need }) => need !== 'anyone');
const inWorkspaces = guarded.filter(({ path }) => path.startsWith('/workspaces/:id'));

let service: RunningService;
let workspace: string;
beforeAll(async () => {
  service = await startTestService(realDatabaseKinds[0] ?? expect.fail('There is always SQLite.'));
  workspace = await service.workspace();
});
afterAll(() => service.stop());

const addressIn = ({ path }: ExpectedPage, id = workspace): string =>
  path.replace(':id', id).replaceAll(/:\w+/g, 'unknown');

async function visitorWith(options: Parameters<RunningService['token']>[0]): Promise<Visitor> {
  const visitor = visit(service);
  expect((await visitor.signIn((await service.token(options)).secret)).status).toBe(303);
  return visitor;
}

const ask = async (visitor: Visitor, page: ExpectedPage, id?: string): Promise<Reply> => {
  if (page.method === 'GET') return visitor.look(addressIn(page, id));
  const form_token = formTokenIn((await visitor.get('/')).text);
  return visitor.post(addressIn(page, id), { form_token });
};

describe.each(guarded)('$method $path, which needs $need', (page) => {
  test('leads to signing in without a session', async () => {
    const answer =
      page.method === 'GET'
        ? await visit(service).look(addressIn(page))
        : await visit(service).post(addressIn(page), {});
    expect({ status: answer.status, to: answer.headers.get('location') }).toEqual({
      status: 303,
      to: expect.stringMatching(/^\/sign-in/),
    });
  });

  test.each(scopes)('with the scope %s alone', async (scope) => {
    const answer = await ask(await visitorWith({ scopes: [scope] }), page);
    const { need } = page;
    const enough = need === 'anyone' || need === 'any-token' || sufficientFor[need].includes(scope);
    expect(answer.status === 403).toBe(!enough);
    if (!enough) expect(answer.text).toContain(`This needs the scope ${need}`);
  });
});

describe.each(inWorkspaces)('$method $path', (page) => {
  test('is not there for a token that is limited to other workspaces', async () => {
    const visitor = await visitorWith({ scopes: ['sync', 'locks:admin', 'hooks:write'], workspaces: ['another'] });
    const answer = await ask(visitor, page);
    expect(answer.status).toBe(404);
    expect(answer.text).toContain('There is no workspace');
  });
});
