import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { readAudit } from '../../../src/service/audit/read-audit.ts';
import { listTokens } from '../../../src/service/tokens/tokens.ts';
import { removeWorkspaceAudited } from '../../../src/service/workspaces/workspaces.ts';
import { sqlite } from '../../support/databases.ts';
import { startTestService } from '../../support/running-service.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { operator } from '../../support/trusted-jobs.ts';
import { type Fields, signedIn, type Visitor, visit } from './browser-like.ts';
import { expectHarmless, hostileTexts } from './hostile.ts';

const sealedIn = (page: string): string => /name="token_id" value="([^"]+)"/.exec(page)?.[1] ?? '';
const secretIn = (page: string): string => /wsa_[A-Za-z0-9_-]{43}/.exec(page)?.[0] ?? '';

const service = serviceOfTests();
let game: string;
beforeAll(async () => {
  game = await service.workspace();
});

const administrator = () => signedIn(service, { name: 'root', scopes: ['admin'] });

const right = { name: 'ci', scope: ['sync'], expires: '90d', lifetime: '', reach: 'all' } as const;

/** The page redirects to a URL of its own, which contains the id. */
async function formAddress(visitor: Visitor): Promise<string> {
  const { status, headers } = await visitor.get('/tokens/new');
  expect(status).toBe(303);
  return headers.get('location') ?? '';
}

/** The filled-in form of the page. */
async function filled(visitor: Visitor, fields: Fields = {}) {
  const page = (await visitor.get(await formAddress(visitor))).text;
  return { token_id: sealedIn(page), ...right, ...fields };
}

const send = async (visitor: Visitor, fields: Fields = {}) => visitor.post('/tokens', await filled(visitor, fields));

const named = async (name: string) => (await listTokens(service.storage)).filter((token) => token.name === name);

describe('creating a token', () => {
  test('returns a token that works, with the chosen options, and is audited', async () => {
    const response = await send(await administrator(), {
      name: ' ci of dragon ',
      scope: ['locks:write', 'sync'],
      expires: 'other',
      lifetime: '2h',
      reach: 'some',
      workspace: [game],
    });
    expect(response.status).toBe(200);
    const token = secretIn(response.text);
    expect(response.text).toContain(`base-url: ${service.baseUrl}/v1`);
    expect(response.text).toContain(`workspace: ${game}`);
    expect((await service.ask('GET', `/v1/workspaces/${game}/locks`, { token })).status).toBe(200);
    const [made, ...more] = await named('ci of dragon');
    expect(more).toEqual([]);
    expect(made).toMatchObject({ state: 'active', scopes: ['locks:write', 'sync'], workspaces: [game] });
    expect(Date.parse(made?.expires_at ?? '') - Date.parse(made?.created_at ?? '')).toBe(2 * 3_600_000);
    const { entries } = await readAudit(service.storage, { limit: 1 });
    const detail = { token: made?.id, name: 'ci of dragon' };
    expect(entries).toMatchObject([{ actor: 'root', action: 'token.created', address: '127.0.0.1', detail }]);
  });

  test('uses its name as owner unless one is entered, and says which tokens share its locks', async () => {
    const visitor = await administrator();
    const first = await send(visitor, { name: 'laptop', owner: ' Ada Lovelace ' });
    expect(first.text).toContain('<dt>Owner</dt><dd><bdi>Ada Lovelace</bdi></dd>');
    expect(first.text).not.toContain('other active token');
    expect(await named('laptop')).toMatchObject([{ owner: 'Ada Lovelace' }]);
    const second = await send(visitor, { name: 'Ada Lovelace', owner: ' ' });
    expect(second.text).toMatch(
      /The owner <bdi>Ada Lovelace<\/bdi> already has 1 other active token: <bdi>laptop<\/bdi>\./,
    );
    expect(await named('Ada Lovelace')).toMatchObject([{ owner: 'Ada Lovelace' }]);
    for (const owner of ['a\u0007', 'x'.repeat(101)]) {
      const refused = await send(visitor, { name: 'nobody', owner });
      expect([refused.status, refused.text.includes('id="owner-problem"')]).toEqual([422, true]);
    }
    expect(await named('nobody')).toEqual([]);
  });

  test('supports tokens that expire after some days or never, and tokens for administrators', async () => {
    const visitor = await administrator();
    await send(visitor, { name: 'for 30d', expires: '30d' });
    const [token] = await named('for 30d');
    expect(Date.parse(token?.expires_at ?? '') - Date.parse(token?.created_at ?? '')).toBe(30 * 86_400_000);
    const response = await send(visitor, { name: 'for ever', expires: 'never', scope: ['admin'] });
    expect(await named('for ever')).toMatchObject([{ expires_at: null, scopes: ['admin'], workspaces: null }]);
    expect((await visit(service).signIn(secretIn(response.text))).status).toBe(303);
    expect(response.text).not.toContain('In a workflow');
  });

  test('shows the URL by which the browser reaches the service', async () => {
    const visitor = await administrator();
    const sendFrom = async (origin: string, fields: Fields = {}) =>
      visitor.post('/tokens', await filled(visitor, fields), {
        origin,
        'sec-fetch-site': 'same-origin',
        cookie: `${visitor.cookie()}; __Host-${visitor.cookie()}`,
      });
    const behindProxy = await sendFrom('https://workspaces.example.com');
    expect(behindProxy.text).toContain('base-url: https://workspaces.example.com/v1');
    expect(behindProxy.text).not.toContain('allow-http');
    expect((await sendFrom('http://workspaces.lan:8700')).text).toContain('allow-http');
    expect((await sendFrom('null', { name: 'nowhere' })).status).toBe(400);
    expect(await named('nowhere')).toEqual([]);
  });

  test('shows the configured public URL, however the browser reaches the service', async () => {
    const told = await startTestService(sqlite, { publicUrl: () => 'https://assets.example.com' });
    try {
      const { text } = await send(await signedIn(told, { scopes: ['admin'] }));
      expect(text).toContain('base-url: https://assets.example.com/v1');
    } finally {
      await told.stop();
    }
  });

  test.each([
    [['sync', 'locks:write'], 'operation: lock'],
    [['sync', 'hooks:write'], 'operation: sync'],
    [['locks:read'], 'operation: list-locks'],
    [['hooks:write'], 'operation: register-hook'],
  ])('shows a workflow step that the scopes %s allow', async (scope, operation) => {
    expect((await send(await administrator(), { scope })).text).toContain(`\n    ${operation}\n`);
  });
});

describe('a preset', () => {
  test.each([
    ['artist', ['locks:write', 'contents:read'], 'git lfs lock Content/Hero.uasset'],
    ['ci', ['sync', 'locks:write'], 'secrets.WORKSPACE_TOKEN'],
    ['read-only', ['locks:read', 'contents:read'], 'operation: list-locks'],
    ['metrics', ['locks:read'], 'operation: list-locks'],
  ])('%s selects its scopes in the form, and its next steps follow the secret', async (preset, scope, step) => {
    const visitor = await administrator();
    const address = (await visitor.get(`/tokens/new?preset=${preset}`)).headers.get('location') ?? '';
    const page = (await visitor.get(address)).text;
    const checked = [...page.matchAll(/name="scope" value="([^"]*)" checked/g)].map(([, value]) => value);
    expect(checked.toSorted()).toEqual(scope.toSorted());
    const sent = { ...right, token_id: sealedIn(page), scope, preset };
    const { text } = await visitor.post('/tokens', { ...sent, name: `for ${preset}` });
    expect(secretIn(text)).not.toBe('');
    expect(text.replaceAll('&quot;', '"')).toContain(step);
    expect(text.includes('In a workflow')).toBe(preset !== 'artist');
  });

  test('selects its scopes and keeps everything else that was entered, without creating a token', async () => {
    const visitor = await administrator();
    const game = await service.workspace();
    const entered = { name: 'half ', owner: 'ada', scope: ['sync'], expires: 'other', lifetime: '12h', reach: 'some' };
    const fields = await filled(visitor, { ...entered, workspace: [game], 'choose-preset': 'artist' });
    const { status, text } = await visitor.post('/tokens', fields);
    expect(status).toBe(200);
    for (const kept of ['name="name" value="half "', 'name="owner" value="ada"', 'name="lifetime" value="12h"']) {
      expect(text).toContain(kept);
    }
    const checked = [...text.matchAll(/value="([^"]*)" checked/g)].map(([, value]) => value);
    expect(checked.toSorted()).toEqual([game, 'contents:read', 'locks:write', 'other', 'some'].toSorted());
    expect(sealedIn(text)).toBe(fields.token_id);
    expect(text).toContain('name="preset" value="artist"');
    expect(await named('half')).toEqual([]);
  });

  test.each(['artist', '__proto__', hostileTexts[1]])(
    '%s has no next steps for a token without its scopes',
    async (preset) => {
      const { text } = await send(await administrator(), { preset, scope: ['hooks:write'] });
      expect(text).toContain('operation: register-hook');
      expect(text).not.toContain('git lfs lock');
    },
  );
});

describe('the form of a new token', () => {
  test('creates one token if it is sent twice, and shows its secret once', async () => {
    const visitor = await administrator();
    const fields = await filled(visitor, { name: 'once' });
    const answers = await Promise.all([1, 2, 3].map(() => visitor.post('/tokens', fields)));
    answers.push(await visitor.post('/tokens', { ...fields, name: 'twice' }));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
    for (const { status, text } of answers) {
      expect(secretIn(text) === '').toBe(status === 409);
      if (status === 409) expect(text).toMatch(/created the token <bdi>once<\/bdi> and does not create a second one/);
    }
    expect(await named('once')).toHaveLength(1);
    expect(await named('twice')).toEqual([]);
  });

  test('is not shown again after going back to it', async () => {
    const visitor = await administrator();
    const address = await formAddress(visitor);
    const page = (await visitor.get(address)).text;
    expect(sealedIn((await visitor.get(address)).text)).toBe(sealedIn(page));
    await visitor.post('/tokens', { ...right, name: 'back', token_id: sealedIn(page) });
    const back = await visitor.get(address);
    expect(back.text).toContain('This token was already created');
    expect(back.text).not.toContain('<form method="post" action="/tokens"');
    expect((await (await administrator()).get(address)).headers.get('location')).toMatch(/^\/tokens\/new\?form=/);
  });

  test('is refused with an id that its session was not given', async () => {
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

describe('the form of a new token', () => {
  const gone = 'workspace gone no longer exists';

  test.each([
    ['no name', { name: ' ' }, 'name', 'A token needs a name'],
    ['hostile markup', { name: hostileTexts[1], scope: [hostileTexts[0]] }, 'scopes', 'unknown'],
    ['a name with hidden characters', { name: 'a\u202Eb' }, 'name', 'invisible characters'],
    ['a name that is too long', { name: 'x'.repeat(101) }, 'name', 'at most 100 characters'],
    ['a name that is far too long', { name: 'x'.repeat(1_000) }, 'name', 'at most 100 characters'],
    ['no scope', { scope: [] }, 'scopes', 'Choose at least one scope'],
    ['no expiry', { expires: '' }, 'expires', 'Choose when the token expires'],
    ['an unknown expiry', { expires: '31d' }, 'expires', 'Choose when the token expires'],
    ['an invalid lifetime', { expires: 'other', lifetime: 'soon' }, 'expires', 'such as 90s, 15m'],
    ['a lifetime that is too long', { expires: 'other', lifetime: '36501d' }, 'expires', 'from 1s to 36500d'],
    ['no choice of workspaces', { reach: '' }, 'workspaces', 'Choose which workspaces'],
    ['an empty list of workspaces', { reach: 'some' }, 'workspaces', 'at least one workspace'],
    ['an invalid workspace', { reach: 'some', workspace: ['A\0'] }, 'workspaces', '1 to 64 characters'],
    ['an unknown workspace', { reach: 'some', workspace: ['gone'] }, 'workspaces', gone],
  ])('is rejected for %s, with an error at its field', async (_name, fields, field, reason) => {
    const visitor = await administrator();
    const before = (await listTokens(service.storage)).length;
    const response = await send(visitor, { name: 'bad input', ...fields });
    expect(response.status).toBe(422);
    const [, problem] = new RegExp(`id="${field}-problem" role="alert">([^<]*)<`).exec(response.text) ?? [];
    expect(problem).toContain(reason);
    expect(response.text.match(/aria-invalid="true"/g)).toHaveLength(1);
    expectHarmless(response.text);
    expect(await listTokens(service.storage)).toHaveLength(before);
  });

  test('is rejected for an administrator of some workspaces, and keeps the entered values', async () => {
    const { status, text } = await send(await administrator(), {
      name: '<b>limited</b>',
      scope: ['admin', 'sync'],
      expires: 'other',
      lifetime: '45d',
      reach: 'some',
      workspace: [game],
    });
    expect(status).toBe(422);
    expect(text).toContain('cannot be limited to some workspaces');
    expect(text).toContain('value="&lt;b&gt;limited&lt;/b&gt;"');
    expect(text).toContain('value="45d"');
    expect(text.match(/<input type="(?:checkbox|radio)"[^>]* checked/g)).toHaveLength(5);
    expect(text).toContain('No token was created. Check <a href="#workspaces">Workspaces</a>.');
  });

  test('reports all mistakes at once', async () => {
    const response = await send(await administrator(), { name: '', scope: [], expires: '', reach: '' });
    expect(response.text.match(/role="alert"/g)).toHaveLength(5);
  });

  test('is rejected if its workspace was removed while the form was open', async () => {
    const visitor = await administrator();
    const short = await service.workspace();
    const fields = await filled(visitor, { name: 'too late', reach: 'some', workspace: [short] });
    await service.storage.commit('global', (db) => removeWorkspaceAudited(db, service.storage.now, operator, short));
    expect((await visitor.post('/tokens', fields)).status).toBe(422);
    expect(await named('too late')).toEqual([]);
  });
});

test('the secret of a new token appears on one page and nowhere else', async () => {
  const visitor = await administrator();
  const fields = await filled(visitor, { name: 'quiet' });
  const secret = secretIn((await visitor.post('/tokens', fields)).text);
  expect(secret).not.toBe('');
  const [token] = await named('quiet');
  const again = [
    await visitor.post('/tokens', fields),
    await visitor.get(`/tokens/new?form=${fields.token_id}`),
    await visitor.get(`/tokens/${token?.id}/revoke`),
  ];
  const later = [...again.map(({ text }) => text), service.log()];
  for (const table of ['tokens', 'sessions', 'audit', 'remembered_answers'] as const) {
    const { rows } = await sql`select * from ${sql.table(table)}`.execute(service.storage.read);
    later.push(JSON.stringify(rows));
  }
  expect(later.join('\n')).not.toContain(secret);
});
