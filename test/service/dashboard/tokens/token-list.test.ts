import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { revokeToken } from '../../../../src/service/tokens/tokens.ts';
import { realDatabaseKinds } from '../../../support/databases.ts';
import { type RunningService, startTestService } from '../../../support/running-service.ts';
import { type Visitor, visit } from '../browser-like.ts';

let service: RunningService;
let visitor: Visitor;
let own: string;
let active: string;
let expired: string;
let revoked: string;
beforeAll(async () => {
  service = await startTestService(realDatabaseKinds[0] ?? expect.fail('There is always SQLite.'));
  const token = async (name: string) => (await service.token({ name, scopes: ['sync'], workspaces: ['game'] })).id;
  const root = await service.token({ name: 'root', scopes: ['admin'] });
  own = root.id;
  [active, expired, revoked] = [await token('an active one'), await token('an old one'), await token('a lost one')];
  await service.storage.commit('global', async (db) => {
    await sql`update tokens set expires_at = 1 where id = ${expired}`.execute(db);
    await sql`update tokens set last_used_at = created_at where id = ${active}`.execute(db);
    await revokeToken(db, service.storage.now, revoked);
  });
  visitor = visit(service);
  await visitor.signIn(root.secret);
});
afterAll(() => service.stop());

const listed = (page: string): readonly string[] =>
  [...page.matchAll(/<tr id="(tok_[^"]+)"/g)].map(([, id = '']) => id);
const rowOf = (page: string, id: string): string => new RegExp(`<tr id="${id}".*?</tr>`, 's').exec(page)?.[0] ?? '';

test('has the active ones first, the newest before the older', async () => {
  expect(listed((await visitor.get('/tokens')).text)).toEqual([active, own, expired, revoked]);
});

test.each([
  ['active', () => [active, own]],
  ['expired', () => [expired]],
  ['revoked', () => [revoked]],
  ['constructor', () => [active, own, expired, revoked]],
])('shows those that are %s', async (state, expected) => {
  expect(listed((await visitor.get(`/tokens?state=${state}`)).text)).toEqual(expected());
});

test('says what each may do, when it was used, and which one is one’s own', async () => {
  const page = (await visitor.get('/tokens')).text;
  expect(rowOf(page, active)).toMatch(/sync.*game.*never.*<time .*Revoke/s);
  expect(rowOf(page, expired)).toContain('not yet');
  expect(page.match(/signed in with it/g)).toHaveLength(1);
  expect(rowOf(page, own)).toContain('signed in with it');
  for (const over of [expired, revoked]) expect(rowOf(page, over)).not.toContain('/revoke');
});

test('says so where there is none of a kind', async () => {
  const other = await startTestService(realDatabaseKinds[0] ?? expect.fail('There is always SQLite.'));
  try {
    const first = visit(other);
    await first.signIn((await other.token({ scopes: ['admin'] })).secret);
    expect((await first.get('/tokens?state=expired')).text).toContain('No token is expired.');
  } finally {
    await other.stop();
  }
});

test('shows no sentence that its address makes up', async () => {
  for (const notice of ['<b>x</b>', 'constructor', '__proto__']) {
    expect((await visitor.get(`/tokens?notice=${encodeURIComponent(notice)}`)).text).not.toContain('class="notice"');
  }
});
