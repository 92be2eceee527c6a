import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readAudit } from '../../../../src/service/audit/read-audit.ts';
import { newTokenId } from '../../../../src/service/tokens/secret.ts';
import { realDatabaseKinds } from '../../../support/databases.ts';
import { type RunningService, startTestService } from '../../../support/running-service.ts';
import { type Visitor, visit } from '../browser-like.ts';
import { expectHarmless } from '../hostile.ts';

describe.each(realDatabaseKinds)('revoking a token on $name', (kind) => {
  let service: RunningService;
  beforeEach(async () => {
    service = await startTestService(kind);
  });
  afterEach(() => service.stop());

  async function administrator(): Promise<{ readonly visitor: Visitor; readonly id: string }> {
    const { id, secret } = await service.token({ name: 'root', scopes: ['admin'] });
    const visitor = visit(service);
    await visitor.signIn(secret);
    return { visitor, id };
  }

  const revoke = (visitor: Visitor, id: string) => visitor.submit(`/tokens/${id}/revoke`, `/tokens/${id}/revoke`);

  test('says first what depends on it, and then ends it: the audit tells of it, and its locks stay', async () => {
    const { visitor } = await administrator();
    const game = await service.workspace();
    const { id, secret } = await service.token({ name: 'ci', scopes: ['locks:write'] });
    const locks = `/v1/workspaces/${game}/locks`;
    for (let index = 0; index < 7; index += 1) {
      const path = `Content/<b>${index}</b>.uasset`;
      const reply = await service.ask('POST', locks, { token: secret, json: { path, type: 'exclusive', ttl: '1h' } });
      expect(reply.status).toBe(201);
    }
    const page = (await visitor.get(`/tokens/${id}/revoke`)).text;
    expect(page).toContain('7 locks. They stay until they are released or expire.');
    expect(page).toContain('and 2 others');
    expect(page).toContain(`<a href="/workspaces/${game}/locks">`);
    expect(page).not.toContain('<b>');
    expect(page).not.toContain('ends your session');
    expect((await revoke(visitor, id)).headers.get('location')).toBe('/tokens?notice=revoked');
    expect((await service.ask('GET', locks, { token: secret })).status).toBe(401);
    const { secret: other } = await service.token();
    expect((await service.ask('GET', locks, { token: other })).body.locks).toHaveLength(7);
    const { entries } = await readAudit(service.storage, { limit: 1 });
    expect(entries).toMatchObject([{ actor: 'root', action: 'token.revoked', detail: { token: id, name: 'ci' } }]);
  });

  test('of one’s own ends the session, which is said before', async () => {
    const { visitor, id } = await administrator();
    const page = (await visitor.get(`/tokens/${id}/revoke`)).text;
    expect(page).toContain('Revoking it ends your session');
    expect(page).toContain('This is the last active token with the scope <code>admin</code>');
    const answer = await revoke(visitor, id);
    expect(answer.headers.get('location')).toBe('/sign-in?revoked=true');
    expect(visitor.cookie()).toBe('');
    expect((await visitor.get('/sign-in?revoked=true')).text).toContain('your session has ended');
    expect((await visitor.get('/tokens')).status).toBe(303);
  });

  test('names the sessions of others that end with it', async () => {
    const { visitor } = await administrator();
    const { id, secret } = await service.token({ name: 'shared', scopes: ['admin'] });
    const guests = [visit(service), visit(service)];
    for (const guest of guests) await guest.signIn(secret);
    const page = (await visitor.get(`/tokens/${id}/revoke`)).text;
    expect(page).toContain('It also ends 2 dashboard sessions.');
    expect(page).not.toContain('No other active token');
    await revoke(visitor, id);
    for (const guest of guests) expect((await guest.get('/')).status).toBe(303);
  });

  test('does nothing to one that is over, and says so', async () => {
    const { visitor } = await administrator();
    const { id } = await service.token({ name: 'ci' });
    await revoke(visitor, id);
    expect((await visitor.get(`/tokens/${id}/revoke`)).text).toContain('was already revoked');
    const again = await visitor.submit('/tokens', `/tokens/${id}/revoke`);
    expect(again.headers.get('location')).toBe('/tokens?notice=already-revoked');
    expect((await visitor.get('/tokens?notice=already-revoked')).text).toContain('was already revoked');
    const { id: old } = await service.token({ name: 'old' });
    await service.storage.commit('global', (db) => sql`update tokens set expires_at = 1 where id = ${old}`.execute(db));
    expect((await visitor.get(`/tokens/${old}/revoke`)).text).toContain('has expired');
  });

  test('that there is not is refused', async () => {
    const { visitor } = await administrator();
    for (const id of [newTokenId(), 'tok_x', '%00', encodeURIComponent('<script>alert(1)</script>')]) {
      const page = await visitor.get(`/tokens/${id}/revoke`);
      expect(page.status).toBe(404);
      expectHarmless(page.text);
      expect((await visitor.submit('/tokens', `/tokens/${id}/revoke`)).status).toBe(404);
    }
  });
});
