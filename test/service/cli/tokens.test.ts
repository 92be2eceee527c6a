import { describe, expect, test } from 'vitest';
import { besideService } from '../../command/in-service.ts';

const { run, json, ask } = besideService();

const statusWith = async (token: string, path = '/workspaces') => (await ask('GET', path, { token })).status;

describe('token create', () => {
  test('prints the secret once, and the running service accepts it at once', async () => {
    const { code, stdout, stderr } = await run('token', 'create', '--name', 'ci', '--scopes', 'sync,locks:write');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [secret = ''] = stdout.split('\n');
    expect(secret).toMatch(/^wsa_[\w-]{43}$/);
    expect(stdout).toContain('it is not shown again');
    expect(stdout).toContain('Scopes: sync, locks:write. Workspaces: all. Expires: never. Its locks belong to "ci".');
    expect(stdout.split(secret)).toHaveLength(2);
    expect(await statusWith(secret)).toBe(200);
  });

  test('limits the token in time and to the named workspaces', async () => {
    await run('workspace', 'add', 'hidden', '--remote', 'https://git.example.com/hidden.git', '--no-check');
    const limits = ['--expires', '2h', '--workspaces', 'sample'];
    const { token, secret } = await json('token', 'create', '--name=l', '--scopes=locks:read,sync,sync', ...limits);
    expect(token).toMatchObject({ name: 'l', scopes: ['locks:read', 'sync'], workspaces: ['sample'], state: 'active' });
    expect(Date.parse(token.expires_at) - Date.parse(token.created_at)).toBe(2 * 3_600_000);
    expect(await statusWith(secret, '/workspaces/sample/locks')).toBe(200);
    expect(await statusWith(secret, '/workspaces/hidden/locks')).toBe(404);
  });
});

test('token list shows the scopes of each token, and never a secret', async () => {
  const shown = ['--name=shown', '--owner= of-shown ', '--scopes=hooks:write'];
  const { token } = await json('token', 'create', ...shown);
  expect((await json('token', 'list')).tokens).toContainEqual(token);
  const { stdout } = await run('token', 'list');
  const [head = '', ...rows] = stdout.split('\n');
  expect(head).toMatch(/^ID +NAME +OWNER +STATE +SCOPES +WORKSPACES +CREATED AT +EXPIRES AT$/);
  const row = new RegExp(`^${token.id} +shown +of-shown +active +hooks:write +all +\\S+ \\S+ UTC +never$`);
  expect(rows).toContainEqual(expect.stringMatching(row));
  expect(stdout + JSON.stringify(await json('token', 'list'))).not.toContain('wsa_');
});

describe('token revoke', () => {
  test('revokes a token at once for the running service', async () => {
    const { token, secret } = await json('token', 'create', '--name', 'ends', '--scopes', 'sync');
    expect(await statusWith(secret)).toBe(200);
    expect(await run('token', 'revoke', token.id)).toMatchObject({ code: 0, stderr: '' });
    expect(await statusWith(secret)).toBe(401);
    expect((await run('token', 'list')).stdout).toMatch(new RegExp(`^${token.id} +ends +ends +revoked `, 'm'));
    expect(await json('token', 'revoke', token.id)).toEqual({ id: token.id, state: 'revoked' });
  });
});
