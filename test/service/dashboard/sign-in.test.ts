import { sql } from 'kysely';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { makeSignInLink, useSignInLink } from '../../../src/service/sessions/sessions.ts';
import { newTokenSecret } from '../../../src/service/tokens/secret.ts';
import { databaseKinds } from '../../support/databases.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { changeRows, findRows, removeOldRows, revoke } from '../../support/stored-rows.ts';
import { sendHeadAlone, signedIn, visit } from './browser-like.ts';

describe.each(databaseKinds)('signing in on $name', (kind) => {
  const service = serviceOfTests({}, kind);
  const here = () => signedIn(service);
  const auditOf = async (tokenId: string) =>
    (await findRows(service.storage, 'audit', { token_id: tokenId })).map(({ action, address }) => [action, address]);

  test('opens the pages with a token, and signing out closes them', async () => {
    const visitor = await here();
    const page = await visitor.get('/');
    expect(page.status).toBe(200);
    expect(page.text).toContain('Signed in as <bdi>ada</bdi>');
    const cookie = visitor.cookie();
    const out = await visitor.post('/sign-out');
    expect(out.headers.get('location')).toBe('/sign-in?notice=signed-out');
    expect(visitor.cookie()).toBe('');
    expect((await visitor.get('/', { cookie })).headers.get('location')).toBe('/sign-in');
    expect(await auditOf(visitor.id)).toEqual([
      ['session.signed-in', '127.0.0.1'],
      ['session.signed-out', '127.0.0.1'],
    ]);
  });

  test('leads back to the requested page, and never to another site', async () => {
    const { secret } = await service.token();
    const asked = await visit(service).get('/?search=hero');
    expect(asked.headers.get('location')).toBe('/sign-in?to=%2F%3Fsearch%3Dhero');
    const goesTo = async (to: string) =>
      (await visit(service).post('/sign-in', { token: secret, to })).headers.get('location');
    expect(await goesTo('/workspaces/game/locks?search=hero')).toBe('/workspaces/game/locks?search=hero');
    const elsewhere = ['https://evil.example', '//evil.example/page', '/\\evil.example', '/.//evil.example', '', 'x'];
    for (const to of [...elsewhere, '/\t/evil.example']) expect(await goesTo(to)).toBe('/');
  });

  test('sets a cookie that scripts, other sites and, behind https, plain connections do not get', async () => {
    const { secret } = await service.token();
    const plain = await visit(service).signIn(secret);
    expect(plain.headers.get('set-cookie')).toMatch(
      /^workspace-session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const behindProxy = { origin: 'https://workspaces.example.com', 'sec-fetch-site': 'same-origin' };
    const secure = await visit(service).post('/sign-in', { token: secret, to: '/' }, behindProxy);
    expect(secure.headers.get('set-cookie')).toMatch(/^__Host-workspace-session=[\w-]{43};.* Secure; SameSite=Lax$/);
  });

  test('accepts only the cookie that https can set, except on loopback, which does not use https', async () => {
    const visitor = await here();
    const [, secret = ''] = visitor.cookie().split('=');
    const open = async (cookie: string, host: string) =>
      (await visit(service).get('/', { cookie, host, 'sec-fetch-site': 'same-origin' })).status;
    const [plain, secure] = [`workspace-session=${secret}`, `__Host-workspace-session=${secret}`];
    expect(await open(plain, 'workspaces.example.com')).toBe(303);
    expect(await open(`${plain}; __Host-workspace-session=x`, 'workspaces.example.com')).toBe(303);
    expect(await open(secure, 'workspaces.example.com')).toBe(200);
    for (const host of ['localhost:8080', '127.0.0.1', '[::1]:8080']) expect(await open(plain, host)).toBe(200);
  });

  test.each([
    ['unknown', newTokenSecret(), 'Unknown API token'],
    ['malformed', 'wsa_short', 'This is not a token'],
  ])('is refused with the reason if the token is %s', async (_name, secret, reason) => {
    const visitor = visit(service);
    const response = await visitor.signIn(secret);
    expect(response.status).toBe(403);
    expect(response.text).toContain(reason);
    expect(visitor.cookie()).toBe('');
    expect(response.text + service.log()).not.toContain(secret);
  });

  test.each([
    ['the token is revoked', (id: string) => revoke(service.storage, id)],
    ['the token expires', (id: string) => changeRows(service.storage, 'tokens', { expires_at: 1 }, { id })],
    [
      'its own time has passed',
      (id: string) => changeRows(service.storage, 'sessions', { expires_at: 1 }, { token_id: id }),
    ],
  ])('starts a session that ends immediately when %s', async (_name, happens) => {
    const visitor = await here();
    await happens(visitor.id);
    expect((await visitor.get('/')).headers.get('location')).toBe('/sign-in');
  });

  test('delays changes of no workspace, and a wrong link no change at all', async () => {
    const { storage } = service;
    const [link, { secret }] = [await makeSignInLink(storage), await service.token()];
    await removeOldRows(storage);
    const commit = vi.spyOn(storage, 'commit');
    onTestFinished(() => commit.mockRestore());
    const scopes = () => new Set(commit.mock.calls.map(([scope]) => scope));
    for (const wrong of ['', 'wsl_short', `wsl_${'a'.repeat(43)}`])
      expect(await useSignInLink(storage, wrong, null)).toBeUndefined();
    await removeOldRows(storage);
    expect(scopes()).toEqual(new Set());
    await visit(service).post('/sign-in/link', { link });
    const visitor = visit(service);
    await visitor.signIn(secret);
    await visitor.post('/sign-out');
    expect(scopes()).toEqual(new Set(['tokens']));
  });

  test('does not store the secrets of sessions and links', async () => {
    const [, secret = ''] = (await here()).cookie().split('=');
    const { rows } = await sql`select hash from sessions union all select hash from sign_in_links`.execute(
      service.storage.read,
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows) + service.log()).not.toContain(secret);
  });
});

describe('a page', () => {
  const service = serviceOfTests();

  test('has headers that block all other content', async () => {
    const { headers } = await visit(service).get('/sign-in');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toContain('unsafe');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('shows an error to a browser, while a program gets a problem', async () => {
    const page = await visit(service).get('/nothing');
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(page.text).toContain('Not found');
    for (const [path, headers] of [['/nothing'], ['/v1/nothing', { accept: 'text/html' }]] as const) {
      const { headers: answered } = await service.ask('GET', path, { ...(headers && { headers }) });
      expect(answered.get('content-type')).toBe('application/problem+json');
    }
  });
});

describe('a sign-in link', () => {
  const service = serviceOfTests();

  test('signs in an administrator once, and is not used up by opening it', async () => {
    const { storage } = service;
    const link = await makeSignInLink(storage);
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
    expect(await findRows(storage, 'tokens')).toMatchObject([
      { name: 'administrator', scopes: '["admin"]', expires_at: expect.any(Number) },
    ]);
    expect(service.log()).not.toContain(link);
  });

  test('does not work once its hour has passed, and is then removed', async () => {
    const { storage } = service;
    const link = await makeSignInLink(storage);
    const ends = async () => (await findRows(storage, 'sign_in_links')).map(({ expires_at }) => expires_at);
    const [end = 0, ...others] = await ends();
    expect(others).toEqual([]);
    expect(Math.abs(end - Date.now() - 3_600_000)).toBeLessThan(60_000);
    await changeRows(storage, 'sign_in_links', { expires_at: 1 });
    expect((await visit(service).post('/sign-in/link', { link })).status).toBe(403);
    await makeSignInLink(storage);
    expect(await ends()).toHaveLength(1);
  });
});

const service = serviceOfTests();
const origin = 'Origin: http://localhost';

test('sign-in attempts are counted before they are checked, and beyond the limit are refused before the form is read', async () => {
  const { id, secret } = await service.token();
  const signIns = Array.from({ length: 120 }, async () => (await visit(service).signIn(secret)).status);
  const statuses = Map.groupBy(await Promise.all(signIns), (status) => status);
  expect(new Set(statuses.keys())).toEqual(new Set([303, 429]));
  const accepted = statuses.get(303)?.length ?? 0;
  expect(accepted).toBeGreaterThanOrEqual(60);
  expect(await findRows(service.storage, 'audit', { token_id: id })).toHaveLength(accepted);
  let late = await visit(service).signIn(newTokenSecret());
  while (late.status === 403) late = await visit(service).signIn(newTokenSecret());
  expect(late.status).toBe(429);
  expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(late.text).toContain('Too many sign-in attempts');
  expect(late.text).toContain('<a href="/">Sign in</a>');
  // One that is admitted waits for its form, and then gets 408.
  let headAlone = 0;
  while (headAlone !== 429) ({ status: headAlone } = await sendHeadAlone(service, '/sign-in', [origin]));
});
