import { describe, expect, test } from 'vitest';
import { readAudit } from '../../../src/service/audit/audit.ts';
import { newTokenId } from '../../../src/service/tokens/secret.ts';
import { listTokens } from '../../../src/service/tokens/tokens.ts';
import { databaseKinds } from '../../support/databases.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { changeRows, revoke } from '../../support/stored-rows.ts';
import { signedIn, type Visitor, visit } from './browser-like.ts';
import { expectHarmless } from './hostile.ts';
import { takeLock } from './locked-service.ts';

const service = serviceOfTests();
const listed = (page: string) => [...page.matchAll(/<a href="\/tokens\/(tok_[^"]+)"><bdi>/g)].map(([, id = '']) => id);
const rowOf = (page: string, id: string) => page.split('<tr').find((row) => row.includes(`/tokens/${id}`)) ?? '';

test('the list of tokens shows the owner and scopes of each token, active tokens first', async () => {
  const visitor = await signedIn(service, { name: 'root', scopes: ['admin'] });
  const own = visitor.id;
  const show = async (query: string) => (await visitor.get(`/tokens${query}`)).text;
  const token = async (name: string) => (await service.token({ name, scopes: ['sync'], workspaces: ['game'] })).id;
  const [active, expired, revoked] = [await token('active'), await token('old'), await token('lost')];
  await changeRows(service.storage, 'tokens', { expires_at: 1 }, { id: expired });
  await revoke(service.storage, revoked);

  const page = await show('');
  expect(listed(page)).toEqual([active, own, expired, revoked]);
  expect(rowOf(page, active)).toMatch(/sync.*game.*never/s);
  expect(page.match(/signed in with it/g)).toHaveLength(1);
  expect(rowOf(page, own)).toContain('signed in with it');
  expect(rowOf(page, revoked)).toContain('data-label="Owner"><bdi>lost</bdi>');
  for (const notice of ['%3Cb%3Ex', 'constructor', '__proto__']) {
    expect(await show(`?notice=${notice}`)).not.toContain('class="notice"');
  }
});

describe.each(databaseKinds)('revoking a token on $name', (kind) => {
  const service = serviceOfTests({}, kind);
  const administrator = () => signedIn(service, { name: 'root', scopes: ['admin'] });
  const revoke = (visitor: Visitor, id: string) => visitor.post(`/tokens/${id}/revoke`);
  const asked = async (visitor: Visitor, id: string) => (await visitor.get(`/tokens/${id}`)).text;

  test('warns about one’s own session, and ends it', async () => {
    const visitor = await administrator();
    const page = await asked(visitor, visitor.id);
    expect(page).toContain('Revoking it ends your session');
    expect((await revoke(visitor, visitor.id)).headers.get('location')).toBe('/sign-in?notice=session-revoked');
    expect(visitor.cookie()).toBe('');
    expect((await visitor.get('/sign-in?notice=session-revoked')).text).toContain('your session has ended');
    expect((await visitor.get('/tokens')).status).toBe(303);
  });

  test('asks first, then revokes and audits it, ends its sessions, and keeps its locks', async () => {
    const visitor = await administrator();
    const game = await service.workspace();
    const { id, secret } = await service.token({ name: 'ci', scopes: ['locks:write'] });
    for (const index of '0123456') await takeLock(service, game, secret, `Content/<b>${index}</b>.uasset`);
    const guest = visit(service);
    await guest.signIn(secret);
    const page = await asked(visitor, id);
    for (const wrong of ['<b>', 'ends your session', 'role="alert"']) expect(page).not.toContain(wrong);
    expect((await revoke(visitor, id)).headers.get('location')).toBe(`/tokens/${id}`);
    const { entries } = await readAudit(service.storage, { limit: 1 });
    const locks = async (token: string) => service.ask('GET', `/v1/workspaces/${game}/locks`, { token });
    expect((await locks(secret)).status).toBe(401);
    expect((await guest.get('/')).headers.get('location')).toBe('/sign-in');
    expect((await locks((await service.token()).secret)).body.locks).toHaveLength(7);
    expect(entries).toMatchObject([{ actor: 'root', action: 'token.revoked', detail: { token: id, name: 'ci' } }]);
  });

  test('is refused for an unknown token', async () => {
    const visitor = await administrator();
    for (const id of [newTokenId(), 'tok_x', '%00', encodeURIComponent('<script>alert(1)</script>')]) {
      const page = await visitor.get(`/tokens/${id}`);
      expect([id, page.status]).toEqual([id, 404]);
      expectHarmless(page.text);
      expect((await revoke(visitor, id)).status).toBe(404);
    }
  });
});

const secretIn = (page: string): string => /wsa_[A-Za-z0-9_-]{43}/.exec(page)?.[0] ?? '';

describe.each(databaseKinds)('rotating a token in the dashboard, on $name', (kind) => {
  const service = serviceOfTests({}, kind);
  const administrator = () => signedIn(service, { name: 'root', scopes: ['admin'] });
  const statusWith = async (token: string) => (await service.ask('GET', '/v1/workspaces', { token })).status;
  const found = async (id: string) => (await listTokens(service.storage)).find((token) => token.id === id);

  const rotate = (visitor: Visitor, id: string) => visitor.post(`/tokens/${id}/rotate`);

  test('shows the new secret once, which has the locks of the old one immediately', async () => {
    const visitor = await administrator();
    const game = await service.workspace();
    const { id, secret } = await service.token({ name: 'laptop', owner: 'ada', scopes: ['locks:write'] });
    await takeLock(service, game, secret, 'a');
    const page = (await visitor.get(`/tokens/${id}`)).text;
    for (const said of ['<bdi>laptop</bdi>', '<bdi>ada</bdi>', 'valid for 7 days']) expect(page).toContain(said);
    const { status, text } = await rotate(visitor, id);
    expect(status).toBe(200);
    expect(text).toMatch(
      /The token <bdi>laptop<\/bdi> was rotated; the old secret is valid until <time [^>]*>\S+ \S+ UTC<\/time>\./,
    );
    const next = secretIn(text);
    expect([await statusWith(secret), await statusWith(next)]).toEqual([200, 200]);
    const address = `/v1/workspaces/${game}/locks/a`;
    expect((await service.ask('DELETE', address, { token: next })).status).toBe(204);
    const old = await found(id);
    const left = Date.parse(old?.expires_at ?? '') - Date.now();
    expect(Math.abs(left - 7 * 86_400_000)).toBeLessThan(120_000);
    const list = (await visitor.get('/tokens')).text;
    expect(list).not.toContain(next);
    expect(list).toContain(`<a href="/tokens/${old?.replaced_by}">rotated</a>`);
    expect((await visitor.get(`/tokens/${old?.replaced_by}`)).text).toContain('Rotate token');
    expect((await visitor.get(`/tokens/${id}`)).text).not.toContain('Rotate token');
  });

  test('ends one’s own session with the old secret, which can be revoked at once', async () => {
    const visitor = await administrator();
    const page = (await visitor.get(`/tokens/${visitor.id}`)).text;
    expect(page).toContain('Your session ends with the old secret.');
    const { text } = await rotate(visitor, visitor.id);
    expect(await statusWith(visitor.secret)).toBe(200);
    await visitor.post(`/tokens/${visitor.id}/revoke`);
    expect(await statusWith(visitor.secret)).toBe(401);
    expect((await visitor.get('/tokens')).status).toBe(303);
    expect((await visitor.signIn(secretIn(text))).status).toBe(303);
    expect((await visitor.get('/tokens')).status).toBe(200);
  });

  test('changes nothing for a revoked or unknown token', async () => {
    const visitor = await administrator();
    const { id } = await service.token({ name: 'ci', lifetime: { seconds: 3_600 } });
    await visitor.post(`/tokens/${id}/revoke`);
    expect((await visitor.get(`/tokens/${id}`)).text).not.toContain('Rotate token');
    const { headers } = await rotate(visitor, id);
    expect((await visitor.get(headers.get('location') ?? '')).text).toContain('Nothing was changed');
    for (const unknown of ['tok_00000000-0000-4000-8000-000000000000', '%00']) {
      expect((await rotate(visitor, unknown)).status).toBe(404);
    }
  });
});
