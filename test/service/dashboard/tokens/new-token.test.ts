import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readAudit } from '../../../../src/service/audit/read-audit.ts';
import { listTokens } from '../../../../src/service/tokens/tokens.ts';
import { removeWorkspace } from '../../../../src/service/workspaces/workspaces.ts';
import { realDatabaseKinds } from '../../../support/databases.ts';
import { type Reply, type RunningService, startTestService } from '../../../support/running-service.ts';
import { formTokenIn, type Visitor, visit } from '../browser-like.ts';
import { expectHarmless, hostileTexts } from '../hostile.ts';

const sealedIn = (page: string): string => /name="token_id" value="([^"]+)"/.exec(page)?.[1] ?? '';
const secretIn = (page: string): string => /wsa_[A-Za-z0-9_-]{43}/.exec(page)?.[0] ?? '';

let service: RunningService;
let game: string;
beforeAll(async () => {
  service = await startTestService(realDatabaseKinds[0] ?? expect.fail('There is always SQLite.'));
  game = await service.workspace();
});
afterAll(() => service.stop());

async function administrator(): Promise<Visitor> {
  const visitor = visit(service);
  await visitor.signIn((await service.token({ name: 'root', scopes: ['admin'] })).secret);
  return visitor;
}

const right = { name: 'ci', scope: ['sync'], expires: '90d', lifetime: '', reach: 'all' } as const;

/** The page sends on to an address of its own, which has the id. */
async function formAddress(visitor: Visitor): Promise<string> {
  const { status, headers } = await visitor.get('/tokens/new');
  expect(status).toBe(303);
  return headers.get('location') ?? '';
}

/** The form as the page has it, filled in. */
async function filled(visitor: Visitor, fields: Readonly<Record<string, string | readonly string[]>> = {}) {
  const page = (await visitor.get(await formAddress(visitor))).text;
  return { form_token: formTokenIn(page), token_id: sealedIn(page), ...right, ...fields };
}

const send = async (
  visitor: Visitor,
  fields: Readonly<Record<string, string | readonly string[]>> = {},
): Promise<Reply> => visitor.post('/tokens', await filled(visitor, fields));

const named = async (name: string) => (await listTokens(service.storage)).filter((token) => token.name === name);

describe('making a token', () => {
  test('gives one that works, with what was chosen, and the audit tells of it', async () => {
    const answer = await send(await administrator(), {
      name: ' ci of dragon ',
      scope: ['locks:write', 'sync'],
      expires: 'other',
      lifetime: '2h',
      reach: 'some',
      workspace: [game],
    });
    expect(answer.status).toBe(200);
    const secret = secretIn(answer.text);
    expect(answer.text).toContain(`base-url: ${service.baseUrl}/v1`);
    expect(answer.text).toContain(`workspace: ${game}`);
    expect(answer.text).toContain('operation: lock');
    expect((await service.ask('GET', `/v1/workspaces/${game}/locks`, { token: secret })).status).toBe(200);
    const [token, ...more] = await named('ci of dragon');
    expect(more).toEqual([]);
    expect(token).toMatchObject({ state: 'active', scopes: ['locks:write', 'sync'], workspaces: [game] });
    expect(Date.parse(token?.expires_at ?? '') - Date.parse(token?.created_at ?? '')).toBe(2 * 3_600_000);
    const { entries } = await readAudit(service.storage, { limit: 1 });
    expect(entries).toMatchObject([
      {
        actor: 'root',
        action: 'token.created',
        address: '127.0.0.1',
        detail: { token: token?.id, name: 'ci of dragon' },
      },
    ]);
  });

  test.each([
    ['30d', 30],
    ['90d', 90],
    ['365d', 365],
  ])('ends after %s', async (expires, days) => {
    await send(await administrator(), { name: `for ${expires}`, expires });
    const [token] = await named(`for ${expires}`);
    expect(Date.parse(token?.expires_at ?? '') - Date.parse(token?.created_at ?? '')).toBe(days * 86_400_000);
  });

  test('never ends where that is asked for, and may be an administrator’s', async () => {
    const answer = await send(await administrator(), { name: 'for ever', expires: 'never', scope: ['admin'] });
    expect(await named('for ever')).toMatchObject([{ expires_at: null, scopes: ['admin'], workspaces: null }]);
    expect((await visit(service).signIn(secretIn(answer.text))).status).toBe(303);
    expect(answer.text).not.toContain('In a workflow');
  });

  test('names the address by which the browser reaches the service', async () => {
    const visitor = await administrator();
    const behindProxy = {
      origin: 'https://workspaces.example.com',
      'sec-fetch-site': 'same-origin',
      cookie: `__Host-${visitor.cookie()}`,
    };
    const answer = await visitor.post('/tokens', await filled(visitor), behindProxy);
    expect(answer.text).toContain('base-url: https://workspaces.example.com/v1');
    expect(answer.text).not.toContain('allow-http');
    const inNetwork = { origin: 'http://workspaces.lan:8700', 'sec-fetch-site': 'same-origin' };
    expect((await visitor.post('/tokens', await filled(visitor), inNetwork)).text).toContain('allow-http');
    const nowhere = { origin: 'null', 'sec-fetch-site': 'same-origin' };
    const fields = await filled(visitor, { name: 'nowhere' });
    expect((await visitor.post('/tokens', fields, nowhere)).status).toBe(400);
    expect(await named('nowhere')).toEqual([]);
  });
});

test.each([
  [['sync', 'locks:write'], 'operation: lock'],
  [['sync', 'hooks:write'], 'operation: sync'],
  [['locks:read'], 'operation: list-locks'],
  [['hooks:write'], 'operation: register-hook'],
])('a token with %s is shown with a step that it can do', async (scope, operation) => {
  expect((await send(await administrator(), { scope })).text).toContain(`\n    ${operation}\n`);
});

describe('a form that is sent twice', () => {
  test('makes one token, and shows its secret once', async () => {
    const visitor = await administrator();
    const fields = await filled(visitor, { name: 'once' });
    const first = await visitor.post('/tokens', fields);
    expect(secretIn(first.text)).not.toBe('');
    for (const again of [fields, { ...fields, name: 'twice' }]) {
      const answer = await visitor.post('/tokens', again);
      expect(answer.status).toBe(409);
      expect(answer.text).toContain('does not create a second one');
      expect(answer.text).toContain('<bdi>once</bdi>');
      expect(secretIn(answer.text)).toBe('');
    }
    expect(await named('once')).toHaveLength(1);
    expect(await named('twice')).toEqual([]);
  });

  test('at the same moment, does so too', async () => {
    const visitor = await administrator();
    const fields = await filled(visitor, { name: 'at once' });
    const answers = await Promise.all(Array.from({ length: 4 }, () => visitor.post('/tokens', fields)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
    expect(answers.filter(({ text }) => secretIn(text) !== '')).toHaveLength(1);
    expect(await named('at once')).toHaveLength(1);
  });

  test('cannot be found again by going back to it', async () => {
    const visitor = await administrator();
    const address = await formAddress(visitor);
    const page = (await visitor.get(address)).text;
    expect(sealedIn((await visitor.get(address)).text)).toBe(sealedIn(page));
    await visitor.post('/tokens', { ...right, name: 'back', form_token: formTokenIn(page), token_id: sealedIn(page) });
    const back = await visitor.get(address);
    expect(back.text).toContain('This token was already created');
    expect(back.text).not.toContain('<form method="post" action="/tokens"');
    expect((await (await administrator()).get(address)).headers.get('location')).toMatch(/^\/tokens\/new\?form=/);
  });

  test('is refused with an id that this session was not shown', async () => {
    const visitor = await administrator();
    const other = await administrator();
    const fields = await filled(visitor, { name: 'forged' });
    const foreign = sealedIn((await other.get(await formAddress(other))).text);
    for (const token_id of ['', `x.tok_${crypto.randomUUID()}`, fields.token_id.replace(/.$/, 'g'), foreign]) {
      expect((await visitor.post('/tokens', { ...fields, token_id })).status).toBe(400);
    }
    expect(await named('forged')).toEqual([]);
  });
});

describe('what cannot be a token', () => {
  test.each([
    ['no name', { name: ' ' }, 'name', 'A token needs a name'],
    ['a name that hides something', { name: 'a\u202Eb' }, 'name', 'invisible characters'],
    ['a name that is too long', { name: 'x'.repeat(101) }, 'name', 'at most 100 characters'],
    ['no scope', { scope: [] }, 'scopes', 'Choose at least one scope'],
    ['an unknown scope', { scope: ['root'] }, 'scopes', 'unknown'],
    ['no end', { expires: '' }, 'expires', 'Choose when the token expires'],
    ['an end of another form', { expires: '31d' }, 'expires', 'Choose when the token expires'],
    ['a time that is none', { expires: 'other', lifetime: 'soon' }, 'expires', 'such as 90s, 15m'],
    ['a time that is too long', { expires: 'other', lifetime: '36501d' }, 'expires', 'from 1s to 36500d'],
    ['no workspaces', { reach: '' }, 'workspaces', 'Choose which workspaces'],
    ['none of the workspaces', { reach: 'some' }, 'workspaces', 'at least one workspace'],
    ['a workspace that cannot be', { reach: 'some', workspace: ['A\0'] }, 'workspaces', '1 to 64 characters'],
    [
      'a workspace that is not there',
      { reach: 'some', workspace: ['gone'] },
      'workspaces',
      'workspace gone no longer exists',
    ],
  ])('%s is said beside its field', async (_name, fields, field, why) => {
    const before = (await listTokens(service.storage)).length;
    const visitor = await administrator();
    const answer = await send(visitor, { name: 'bad input', ...fields });
    expect(answer.status).toBe(422);
    const [, problem] = new RegExp(`id="${field}-problem" role="alert">([^<]*)<`).exec(answer.text) ?? [];
    expect(problem).toContain(why);
    expect(answer.text.match(/aria-invalid="true"/g)).toHaveLength(1);
    expectHarmless(answer.text);
    // Only the token of the visitor.
    expect((await listTokens(service.storage)).length).toBe(before + 1);
  });

  test('an administrator’s for some workspaces is refused, and what was typed is kept', async () => {
    const answer = await send(await administrator(), {
      name: '<b>limited</b>',
      scope: ['admin', 'sync'],
      expires: 'other',
      lifetime: '45d',
      reach: 'some',
      workspace: [game],
    });
    expect(answer.status).toBe(422);
    expect(answer.text).toContain('cannot be limited to some workspaces');
    expect(answer.text).toContain('value="&lt;b&gt;limited&lt;/b&gt;"');
    expect(answer.text).toContain('value="45d"');
    expect(answer.text.match(/<input type="(?:checkbox|radio)"[^>]* checked/g)).toHaveLength(5);
    expect(answer.text).toContain('No token was created. Look at <a href="#workspaces">Workspaces</a>.');
  });

  test('all that is wrong is said at once', async () => {
    const answer = await send(await administrator(), { name: '', scope: [], expires: '', reach: '' });
    expect(answer.text.match(/role="alert"/g)).toHaveLength(5);
  });

  test('a workspace that was removed while the form was open is', async () => {
    const visitor = await administrator();
    const short = await service.workspace();
    const fields = await filled(visitor, { name: 'too late', reach: 'some', workspace: [short] });
    await service.storage.commit('global', (db) => removeWorkspace(db, service.storage.now, short));
    expect((await visitor.post('/tokens', fields)).status).toBe(422);
    expect(await named('too late')).toEqual([]);
  });
});

test('hostile names are text in the form, in its answer and in the list', async () => {
  const visitor = await administrator();
  for (const name of hostileTexts) {
    const answer = await send(visitor, { name, scope: [name] });
    expectHarmless(answer.text);
    expectHarmless((await send(visitor, { name: name.slice(0, 100) })).text);
  }
  expectHarmless((await visitor.get('/tokens')).text);
  expectHarmless((await visitor.get('/audit')).text);
});

test('the secret is on one page, and nowhere else', async () => {
  const visitor = await administrator();
  const fields = await filled(visitor, { name: 'quiet' });
  const secret = secretIn((await visitor.post('/tokens', fields)).text);
  expect(secret).not.toBe('');
  const [token] = await named('quiet');
  const later = [
    await visitor.post('/tokens', fields),
    await visitor.get('/tokens'),
    await visitor.get(await formAddress(visitor)),
    await visitor.get(`/tokens/new?form=${fields.token_id}`),
    await visitor.get(`/tokens/${token?.id}/revoke`),
    await visitor.get('/audit'),
  ];
  expect(later.map(({ status }) => status)).toEqual([409, 200, 200, 200, 200, 200]);
  for (const { text } of later) expect(text).not.toContain(secret);
  expect(service.log()).not.toContain(secret);
  const tables = ['tokens', 'sessions', 'audit', 'remembered_answers'] as const;
  for (const table of tables) {
    const { rows } = await sql`select * from ${sql.table(table)}`.execute(service.storage.read);
    expect(JSON.stringify(rows)).not.toContain(secret);
  }
});
