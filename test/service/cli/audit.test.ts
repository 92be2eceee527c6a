import { describe, expect, test } from 'vitest';
import { besideService } from '../../command/in-service.ts';

const { run, json, ask, lock } = besideService();

const lines = (stdout: string): string[] => stdout.trimEnd().split('\n');

describe('audit', () => {
  test('shows who did what and when, with the token and the IP address', async () => {
    const path = 'Content/My Hero.uasset';
    await lock(path);
    const { token, secret } = await json('token', 'create', '--name', 'the admin', '--scopes', 'locks:admin');
    const target = `/workspaces/sample/locks/${encodeURIComponent(path)}?force=true`;
    expect((await ask('DELETE', target, { token: secret })).status).toBe(204);
    const [head, row] = lines((await run('audit')).stdout);
    expect(head).toMatch(/^AT +ACTOR +TOKEN ID +ADDRESS +ACTION +DETAIL$/);
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
  });

  test('stops at the limit, and mentions older entries', async () => {
    const all = (await json('audit')).entries;
    expect(all.length).toBeGreaterThan(3);
    const first = await run('audit', '--limit', '2');
    expect(lines(first.stdout)).toHaveLength(5);
    expect(first.stdout).toContain('\n\nThere are older entries: raise --limit.\n');
    expect(await json('audit', '--limit', '2')).toEqual({ entries: all.slice(0, 2), complete: false });
    expect(await json('audit', '--limit', String(all.length))).toEqual({ entries: all, complete: true });
  });
});
