import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuditAction, auditActions, recordAudit } from '../../../../src/service/audit/audit.ts';
import { sentence } from '../../../../src/service/dashboard/pages/audit.ts';
import { newTokenSecret } from '../../../../src/service/tokens/secret.ts';
import { realDatabaseKinds } from '../../../support/databases.ts';
import { type RunningService, startTestService } from '../../../support/running-service.ts';
import { type Visitor, visit } from '../browser-like.ts';
import { expectHarmless, hostileTexts } from '../hostile.ts';

const words = async (markup: unknown): Promise<string> =>
  String(await markup)
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll(/\s+/g, ' ');

const sentenceOf = (action: string, detail: Readonly<Record<string, unknown>> = {}) =>
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

const hook = { workspace: 'game', hook: 'hook_1', origin: 'https://ci.example.com' };

describe('a sentence', () => {
  const expected: Readonly<Record<AuditAction, readonly (readonly [Readonly<Record<string, unknown>>, string])[]>> = {
    'session.signed-in': [
      [{ by: 'token' }, 'ada signed in with a token'],
      [{ by: 'link' }, 'ada signed in with the first-start link'],
    ],
    'session.signed-out': [[{}, 'ada signed out']],
    'token.created': [
      [
        { name: 'ci', scopes: ['sync', 'locks:write'], workspaces: null },
        'ada created the token ci with sync, locks:write',
      ],
      [
        { name: 'ci', scopes: ['sync'], workspaces: ['game', 'film'] },
        'ada created the token ci with sync, only in game, film',
      ],
    ],
    'token.revoked': [[{ name: 'ci' }, 'ada revoked the token ci']],
    'lock.force-released': [
      [
        { workspace: 'game', path: 'Content/Hero.uasset', owner: 'ci', reason: 'the runner is gone' },
        'ada released the lock on Content/Hero.uasset in game, held by ci, by force: “the runner is gone”',
      ],
      [{ workspace: 'game', path: 'a', owner: 'ci' }, 'ada released the lock on a in game, held by ci, by force'],
    ],
    'hook.registered': [[hook, 'ada registered the webhook to https://ci.example.com in game']],
    'hook.replaced': [[hook, 'ada changed the webhook to https://ci.example.com in game']],
    'hook.paused': [[hook, 'ada paused the webhook to https://ci.example.com in game']],
    'hook.resumed': [[hook, 'ada resumed the webhook to https://ci.example.com in game']],
    'hook.removed': [[hook, 'ada removed the webhook to https://ci.example.com in game']],
    'delivery.sent-again': [[hook, 'ada sent a delivery of the webhook to https://ci.example.com in game again']],
    'workspace.added': [
      [
        { workspace: 'game', remote: 'https://git.example.com/game.git' },
        'ada added the workspace game, a mirror of https://git.example.com/game.git',
      ],
    ],
    'workspace.removed': [
      [
        { workspace: 'game', remote: 'https://git.example.com/game.git' },
        'ada removed the workspace game, a mirror of https://git.example.com/game.git',
      ],
    ],
  };

  test.each(Object.entries(expected))('tells of %s', async (action, cases) => {
    for (const [detail, text] of cases) expect(await sentenceOf(action, detail)).toBe(text);
  });

  test('tells of an action of another version, and of an entry that lacks what it should have', async () => {
    expect(await sentenceOf('planet.moved', { to: 'mars' })).toBe('ada did planet.moved');
    for (const action of auditActions) {
      for (const detail of [{}, { name: 7, path: null, scopes: 'sync', origin: {}, by: [] }]) {
        expect(await sentenceOf(action, detail)).toMatch(/^ada \w/);
      }
    }
  });
});

describe.each(realDatabaseKinds)('the page of the audit on $name', (kind) => {
  let service: RunningService;
  let visitor: Visitor;
  let root: { readonly id: string; readonly secret: string };
  beforeAll(async () => {
    service = await startTestService(kind);
    root = await service.token({ name: 'root', scopes: ['admin'] });
    visitor = visit(service);
    await visitor.signIn(root.secret);
    await service.storage.commit('global', async (db) => {
      const { now } = service.storage;
      const ada = { name: 'ada', tokenId: 'tok_ada', address: '192.0.2.7' };
      const operator = { name: 'operator:grace', tokenId: null, address: null };
      for (let index = 0; index < 60; index += 1) {
        await recordAudit(db, now, {
          actor: ada,
          action: 'token.revoked',
          detail: { token: 't', name: `ci ${index}` },
        });
      }
      await recordAudit(db, now, { actor: operator, action: 'workspace.added', detail: { workspace: 'game' } });
      await sql`insert into audit (at, actor, action, detail) values (1, 'ada', 'planet.moved', '{"to":"mars"}')`.execute(
        db,
      );
    });
  });
  afterAll(() => service.stop());

  const rows = async (query = ''): Promise<readonly string[]> => {
    const { text } = await visitor.get(`/audit${query}`);
    const [, body = ''] = /<tbody>(.*)<\/tbody>/s.exec(text) ?? [];
    return Promise.all(body.split('</tr>').slice(0, -1).map(words));
  };

  test('begins with the newest, and shows what another version has recorded as it is', async () => {
    const [first, second, third, ...more] = await rows();
    expect(first).toContain('ada did planet.moved');
    expect(first).toContain('&quot;to&quot;: &quot;mars&quot;');
    expect(second).toMatch(/operator:grace added the workspace game.*at the command line.*none/);
    expect(third).toMatch(/ada revoked the token ci 59.*tok_ada.*192\.0\.2\.7/);
    expect(more).toHaveLength(47);
  });

  test('goes on to what is older, to the end, and with its filter', async () => {
    const seen: string[] = [];
    let address: string | undefined = '/audit?action=token.revoked&actor=tok_ada';
    while (address !== undefined) {
      const { text }: { text: string } = await visitor.get(address);
      seen.push(...[...text.matchAll(/<bdi>ci (\d+)<\/bdi>/g)].map(([, index = '']) => index));
      expect(text).not.toContain('signed in');
      address = /<a href="([^"]+)" rel="next">/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(seen).toEqual(Array.from({ length: 60 }, (_, index) => String(59 - index)));
  });

  test.each([
    ['?action=workspace.added', 1],
    ['?action=planet.moved', 1],
    ['?actor=ada', 50],
    ['?actor=operator%3Agrace&action=workspace.added', 1],
    ['?actor=operator%3Agrace&action=token.revoked', 0],
    ['?actor=nobody', 0],
  ])('shows only what %s asks for', async (query, count) => {
    expect(await rows(query)).toHaveLength(count);
  });

  test('finds what one token did by its id, keeps what was asked for, and says where there is nothing', async () => {
    expect(await rows(`?actor=${root.id}`)).toHaveLength(1);
    const { text } = await visitor.get('/audit?actor=nobody&action=hook.paused');
    expect(text).toContain('value="nobody"');
    expect(text).toContain('<option value="hook.paused" selected>');
    expect(text).toContain('No entry matches.');
  });

  test('does not repeat the secret of a token that was typed for its name', async () => {
    const secret = newTokenSecret();
    const answer = await visitor.get(`/audit?actor=${secret}`);
    expect(answer.status).toBe(422);
    expect(answer.text).toContain('This is the secret of a token.');
    expect(answer.text + service.log()).not.toContain(secret);
  });

  test('is not broken by what cannot be asked for', async () => {
    expect((await visitor.get('/audit?before=x')).status).toBe(422);
    expect((await visitor.get('/audit?actor=%00')).status).toBe(422);
    expect((await visitor.get('/audit?action=%00')).status).toBe(200);
    expect((await visitor.get('/audit?before=1')).text).toContain('There are no older entries.');
  });

  test('has hostile words as text', async () => {
    await service.storage.commit('global', async (db) => {
      for (const text of hostileTexts) {
        const actor = { name: text, tokenId: text, address: text };
        const detail = { path: text, owner: text, reason: text, workspace: text, [text]: text };
        await recordAudit(db, service.storage.now, { actor, action: 'lock.force-released', detail });
      }
    });
    for (const text of hostileTexts) {
      const page = await visitor.get(`/audit?actor=${encodeURIComponent(text)}`);
      expect(page.status).toBe(200);
      expectHarmless(page.text);
    }
    const { text } = await visitor.get('/audit');
    expectHarmless(text);
    expect(text).toContain('&lt;script&gt;');
  });
});
