import { beforeAll, expect, test } from 'vitest';
import { scopes } from '../../../src/service/contract/scopes.ts';
import type { Reply } from '../../support/running-service.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { sufficientFor } from '../http/operations.ts';
import { signedIn, type Visitor, visit } from './browser-like.ts';
import { type ExpectedPage, expectedPages } from './expected-pages.ts';

const guarded = expectedPages.filter(({ need }) => need !== 'anyone');
const inWorkspaces = guarded.filter(({ path }) => path.startsWith('/workspaces/:id'));

const service = serviceOfTests();
let workspace: string;
beforeAll(async () => {
  workspace = await service.workspace();
});

const urlOf = ({ path }: ExpectedPage): string => path.replace(':id', workspace).replaceAll(/:\w+/g, 'unknown');

function ask(visitor: Visitor, page: ExpectedPage): Promise<Reply> {
  const url = urlOf(page);
  return page.method === 'GET' ? visitor.get(url) : visitor.post(url);
}

test.each(guarded)('$method $path redirects to the sign-in page without a session', async (page) => {
  const { status, headers } = await ask(visit(service), page);
  expect([status, headers.get('location')]).toEqual([303, expect.stringMatching(/^\/sign-in/)]);
});

const forms = guarded.filter(({ method }) => method === 'POST');

test.each(forms)(
  '$method $path refuses a form of another site, also from a browser without Sec-Fetch-Site',
  async (page) => {
    const { post } = await signedIn(service);
    const url = urlOf(page);
    for (const headers of [
      { origin: undefined },
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'same-site' },
    ]) {
      const { status, text } = await post(url, {}, headers);
      expect([headers, status]).toEqual([headers, 403]);
      expect(text).toContain('nothing was done');
    }
  },
);

test.each(scopes)('the scope %s alone opens exactly the pages that need no other scope', async (scope) => {
  const visitor = await signedIn(service, { scopes: [scope] });
  // Signing out, which ends the session, comes last.
  for (const page of guarded.toReversed()) {
    const { need } = page;
    const enough = need === 'anyone' || need === 'any-token' || sufficientFor[need].includes(scope);
    const { status, text } = await ask(visitor, page);
    expect([page, status === 403]).toEqual([page, !enough]);
    if (!enough) expect(text).toContain(`This needs the scope ${need}`);
  }
});

test('the pages of a workspace are not found with a token that is limited to other workspaces', async () => {
  const limited = { scopes: ['admin'], workspaces: ['another'] } as const;
  const visitor = await signedIn(service, limited);
  for (const page of inWorkspaces) {
    const { status, text } = await ask(visitor, page);
    expect([page, status]).toEqual([page, 404]);
    expect(text).toContain('There is no workspace');
  }
});
