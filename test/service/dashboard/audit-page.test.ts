import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { type AuditAction, auditActions, recordAudit } from '../../../src/service/audit/audit.ts';
import { sentence } from '../../../src/service/dashboard/pages/audit.ts';
import { newTokenSecret } from '../../../src/service/tokens/secret.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { type SignedIn, signedIn, urlIn } from './browser-like.ts';

const words = async (markup: unknown): Promise<string> =>
  String(await markup)
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll(/\s+/g, ' ');

type Detail = Readonly<Record<string, unknown>>;

const sentenceOf = (action: string, detail: Detail) =>
  words(
    sentence({
      sequence: 1,
      at: '2026-03-01T19:00:00.000Z',
      actor: 'ada',
      token_id: null,
      address: null,
      action,
      detail,
    }),
  );

describe('a sentence of the audit', () => {
  const hook = { workspace: 'game', hook: 'hook_1', origin: 'https://ci.example.com' };
  const toHook = 'the webhook to https://ci.example.com in game';
  const mirror = { workspace: 'game', remote: 'https://git.example.com/game.git' };
  const lock = { workspace: 'game', path: 'a', owner: 'ci' };
  const made = { name: 'ci', scopes: ['sync', 'locks:write'], workspaces: null };
  const expected: readonly (readonly [AuditAction, Detail, string])[] = [
    ['session.signed-in', { by: 'token' }, 'signed in with a token'],
    ['session.signed-in', { by: 'link' }, 'signed in with the first-start link'],
    ['session.signed-out', {}, 'signed out'],
    ['token.created', made, 'created the token ci with sync, locks:write'],
    ['token.created', { ...made, owner: 'ci' }, 'created the token ci with sync, locks:write'],
    ['token.created', { ...made, owner: 'ada' }, 'created the token ci of ada with sync, locks:write'],
    ['token.created', { ...made, workspaces: ['a', 'b'] }, 'created the token ci with sync, locks:write, only in a, b'],
    [
      'token.rotated',
      { name: 'ci', old_valid_until: '2026-03-01T14:05:09.000Z' },
      'rotated the token ci; the old secret ends at 2026-03-01 14:05:09 UTC',
    ],
    ['token.rotated', { name: 'ci' }, 'rotated the token ci'],
    ['token.revoked', { name: 'ci' }, 'revoked the token ci'],
    [
      'lock.force-released',
      { ...lock, reason: 'gone' },
      'released the lock on a in game, held by ci, by force: “gone”',
    ],
    ['lock.force-released', lock, 'released the lock on a in game, held by ci, by force'],
    ['hook.registered', hook, `registered ${toHook}`],
    ['hook.replaced', hook, `changed ${toHook}`],
    ['hook.paused', hook, `paused ${toHook}`],
    ['hook.resumed', hook, `resumed ${toHook}`],
    ['hook.removed', hook, `removed ${toHook}`],
    ['delivery.sent-again', hook, `sent a delivery of ${toHook} again`],
    ['workspace.added', mirror, 'added the workspace game, a mirror of https://git.example.com/game.git'],
    ['hook.tested', hook, `sent a test to ${toHook}`],
    ['workspace.updated', mirror, 'changed the workspace game, a mirror of https://git.example.com/game.git'],
    ['workspace.updated', { workspace: 'game' }, 'changed the settings of game'],
    ['workspace.removed', mirror, 'removed the workspace game, a mirror of https://git.example.com/game.git'],
    ['push-secret.created', { workspace: 'game' }, 'created a secret for push events of game'],
    ['pool.added', { workspace: 'game', pool: 'seats' }, 'added the pool seats of game'],
    ['pool.updated', { workspace: 'game', pool: 'seats' }, 'changed the pool seats of game'],
    ['pool.removed', { workspace: 'game', pool: 'seats' }, 'removed the pool seats of game'],
    [
      'backup.restored',
      { taken_at: '2026-03-01T14:05:09.000Z', fences_raised_by: 1_000_000 },
      'restored the backup of 2026-03-01 14:05:09 UTC',
    ],
    ['fences.raised', { fences_raised_by: 1_000_000 }, 'raised the fences of all workspaces'],
    ['audit.removed', { before: '2026-03-01T00:00:00.000Z' }, 'removed the entries before 2026-03-01 00:00:00 UTC'],
    ['token.exchanged', { owner: 'bot' }, 'authenticated by OIDC as bot'],
    [
      'trust.added',
      { issuer: 'https://ci.example.com', owner: 'bot' },
      'added a trust rule for jobs of https://ci.example.com, whose locks belong to bot',
    ],
    [
      'trust.removed',
      { issuer: 'https://gitlab.com', owner: 'bot' },
      'removed the trust rule for jobs of https://gitlab.com, whose locks belong to bot',
    ],
  ];

  test.each(expected)('describes %s with %o', async (action, detail, text) => {
    expect(await sentenceOf(action, detail)).toBe(`ada ${text}`);
  });

  test('describes every action, also one of another version, and entries with missing details', async () => {
    expect(new Set(expected.map(([action]) => action))).toEqual(new Set(auditActions));
    expect(await sentenceOf('planet.moved', { to: 'mars' })).toBe('ada did planet.moved');
    for (const action of auditActions) {
      for (const detail of [{}, { name: 7, path: null, scopes: 'sync', origin: {}, by: [] }]) {
        expect(await sentenceOf(action, detail)).toMatch(/^ada \w/);
      }
    }
  });
});

describe('the audit page', () => {
  const service = serviceOfTests();
  let visitor: SignedIn;
  beforeAll(async () => {
    visitor = await signedIn(service, { name: 'root', scopes: ['admin'] });
    const { commit, now } = service.storage;
    await commit('global', async (db) => {
      const actor = { name: 'ada', tokenId: 'tok_ada', address: '192.0.2.7' };
      for (let index = 0; index < 60; index += 1) {
        await recordAudit(db, now, { actor, action: 'token.revoked', detail: { token: 't', name: `ci ${index}` } });
      }
      const operator = { name: 'operator:grace', tokenId: null, address: null };
      await recordAudit(db, now, { actor: operator, action: 'workspace.added', detail: { workspace: 'game' } });
      const moved = sql`insert into audit (at, actor, action, detail) values (1, 'ada', 'planet.moved', '{"to":"mars"}')`;
      await moved.execute(db);
    });
  });

  const rows = async (query = ''): Promise<readonly string[]> => {
    const { text } = await visitor.get(`/audit${query}`);
    const [, body = ''] = /<tbody>(.*)<\/tbody>/s.exec(text) ?? [];
    return Promise.all(body.split('</tr>').slice(0, -1).map(words));
  };

  test('starts with the newest entries, and shows actions of other versions as recorded', async () => {
    const [first, second, third, ...more] = await rows();
    expect(first).toContain('ada did planet.moved');
    expect(first).toContain('&quot;to&quot;: &quot;mars&quot;');
    expect(second).toMatch(/operator:grace added the workspace game.*at the command line.*none/);
    expect(third).toMatch(/ada revoked the token ci 59.*tok_ada.*192\.0\.2\.7/);
    expect(more).toHaveLength(47);
  });

  test('leads to all older entries, and keeps its filter', async () => {
    const seen: string[] = [];
    for (let address = '/audit?action=token.revoked&actor=tok_ada'; address !== ''; ) {
      const { text } = await visitor.get(address);
      seen.push(...[...text.matchAll(/<bdi>ci (\d+)<\/bdi>/g)].map(([, index = '']) => index));
      expect(text).not.toContain('signed in');
      address = urlIn(text, /<a href="([^"]+)" rel="next">/);
    }
    expect(seen).toEqual(Array.from({ length: 60 }, (_, index) => String(59 - index)));
  });

  test('finds the actions of a token by its id, keeps the filter, and says if nothing matches', async () => {
    expect(await rows(`?actor=${visitor.id}`)).toHaveLength(1);
    expect(await rows('?actor=ada&action=planet.moved')).toHaveLength(1);
    const { text } = await visitor.get('/audit?actor=nobody&action=hook.paused');
    expect(text).toContain('value="nobody"');
    expect(text).toContain('<option value="hook.paused" selected>');
    expect(text).toContain('No entry matches.');
    expect((await visitor.get('/audit?before=1')).text).toContain('There are no older entries.');
  });

  test('can be filtered by workspace and day, and downloaded with the same filter', async () => {
    expect(await rows('?workspace=game')).toHaveLength(1);
    const today = new Date().toISOString().slice(0, 10);
    expect(await rows(`?action=workspace.added&from=${today}&to=${today}`)).toHaveLength(1);
    const { text } = await visitor.get('/audit?workspace=game');
    const address = urlIn(text, /<a class="button" href="(\/audit\/entries\.csv[^"]+)"/);
    const csv = await visitor.get(address);
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="audit.csv"');
    expect(csv.text.split('\r\n')).toEqual([
      expect.stringContaining('sequence,at,actor'),
      expect.stringContaining('operator:grace,,,workspace.added'),
      '',
    ]);
    const jsonl = await visitor.get(address.replace('.csv', '.jsonl'));
    expect(JSON.parse(jsonl.text)).toMatchObject({ actor: 'operator:grace', detail: { workspace: 'game' } });
  });

  test.each(['/audit', '/audit/entries.csv'])('reports an invalid day or workspace: %s', async (address) => {
    const { status, text } = await visitor.get(`${address}?from=2026-02-30&workspace=s3cret!`);
    expect([status, text]).toEqual([422, expect.stringContaining('It must be a date such as 2026-03-01.')]);
    expect(text).not.toContain('s3cret');
  });

  test('does not repeat the secret of a token that was entered as an actor', async () => {
    const secret = newTokenSecret();
    const response = await visitor.get(`/audit?actor=${secret}`);
    expect(response.status).toBe(422);
    expect(response.text).toContain('This is the secret of a token.');
    expect(response.text + service.log()).not.toContain(secret);
  });

  test.each([
    ['before=x', 422],
    ['actor=%00', 422],
    ['action=%00', 200],
  ])('is not broken by the invalid query %s', async (query, status) => {
    expect((await visitor.get(`/audit?${query}`)).status).toBe(status);
  });
});
