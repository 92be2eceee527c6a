import { userInfo } from 'node:os';
import { describe, expect, test } from 'vitest';
import { besideService } from '../../command/in-service.ts';

const { inDatabase, run, json, ask, lock } = besideService();

const operator = `operator:${userInfo().username}`;

/** Records entries as another version, or someone with access to the database, may have done. */
const record = (...entries: { actor: string; action: string; detail: string; at?: number; address?: string }[]) =>
  inDatabase(({ commit, now }) =>
    commit('global', (db) =>
      db
        .insertInto('audit')
        .values(entries.map((entry) => ({ at: now, ...entry })))
        .execute(),
    ),
  );

const lines = (stdout: string): string[] => stdout.trimEnd().split('\n');

describe('audit', () => {
  test('shows who did what and when, with the token and the IP address', async () => {
    const path = 'Content/My Hero.uasset';
    await lock(path);
    const { token, secret } = await json('token', 'create', '--name', 'the admin', '--scopes', 'locks:admin');
    const target = `/workspaces/sample/locks/${encodeURIComponent(path)}?force=true`;
    expect((await ask('DELETE', target, { token: secret })).status).toBe(204);
    const [head, row] = lines((await run('audit')).stdout);
    expect(head).toMatch(/^WHEN +WHO +TOKEN +ADDRESS +ACTION +DETAIL$/);
    expect(row).toMatch(
      new RegExp(
        `^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC +the admin +${token.id} +127\\.0\\.0\\.1 +lock\\.force-released +workspace=sample path="Content/My Hero\\.uasset" .* owner=dev `,
      ),
    );
    const { entries } = await json('audit', '--limit', '1');
    expect(entries).toEqual([
      {
        sequence: expect.any(Number),
        at: expect.any(String),
        actor: 'the admin',
        token_id: token.id,
        address: '127.0.0.1',
        action: 'lock.force-released',
        detail: expect.objectContaining({ workspace: 'sample', path, owner: 'dev' }),
      },
    ]);
    expect((await json('audit', '--actor', token.id)).entries).toEqual(entries);
  });

  test('lists the entries of one workspace, without those of another with a similar name', async () => {
    const of = (workspace: string) => ({ actor: 'ada', action: 'x', detail: JSON.stringify({ workspace }) });
    await record(of('film_2'), of('filmx2'));
    expect((await json('audit', '--workspace', 'film_2')).entries).toMatchObject([{ detail: { workspace: 'film_2' } }]);
  });

  test('contains the changes that commands make', async () => {
    const remote = 'https://ada:s3cret-word@git.example.com/b.git';
    await run('workspace', 'add', 'brief', '--remote', remote, '--no-check');
    await run('workspace', 'remove', 'brief');
    const { token } = await json('token', 'create', '--name', 'brief', '--scopes', 'sync', '--expires', '2h');
    await run('token', 'revoke', token.id);
    const { entries } = await json('audit', '--limit', '4');
    const { name, scopes, workspaces, expires_at } = token;
    const workspace = { workspace: 'brief', remote: 'https://git.example.com/b.git' };
    expect(entries).toMatchObject([
      { action: 'token.revoked', detail: { token: token.id, name } },
      { action: 'token.created', detail: { token: token.id, name, owner: name, scopes, workspaces, expires_at } },
      { action: 'workspace.removed', detail: workspace },
      { action: 'workspace.added', detail: workspace },
    ]);
    expect(JSON.stringify(entries)).not.toMatch(/s3cret|wsa_/);
    for (const { actor, token_id, address } of entries) {
      expect({ actor, token_id, address }).toEqual({ actor: operator, token_id: null, address: null });
    }
  });

  test('stops at the limit, and says how to list older entries', async () => {
    const all = (await json('audit')).entries;
    expect(all.length).toBeGreaterThan(3);
    const first = await run('audit', '--limit', '2');
    expect(lines(first.stdout)).toHaveLength(5);
    expect(first.stdout).toContain(`\n\nThere are older entries: add --before ${all[1].sequence}.\n`);
    const { next } = await json('audit', '--limit', '2');
    expect(next).toBe(all[1].sequence);
    expect((await json('audit', '--before', String(next))).entries).toEqual(all.slice(2));
    expect((await json('audit')).next).toBeNull();
  });

  test('escapes control characters and misleading text in recorded values', async () => {
    const evil = 'x\u001b[2J\u202e\n2026-01-01 00:00 UTC  operator:root';
    const detail = JSON.stringify({ path: evil, owner: 'a owner=b', 'a=b': '', plain: 'a/b', reason: '"' });
    await record({ actor: evil, action: evil, address: evil, detail });
    const { stdout } = await run('audit', '--limit', '1');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the output must not contain these characters.
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(lines(stdout)).toHaveLength(4);
    expect(stdout).toContain('x\\u{1b}[2J\\u{202e}\\u{a}2026-01-01');
    expect(stdout).toContain(' owner="a owner=b" "a=b"="" plain=a/b reason="\\""');
    const machine = (await run('audit', '--limit', '1', '--json')).stdout;
    expect(machine).not.toContain('\u202e');
    expect(JSON.parse(machine).entries[0]).toMatchObject({ actor: evil, address: evil, detail: { path: evil } });
  });
});
