import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { readAudit } from '../../../src/service/audit/audit.ts';
import { listTokens } from '../../../src/service/tokens/tokens.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { type Fields, signedIn, type Visitor } from './browser-like.ts';
import { expectHarmless, hostileTexts } from './hostile.ts';

const secretIn = (page: string): string => /wsa_[A-Za-z0-9_-]{43}/.exec(page)?.[0] ?? '';

const service = serviceOfTests();
let game: string;
beforeAll(async () => {
  game = await service.workspace();
});

const administrator = () => signedIn(service, { name: 'root', scopes: ['admin'] });

const send = (visitor: Visitor, fields: Fields = {}) =>
  visitor.post('/tokens', { name: 'ci', scope: ['sync'], expires: '90d', ...fields });

const named = async (name: string) => (await listTokens(service.storage)).filter((token) => token.name === name);

test('creating a token returns one that works, with the chosen options, and is audited', async () => {
  const response = await send(await administrator(), {
    name: ' ci of dragon ',
    scope: ['locks:write', 'sync'],
    expires: '2h',
    workspaces: ` ${game}, `,
  });
  expect(response.status).toBe(200);
  const token = secretIn(response.text);
  expect((await service.ask('GET', `/v1/workspaces/${game}/locks`, { token })).status).toBe(200);
  const [made, ...more] = await named('ci of dragon');
  expect(more).toEqual([]);
  expect(made).toMatchObject({ state: 'active', scopes: ['locks:write', 'sync'], workspaces: [game] });
  expect(Date.parse(made?.expires_at ?? '') - Date.parse(made?.created_at ?? '')).toBe(2 * 3_600_000);
  const { entries } = await readAudit(service.storage, { limit: 1 });
  const { id, name, owner, scopes, workspaces, expires_at } = made ?? expect.fail('It was not listed.');
  const detail = { token: id, name, owner, scopes, workspaces, expires_at };
  expect(entries).toMatchObject([{ actor: 'root', action: 'token.created', address: '127.0.0.1', detail }]);
});

test.each([
  ['artist', ['locks:write', 'contents:read']],
  ['ci', ['sync', 'locks:write']],
  ['read-only', ['locks:read', 'contents:read']],
  ['metrics', ['locks:read']],
  ['__proto__', []],
])('the preset %s selects its scopes', async (preset, scope) => {
  const visitor = await administrator();
  const page = (await visitor.get(`/tokens/new?preset=${preset}`)).text;
  const checked = [...page.matchAll(/name="scope" value="([^"]*)" checked/g)].map(([, value]) => value);
  expect(checked.toSorted()).toEqual(scope.toSorted());
});

test.each([
  ['no name', { name: ' ' }, 'name', 'A token needs a name'],
  ['hostile markup', { name: hostileTexts[1], scope: [hostileTexts[0]] }, 'scope', 'unknown'],
  ['a name that is far too long', { name: 'x'.repeat(1_000) }, 'name', 'at most 100 characters'],
  ['no scope', { scope: [] }, 'scope', 'Choose at least one scope'],
  ['an invalid expiry', { expires: 'soon' }, 'expires', 'such as 90s, 15m'],
  ['an unknown workspace', { workspaces: 'gone' }, 'workspaces', 'There is no workspace gone'],
])('the form of a new token is rejected for %s, with an error at its field', async (_name, fields, field, reason) => {
  const visitor = await administrator();
  const before = (await listTokens(service.storage)).length;
  const response = await send(visitor, { name: 'bad input', ...fields });
  expect(response.status).toBe(422);
  const [, problem] = new RegExp(`id="${field}-problem">([^<]*)<`).exec(response.text) ?? [];
  expect(problem).toContain(reason);
  expect(response.text).toMatch(new RegExp(`role="alert">Nothing was changed. ${field}: [^<]*${reason}`));
  expect(response.text.match(/aria-invalid="true"/g)).toHaveLength(1);
  expectHarmless(response.text);
  expect(await listTokens(service.storage)).toHaveLength(before);
});

test('the secret of a new token appears on one page and nowhere else', async () => {
  const visitor = await administrator();
  const secret = secretIn((await send(visitor, { name: 'quiet' })).text);
  expect(secret).not.toBe('');
  const [token] = await named('quiet');
  const later = [(await visitor.get('/tokens')).text, (await visitor.get(`/tokens/${token?.id}`)).text, service.log()];
  for (const table of ['tokens', 'sessions', 'audit', 'remembered_answers'] as const) {
    const { rows } = await sql`select * from ${sql.table(table)}`.execute(service.storage.read);
    later.push(JSON.stringify(rows));
  }
  expect(later.join('\n')).not.toContain(secret);
});
