import { expect, test } from 'vitest';
import { besideService } from '../../command/in-service.ts';
import { runMain } from '../../command/run-main.ts';
import { pushDelivery } from '../syncs/push-delivery.ts';

const { run, json, ask, audited } = besideService();

const url = 'https://assets.example.com';
const hook = (...args: readonly string[]) => json('workspace', 'push-hook', 'sample', '--public-url', url, ...args);

const push = (secret: string) => {
  const { headers, raw } = pushDelivery('github', secret);
  return ask('POST', '/workspaces/sample/push/github', { token: undefined, headers, raw });
};

test('prints the URL for each forge, and the same secret every time', async () => {
  const printed = await hook();
  expect(printed).toEqual({
    workspace: 'sample',
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    content_type: 'application/json',
    hooks: ['github', 'gitlab', 'gitea'].map((forge) => ({
      forge,
      url: `https://assets.example.com/v1/workspaces/sample/push/${forge}`,
    })),
  });
  expect(await hook()).toEqual(printed);
});

test('the running service accepts events that are signed with the secret, until it is rotated', async () => {
  const { secret } = await hook();
  expect((await push(secret)).status).toBe(202);
  const { secret: next } = await hook('--rotate');
  expect(next).not.toBe(secret);
  expect((await push(secret)).status).toBe(404);
  expect((await push(next)).status).toBe(202);
  const { stdout } = await run('workspace', 'push-hook', 'sample', '--public-url', url, '--rotate');
  expect(stdout).toMatch(/\n\nThe previous secret is no longer valid\.\n$/);
  expect(stdout).toContain((await hook()).secret);
});

test('the audit has each new secret without its text, and no list of workspaces shows it', async () => {
  const before = (await audited('push-secret.created')).length;
  const { secret } = await hook('--rotate');
  const entries = await audited('push-secret.created');
  expect(entries).toHaveLength(before + 1);
  expect(entries[0]).toMatchObject({ actor: expect.stringMatching(/^operator:/), detail: { workspace: 'sample' } });
  const shown = [
    await run('audit', '--json'),
    await run('workspace', 'list'),
    await run('workspace', 'list', '--json'),
  ];
  expect(JSON.stringify([shown, (await ask('GET', '/workspaces')).body])).not.toContain(secret);
});

test('refuses an unknown workspace, and a service without a URL', async () => {
  const unknown = await run('workspace', 'push-hook', 'simple', '--public-url', url);
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('sample')]);
  const { code, stderr } = await run('workspace', 'push-hook', 'sample');
  expect([code, stderr]).toEqual([2, expect.stringContaining('--public-url is missing: ')]);
  expect((await runMain(['workspace', 'push-hook', '--help'])).stdout).toContain('--rotate');
});
