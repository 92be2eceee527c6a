import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { readAudit } from '../../../src/service/audit/audit.ts';
import { newTokenId } from '../../../src/service/tokens/secret.ts';
import { revokeToken } from '../../../src/service/tokens/tokens.ts';
import { databaseKinds } from '../../support/databases.ts';
import { operator } from '../../support/operator.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { changeRows } from '../../support/stored-rows.ts';
import { signedIn, type Visitor, visit } from './browser-like.ts';
import { expectHarmless } from './hostile.ts';
import { takeLock } from './locked-service.ts';

const service = serviceOfTests();
const listed = (page: string) => [...page.matchAll(/<a href="\/tokens\/(tok_[^"]+)"><bdi>/g)].map(([, id = '']) => id);
const rowOf = (page: string, id: string) => page.split('<tr').find((row) => row.includes(`/tokens/${id}`)) ?? '';

test('the list of tokens shows the owner, scopes and last use of each token, active tokens first', async () => {
  const visitor = await signedIn(service, { name: 'root', scopes: ['admin'] });
  const own = visitor.id;
  const show = async (query: string) => (await visitor.get(`/tokens${query}`)).text;
  const token = async (name: string) => (await service.token({ name, scopes: ['sync'], workspaces: ['game'] })).id;
  const [active, expired, revoked] = [await token('active'), await token('old'), await token('lost')];
  await changeRows(service.storage, 'tokens', { expires_at: 1 }, { id: expired });
  await changeRows(service.storage, 'tokens', { last_used_at: sql.ref('created_at') }, { id: active });
  await service.storage.commit('global', (db) => revokeToken(db, service.storage.now, operator, revoked));

  const page = await show('');
  expect(listed(page)).toEqual([active, own, expired, revoked]);
  expect(rowOf(page, active)).toMatch(/sync.*game.*never.*<time /s);
  expect(rowOf(page, expired)).toContain('not yet');
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

  test('warns about one’s own session and the last token of an administrator, and ends the session', async () => {
    const visitor = await administrator();
    const page = await asked(visitor, visitor.id);
    expect(page).toContain('Revoking it ends your session');
    expect(page).toContain('This is the last active token with the scope <code>admin</code>');
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
    for (const wrong of ['<b>', 'ends your session', 'the last active token', 'role="alert"'])
      expect(page).not.toContain(wrong);
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

test('a token is replaced by one with the same rights, which has its locks', async () => {
  const visitor = await signedIn(service, { name: 'root', scopes: ['admin'] });
  const game = await service.workspace();
  const old = await service.token({ name: 'laptop', owner: 'ada', scopes: ['locks:write'], workspaces: [game] });
  await takeLock(service, game, old.secret, 'a');
  const page = (await visitor.get(`/tokens/${old.id}`)).text;
  const [, link = ''] = /href="([^"]+)">New token like this/.exec(page) ?? [];
  const form = (await visitor.get(link)).text;
  for (const entered of ['value="laptop"', 'value="ada"', `value="${game}"`, 'value="locks:write" checked'])
    expect(form).toContain(entered);
  expect(form.match(/ checked/g)).toHaveLength(1);
  const fields = { name: 'laptop', owner: 'ada', scope: 'locks:write', workspaces: game, expires: '' };
  const [secret = ''] = /wsa_[A-Za-z0-9_-]{43}/.exec((await visitor.post('/tokens', fields)).text) ?? [];
  await visitor.post(`/tokens/${old.id}/revoke`);
  const address = `/v1/workspaces/${game}/locks/a`;
  expect((await service.ask('DELETE', address, { token: old.secret })).status).toBe(401);
  expect((await service.ask('DELETE', address, { token: secret })).status).toBe(204);
  for (const unknown of [newTokenId(), '%00']) {
    const { status, text } = await visitor.get(`/tokens/new?like=${unknown}`);
    expect([status, text.includes(' checked')]).toEqual([200, false]);
  }
});
