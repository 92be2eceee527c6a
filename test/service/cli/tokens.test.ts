import { describe, expect, test } from 'vitest';
import { scopeMeanings, scopes } from '../../../src/interface/scopes.ts';
import { ask } from '../../support/running-service.ts';
import { besideService } from './in-service.ts';
import { runMain } from './run-main.ts';

const { service, run, json } = besideService();

const statusWith = async (token: string, path = '/workspaces') =>
  (await ask(service().baseUrl, 'GET', path, { token })).status;

describe('token create', () => {
  test('prints the secret once, and the running service takes it at once', async () => {
    const { code, stdout, stderr } = await run('token', 'create', '--name', 'ci', '--scopes', 'sync,locks:write');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [secret = ''] = stdout.split('\n');
    expect(secret).toMatch(/^wsa_[\w-]{43}$/);
    expect(stdout).toContain('it is not shown again');
    expect(stdout.split(secret)).toHaveLength(2);
    expect(await statusWith(secret)).toBe(200);
  });

  test('gives the token and its secret as JSON', async () => {
    const { token, secret } = await json('token', 'create', '--name', 'j', '--scopes', 'sync,sync', '--expires', '2h');
    expect(token).toMatchObject({ name: 'j', scopes: ['sync'], workspaces: null, state: 'active' });
    expect(Date.parse(token.expires_at) - Date.parse(token.created_at)).toBe(2 * 3_600_000);
    expect(await statusWith(secret)).toBe(200);
  });

  test('limits the token to the workspaces that are named', async () => {
    await run('workspace', 'add', 'hidden', '--remote', 'https://git.example.com/hidden.git', '--no-check');
    const { secret } = await json('token', 'create', '--name', 'l', '--scopes', 'locks:read', '--workspaces', 'sample');
    expect(await statusWith(secret, '/workspaces/sample/locks')).toBe(200);
    expect(await statusWith(secret, '/workspaces/hidden/locks')).toBe(404);
  });

  test('refuses workspaces that there are not, and makes no token', async () => {
    const args = ['--name', 'nobody', '--scopes', 'sync', '--workspaces', 'sampel,else'];
    const { code, stdout, stderr } = await run('token', 'create', ...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('There is no workspace "sampel". Did you mean sample?');
    expect(stderr).toContain('There is no workspace "else".');
    expect((await run('token', 'list')).stdout).not.toContain('nobody');
  });

  test('refuses an administrator of only some workspaces', async () => {
    const { code, stderr } = await run('token', 'create', '--name=x', '--scopes=sync,admin', '--workspaces=sample');
    expect(code).toBe(2);
    expect(stderr).toContain('A token with the scope admin cannot be limited to some workspaces');
  });

  test('tells all scopes and what they mean when one is wrong', async () => {
    const { code, stderr } = await run('token', 'create', '--name', 'x', '--scopes', 'sync,locks:reed,root');
    expect(code).toBe(2);
    expect(stderr).toContain('--scopes is "locks:reed". Did you mean locks:read?');
    expect(stderr).toContain('--scopes is "root".');
    for (const scope of scopes) expect(stderr).toContain(`${scope} (${scopeMeanings[scope]})`);
  });

  test.each([
    ['--name=', '--name'],
    ['--name=a\u202eb', '--name'],
    [`--name=${'x'.repeat(101)}`, '--name'],
    ['--expires=0d', '--expires'],
    ['--expires=1w', '--expires'],
    ['--expires=99999999999d', '--expires'],
    ['--scopes=', '--scopes'],
  ])('refuses %j', async (bad, flag) => {
    const good = ['--name=a', '--scopes=sync'].filter((given) => !given.startsWith(`${flag}=`));
    const { code, stdout, stderr } = await runMain(['token', 'create', ...good, bad]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`workspace-service: ${flag} is `);
  });
});

describe('token list', () => {
  test('shows what each token may do, and never a secret', async () => {
    const { token, secret } = await json('token', 'create', '--name', 'shown', '--scopes', 'hooks:write');
    const { stdout } = await run('token', 'list');
    expect(stdout.split('\n')[0]).toMatch(/^ID +NAME +STATE +SCOPES +WORKSPACES +CREATED +EXPIRES +LAST USED$/);
    expect(stdout).toMatch(new RegExp(`^${token.id} +shown +active +hooks:write +all +\\S+ \\S+ UTC +never +-$`, 'm'));
    const { tokens } = await json('token', 'list');
    expect(tokens).toContainEqual(token);
    expect(stdout + JSON.stringify(tokens)).not.toContain(secret);
    expect(stdout + JSON.stringify(tokens)).not.toContain('wsa_');
  });
});

describe('token revoke', () => {
  test('ends a token at once for the running service', async () => {
    const { token, secret } = await json('token', 'create', '--name', 'ends', '--scopes', 'sync');
    expect(await statusWith(secret)).toBe(200);
    expect(await run('token', 'revoke', token.id)).toMatchObject({ code: 0, stderr: '' });
    expect(await statusWith(secret)).toBe(401);
    expect((await run('token', 'list')).stdout).toMatch(new RegExp(`^${token.id} +ends +revoked `, 'm'));
    expect(await json('token', 'revoke', token.id)).toEqual({ id: token.id, state: 'revoked' });
  });

  test('fails for a token that there is not', async () => {
    const { code, stderr } = await run('token', 'revoke', 'tok_00000000-0000-4000-8000-000000000000');
    expect(code).toBe(1);
    expect(stderr).toContain('There is no token tok_00000000-0000-4000-8000-000000000000.');
  });

  test('does not repeat a secret that is given for an id', async () => {
    const secret = `wsa_${'s'.repeat(43)}`;
    const { code, stdout, stderr } = await run('token', 'revoke', secret);
    expect(code).toBe(2);
    expect(stdout + stderr).not.toContain('sss');
    expect(stderr).toContain('workspace-service token list');
  });
});

/** Last in this file, because the service that runs all the while writes a use down only some seconds after it. */
test('token list shows when a token was used last', { timeout: 40_000 }, async () => {
  const { token, secret } = await json('token', 'create', '--name', 'busy', '--scopes', 'sync');
  expect(await statusWith(secret)).toBe(200);
  const used = async () => (await json('token', 'list')).tokens.find(({ id }: { id: string }) => id === token.id);
  await expect
    .poll(used, { timeout: 30_000, interval: 1_000 })
    .toMatchObject({ last_used_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) });
  const { last_used_at } = await used();
  const since = Date.parse(last_used_at) - Date.parse(token.created_at);
  expect(since).toBeGreaterThanOrEqual(0);
  expect((await run('token', 'list')).stdout).toMatch(new RegExp(`^${token.id} .* never +\\S+ \\S+ UTC$`, 'm'));
});
