import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { besideService } from './in-service.ts';

const { folder, run, json, ask, lock } = besideService();

const sampleRemote = async (): Promise<string> =>
  (await json('workspace', 'list')).workspaces.find(({ id }: { id: string }) => id === 'sample').remote;

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

describe('workspace add', () => {
  test('asks the remote, and the running service has the workspace at once', async () => {
    const args = ['--remote', await sampleRemote(), '--allow-file-remotes'];
    const { code, stdout } = await run('workspace', 'add', 'copy', ...args);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^Added the workspace "copy", .*The remote answers; it has 2 branches, main by default\.\n$/,
    );
    expect((await ask('GET', '/workspaces/copy/branches')).body.branches).toHaveLength(2);
    const { workspace, branches } = await json('workspace', 'add', 'another', ...args);
    expect(workspace).toMatchObject({ id: 'another', remote: await sampleRemote() });
    expect(branches).toEqual(['main', 'release/1.0']);
  });

  test('adds nothing when the remote does not answer, and says what failed', async () => {
    const remote = 'https://127.0.0.1:1/game.git';
    const { code, stdout, stderr } = await run('workspace', 'add', 'deaf', '--remote', remote);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`git could not list the branches of ${remote}`);
    expect(stderr).toContain('Nothing was added. Use --no-check');
    expect((await ask('GET', '/workspaces/deaf/locks')).status).toBe(404);
    expect(await json('workspace', 'add', 'deaf', '--remote', remote, '--no-check')).toMatchObject({ branches: null });
    expect((await ask('GET', '/workspaces/deaf/locks')).status).toBe(200);
  });
});

describe('workspace remove', () => {
  test('refuses while a lock is held, and says which', async () => {
    await lock('Content/Held.uasset');
    const { code, stderr } = await run('workspace', 'remove', 'sample');
    expect(code).toBe(1);
    expect(stderr).toContain(
      'The workspace "sample" was not removed: it has locks on Content/Held.uasset (held by dev).',
    );
    expect((await ask('DELETE', '/workspaces/sample/locks/Content%2FHeld.uasset')).status).toBe(204);
  });

  test('removes the workspace with its mirror', async () => {
    await run('workspace', 'add', 'short.lived', '--remote', await sampleRemote(), '--allow-file-remotes');
    const { headers } = await ask('POST', '/workspaces/short.lived/sync', { json: { branch: 'main' } });
    const path = (headers.get('location') ?? '').replace(/^.*\/v1/, '');
    const state = async () => (await ask('GET', path)).body.status;
    await expect.poll(state, { timeout: 20_000 }).toBe('succeeded');
    const mirror = join(folder, 'mirrors', 'short%2elived.git');
    expect(await exists(mirror)).toBe(true);

    expect(await json('workspace', 'remove', 'short.lived')).toEqual({ removed: 'short.lived' });
    expect(await exists(mirror)).toBe(false);
    expect((await ask('GET', '/workspaces/short.lived/locks')).status).toBe(404);
  });
});
