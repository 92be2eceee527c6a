import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { offerSignInLink } from '../../../src/service/sessions/sign-in-link.ts';
import { newTokenSecret } from '../../../src/service/tokens/secret.ts';
import { revokeToken } from '../../../src/service/tokens/tokens.ts';
import { realDatabaseKinds } from '../../support/databases.ts';
import { type RunningService, startTestService } from '../../support/running-service.ts';
import { formTokenIn, visit } from './browser-like.ts';

describe.each(realDatabaseKinds)('signing in on $name', (kind) => {
  let service: RunningService;
  beforeAll(async () => {
    service = await startTestService(kind);
  });
  afterAll(() => service.stop());

  const auditOf = async (tokenId: string) =>
    (await service.storage.read.selectFrom('audit').selectAll().where('token_id', '=', tokenId).execute()).map(
      ({ action, address }) => ({ action, address }),
    );
  async function signedIn() {
    const token = await service.token();
    const visitor = visit(service);
    expect((await visitor.signIn(token.secret)).status).toBe(303);
    return { token, visitor };
  }

  test('with a token opens the pages, and signing out closes them', async () => {
    const { token, visitor } = await signedIn();
    const page = await visitor.get('/');
    expect(page.status).toBe(200);
    expect(page.text).toContain('Signed in as <bdi>ada</bdi>');
    const cookie = visitor.cookie();
    const out = await visitor.submit('/', '/sign-out');
    expect(out.headers.get('location')).toBe('/sign-in?out=true');
    expect(visitor.cookie()).toBe('');
    expect((await visitor.get('/', { cookie })).headers.get('location')).toBe('/sign-in');
    expect(await auditOf(token.id)).toEqual([
      { action: 'session.signed-in', address: '127.0.0.1' },
      { action: 'session.signed-out', address: '127.0.0.1' },
    ]);
  });

  test('leads back to the page that was asked for, and to no other site', async () => {
    const { secret } = await service.token();
    const asked = await visit(service).get('/?search=hero');
    expect(asked.headers.get('location')).toBe('/sign-in?to=%2F%3Fsearch%3Dhero');
    const goesTo = async (to: string) =>
      (await visit(service).post('/sign-in', { token: secret, to })).headers.get('location');
    expect(await goesTo('/workspaces/game/locks?search=hero')).toBe('/workspaces/game/locks?search=hero');
    for (const elsewhere of [
      'https://evil.example',
      '//evil.example',
      '//evil.example/page',
      '/\\evil.example',
      '/.//evil.example',
      '/\t/evil.example',
      '',
      'x',
    ]) {
      expect(await goesTo(elsewhere)).toBe('/');
    }
  });

  test('sets a cookie that no script, no other site and, behind https, no plain connection gets', async () => {
    const { secret } = await service.token();
    const plain = await visit(service).signIn(secret);
    expect(plain.headers.get('set-cookie')).toMatch(
      /^workspace-session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    const behindProxy = { origin: 'https://workspaces.example.com', 'sec-fetch-site': 'same-origin' };
    const secure = await visit(service).post('/sign-in', { token: secret, to: '/' }, behindProxy);
    expect(secure.headers.get('set-cookie')).toMatch(/^__Host-workspace-session=[\w-]{43};.* Secure; SameSite=Strict$/);
  });

  describe('over https', () => {
    const secure = { host: 'workspaces.example.com', 'sec-fetch-site': 'same-origin' };
    const open = async (cookie: string, headers: Readonly<Record<string, string>>) =>
      (await visit(service).get('/', { cookie, ...headers })).status;

    test('only the cookie counts that https alone can have set', async () => {
      const { visitor } = await signedIn();
      const [, secret = ''] = visitor.cookie().split('=');
      const [plain, host] = [`workspace-session=${secret}`, `__Host-workspace-session=${secret}`];
      expect(await open(plain, secure)).toBe(303);
      expect(await open(`${plain}; __Host-workspace-session=x`, secure)).toBe(303);
      expect(await open(host, secure)).toBe(200);
    });

    test.each(['localhost:8080', '127.0.0.1', '[::1]:8080'])(
      'is not what a browser speaks that says where a request to %s comes from',
      async (hostname) => {
        const { visitor } = await signedIn();
        expect(await open(visitor.cookie(), { ...secure, host: hostname })).toBe(200);
      },
    );
  });

  test('for the eleventh time with a token ends the oldest of its sessions, and no other', async () => {
    const token = await service.token();
    const other = await signedIn();
    const visitors = Array.from({ length: 11 }, () => visit(service));
    for (const visitor of visitors) expect((await visitor.signIn(token.secret)).status).toBe(303);
    const statuses = await Promise.all(visitors.map(async (visitor) => (await visitor.get('/')).status));
    expect(statuses).toEqual([303, ...Array.from({ length: 10 }, () => 200)]);
    expect((await other.visitor.get('/')).status).toBe(200);
  });

  test('with the right token too often within a minute is refused, and leaves neither sessions nor audit', async () => {
    const { id, secret } = await service.token();
    const statuses: number[] = [];
    for (let time = 0; time < 40; time += 1) statuses.push((await visit(service).signIn(secret)).status);
    expect(statuses).toEqual([...Array.from({ length: 30 }, () => 303), ...Array.from({ length: 10 }, () => 429)]);
    expect(await auditOf(id)).toHaveLength(30);
    expect((await signedIn()).visitor.cookie()).not.toBe('');
  });

  test.each([
    ['unknown', newTokenSecret(), 'is not known here'],
    ['malformed', 'wsa_short', 'This is not a token'],
    ['missing', '', 'This is not a token'],
  ])('with a token that is %s is refused, and says why', async (_name, secret, why) => {
    const visitor = visit(service);
    const answer = await visitor.signIn(secret);
    expect(answer.status).toBe(403);
    expect(answer.text).toContain(why);
    expect(visitor.cookie()).toBe('');
    if (secret !== '') expect(answer.text + service.log()).not.toContain(secret);
  });

  test('ends at once when the token is revoked', async () => {
    const { token, visitor } = await signedIn();
    await service.storage.commit('global', (db) => revokeToken(db, service.storage.now, token.id));
    expect((await visitor.get('/')).headers.get('location')).toBe('/sign-in');
  });

  test('ends when the token expires, and when its own time is over', async () => {
    const end = (table: 'tokens' | 'sessions', column: 'id' | 'token_id', id: string) =>
      service.storage.commit('global', (db) =>
        sql`update ${sql.table(table)} set expires_at = 1 where ${sql.ref(column)} = ${id}`.execute(db),
      );
    const first = await signedIn();
    await end('tokens', 'id', first.token.id);
    expect((await first.visitor.get('/')).status).toBe(303);
    const second = await signedIn();
    await end('sessions', 'token_id', second.token.id);
    expect((await second.visitor.get('/')).status).toBe(303);
  });

  test('keeps neither the secret of a session nor that of a link', async () => {
    const { visitor } = await signedIn();
    const [, secret = ''] = visitor.cookie().split('=');
    const { rows } = await sql<{
      hash: string;
    }>`select hash from sessions union all select hash from sign_in_links`.execute(service.storage.read);
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(secret);
    expect(service.log()).not.toContain(secret);
  });

  describe('a form', () => {
    const refusedSites = [
      ['without a word where it comes from', { origin: undefined }],
      ['that says nothing where it comes from', { origin: '' }],
      ['of another site', { origin: 'https://evil.example' }],
      ['of a page that hides where it comes from', { origin: 'null' }],
      ['of another site, by the browser itself', { 'sec-fetch-site': 'cross-site' }],
      ['of another host of the same site', { 'sec-fetch-site': 'same-site' }],
    ] as const;

    test.each(refusedSites)('%s does nothing', async (_name, headers) => {
      const { visitor } = await signedIn();
      const form_token = formTokenIn((await visitor.get('/')).text);
      const answer = await visitor.post('/sign-out', { form_token }, headers);
      expect(answer.status).toBe(403);
      expect(answer.text).toContain('nothing was done');
      expect((await visitor.get('/')).status).toBe(200);
    });

    test.each(refusedSites)('%s does not sign in', async (_name, headers) => {
      const { secret } = await service.token();
      const visitor = visit(service);
      expect((await visitor.post('/sign-in', { token: secret, to: '/' }, headers)).status).toBe(403);
      expect(visitor.cookie()).toBe('');
    });

    test('without the token of its session, or with that of another, does nothing', async () => {
      const { visitor } = await signedIn();
      const other = formTokenIn((await (await signedIn()).visitor.get('/')).text);
      for (const form_token of ['', 'x', other]) {
        expect((await visitor.post('/sign-out', { form_token })).status).toBe(403);
      }
      expect((await visitor.get('/')).status).toBe(200);
    });

    test('sent when the session is over leads to signing in, and says that nothing was changed', async () => {
      const answer = await visit(service).post('/sign-out', { form_token: 'x' });
      expect(answer.headers.get('location')).toBe('/sign-in?ended=true');
      expect((await visit(service).get('/sign-in?ended=true')).text).toContain('nothing was changed');
    });
  });

  test('a link of another site asks for the page once more, and the cookie comes along', async () => {
    const { visitor } = await signedIn();
    const stranger = await visit(service).get('/', { 'sec-fetch-site': 'cross-site' });
    expect(stranger.text).toContain('<meta http-equiv="refresh" content="0">');
    expect((await visitor.get('/', { 'sec-fetch-site': 'same-origin' })).text).toContain('Signed in as');
  });

  test('a page is answered with headers that let nothing else in', async () => {
    const { headers } = await visit(service).get('/sign-in');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toContain('unsafe');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('what is wrong is a page to a browser, and a problem to a program', async () => {
    const page = await visit(service).get('/nothing');
    expect({ status: page.status, type: page.headers.get('content-type') }).toEqual({
      status: 404,
      type: 'text/html; charset=utf-8',
    });
    expect(page.text).toContain('Not found');
    expect((await service.ask('GET', '/nothing')).headers.get('content-type')).toBe('application/problem+json');
    const api = await service.ask('GET', '/v1/nothing', { headers: { accept: 'text/html' } });
    expect(api.headers.get('content-type')).toBe('application/problem+json');
  });
});

describe('the link of the first start', () => {
  let service: RunningService;
  beforeAll(async () => {
    service = await startTestService(realDatabaseKinds[0] ?? expect.fail('There is always SQLite.'));
  });
  afterAll(() => service.stop());

  test('is offered once, signs in an administrator once, and looking at it does not use it up', async () => {
    const link = (await offerSignInLink(service.storage)) ?? '';
    expect(await offerSignInLink(service.storage)).toBeUndefined();
    const visitor = visit(service);
    for (let look = 0; look < 2; look += 1) {
      expect((await visitor.get(`/sign-in?link=${link}`)).text).toContain('Sign in as administrator');
    }
    expect((await visitor.post('/sign-in/link', { link })).headers.get('location')).toBe('/');
    expect((await visitor.get('/')).text).toContain('Tokens');
    const again = visit(service);
    const refused = await again.post('/sign-in/link', { link });
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('The link was already used');
    expect(again.cookie()).toBe('');
    const tokens = await service.storage.read.selectFrom('tokens').selectAll().execute();
    expect(tokens).toMatchObject([{ name: 'administrator', scopes: '["admin"]', expires_at: expect.any(Number) }]);
    expect(service.log()).not.toContain(link);
  });

  test('is not offered where there is an administrator', async () => {
    await service.storage.commit('global', (db) => db.deleteFrom('sign_in_links').execute());
    expect(await offerSignInLink(service.storage)).toBeUndefined();
  });

  test('lets in for an hour', async () => {
    await service.storage.commit('global', (db) => db.deleteFrom('tokens').execute());
    const link = (await offerSignInLink(service.storage)) ?? '';
    await service.storage.commit('global', (db) => db.updateTable('sign_in_links').set({ expires_at: 1 }).execute());
    expect((await visit(service).post('/sign-in/link', { link })).status).toBe(403);
  });
});

test('attempts to sign in are limited, whatever they try', async () => {
  const service = await startTestService(realDatabaseKinds[0] ?? expect.fail('There is always SQLite.'));
  try {
    const { secret } = await service.token();
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 10; attempt += 1) {
      statuses.push((await visit(service).signIn(newTokenSecret())).status);
    }
    expect(new Set(statuses)).toEqual(new Set([403]));
    const late = await visit(service).signIn(secret);
    expect(late.status).toBe(429);
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(late.text).toContain('Too many sign-in attempts');
  } finally {
    await service.stop();
  }
});
