import { describe, expect, test } from 'vitest';
import { besideService } from '../../command/in-service.ts';

const { run, json, ask, lock, inDatabase, audited } = besideService();

const sampleRemote = async (): Promise<string> =>
  (await json('workspace', 'list')).workspaces.find(({ id }: { id: string }) => id === 'sample').remote;

describe('workspace add', () => {
  test('checks the remote, and the running service has the workspace at once', async () => {
    const args = ['--remote', await sampleRemote()];
    const { code, stdout } = await run('workspace', 'add', 'copy', ...args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Added the workspace "copy"\. It mirrors file:\S+\. The remote responds\.\n$/);
    expect((await ask('GET', '/workspaces/copy/branches')).body.branches).toHaveLength(2);
    const { workspace } = await json('workspace', 'add', 'another', ...args);
    expect(workspace).toMatchObject({ id: 'another', remote: await sampleRemote() });
  });

  test('adds nothing if the remote does not answer, and reports the error', async () => {
    const remote = 'https://127.0.0.1:1/game.git';
    const { code, stdout, stderr } = await run('workspace', 'add', 'deaf', '--remote', remote);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`git could not list the branches of ${remote}`);
    expect(stderr).toContain('Nothing was changed. Use --no-check');
    expect((await ask('GET', '/workspaces/deaf/locks')).status).toBe(404);
    const unchecked = await run('workspace', 'add', 'deaf', '--remote', remote, '--no-check');
    expect(unchecked).toMatchObject({ code: 0, stdout: expect.stringContaining('The remote was not contacted.') });
    expect((await ask('GET', '/workspaces/deaf/locks')).status).toBe(200);
  });

  test('accepts ids of up to 64 characters', async () => {
    const add = (id: string) => run('workspace', 'add', id, '--remote', 'https://git.example.com/a.git', '--no-check');
    expect((await add('a'.repeat(65))).stderr).toContain('A workspace id has 1 to 64 characters');
    expect((await add('a'.repeat(64))).code).toBe(0);
  });
});

describe('workspace remove', () => {
  test('refuses while a lock is held', async () => {
    await lock('Content/Held.uasset');
    const { code, stderr } = await run('workspace', 'remove', 'sample');
    expect(code).toBe(1);
    expect(stderr).toContain(
      'The workspace "sample" was not removed: it has 1 active lock. Wait until they expire, or release them with "workspace-service lock release PATH --force --reason TEXT".',
    );
    expect((await ask('DELETE', '/workspaces/sample/locks/Content%2FHeld.uasset')).status).toBe(204);
  });

  test('removes the workspace', async () => {
    await run('workspace', 'add', 'short.lived', '--remote', await sampleRemote());
    expect((await ask('GET', '/workspaces/short.lived/locks')).status).toBe(200);
    expect(await json('workspace', 'remove', 'short.lived')).toEqual({ removed: 'short.lived' });
    expect((await ask('GET', '/workspaces/short.lived/locks')).status).toBe(404);
  });
});

describe('workspace update', () => {
  const rowOf = (id: string) =>
    inDatabase(({ read }) => read.selectFrom('workspaces').selectAll().where('id', '=', id).executeTakeFirst());

  test('changes each LFS setting independently, and records the changes in the audit', async () => {
    const store = 'https://lfs.example.com/game';
    const args = ['--remote', 'ssh://git@git.example.com/game.git', '--no-check', '--desk-ttl', '24h'];
    await run('workspace', 'add', 'desks', ...args);
    expect(await rowOf('desks')).toMatchObject({ desk_ttl: '1d', lfs_url: null });
    const deskTtl = await json('workspace', 'update', 'desks', '--desk-ttl', '14d');
    expect(deskTtl).toEqual({ workspace: 'desks', desk_ttl: '14d' });
    const lfsUrl = await run('workspace', 'update', 'desks', '--lfs-url', `${store}/`);
    expect(lfsUrl).toEqual({ code: 0, stdout: 'Changed the workspace "desks".\n', stderr: '' });
    const lfs = await json('workspace', 'update', 'desks', '--lfs', 'none');
    expect(lfs).toEqual({ workspace: 'desks', lfs_mode: 'none' });
    const { workspaces } = await json('workspace', 'list');
    const settings = { desk_ttl: '14d', lfs_url: store, lfs_mode: 'none' };
    expect(workspaces.find(({ id }: { id: string }) => id === 'desks')).toMatchObject({ settings });
    const entries = await audited('workspace.updated');
    expect(entries).toMatchObject([
      { detail: { workspace: 'desks', lfs_mode: 'none' } },
      { detail: { workspace: 'desks', lfs_url: store } },
      { detail: { desk_ttl: '14d' } },
    ]);
    await run('workspace', 'update', 'desks', '--lfs-url', 'none');
    expect(await rowOf('desks')).toMatchObject({ desk_ttl: '14d', lfs_url: null });
  });

  test('sets the branches that locks are compared with, and what happens to a lock on an outdated file', async () => {
    const args = ['--remote', 'https://git.example.com/game.git', '--no-check'];
    await run('workspace', 'add', 'compared', ...args, '--latest', 'warn');
    await run('workspace', 'update', 'compared', '--desk-ttl', '8h');
    expect(await rowOf('compared')).toMatchObject({ latest: 'warn', latest_branches: null });
    const flags = ['--latest', 'refuse', '--latest-branches', 'main, release/*'];
    await run('workspace', 'update', 'compared', ...flags);
    expect(await rowOf('compared')).toMatchObject({ latest: 'refuse', latest_branches: 'main,release/*' });
    const wrong = await run('workspace', 'update', 'compared', '--latest', 'on', '--latest-branches', 'a*b*');
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('It must be one of refuse, warn, off.');
    expect(wrong.stderr).toContain('It may have only one * between slashes.');
  });

  test('checks a new remote before changing it, and never shows its credentials', async () => {
    const remote = 'https://127.0.0.1:1/game.git';
    const secret = 'https://ada:s3cret@127.0.0.1:1/moved.git';
    await run('workspace', 'add', 'moved', '--remote', remote, '--no-check');
    const deaf = await run('workspace', 'update', 'moved', '--remote', secret);
    expect([deaf.code, deaf.stderr]).toEqual([1, expect.stringContaining('Nothing was changed. Use --no-check')]);
    expect(await rowOf('moved')).toMatchObject({ remote });
    const { code, stdout } = await run('workspace', 'update', 'moved', '--remote', secret, '--no-check');
    expect([code, stdout]).toEqual([0, expect.stringContaining('It mirrors https://127.0.0.1:1/moved.git.')]);
    expect(await rowOf('moved')).toMatchObject({ remote: secret });
    const [entry] = await audited('workspace.updated');
    expect(entry.detail).toEqual({ workspace: 'moved', remote: 'https://127.0.0.1:1/moved.git' });
    const wrong = await run('workspace', 'update', 'moved', '--remote', 'https://ada:s3cret@');
    expect(wrong.stderr).not.toContain('s3cret');
  });

  test.each([
    [[], 'There is nothing to change'],
    [['--desk-ttl', '31d'], 'It must be from 1s to 30d.'],
    [['--lfs', 'all'], 'It must be one of head, none.'],
    [['--lfs-url', 'ssh://a/b'], 'It must be like https://host/path.'],
    [['--lfs-url', 'https://a:b@c/d'], 'It must not have a user name or a password'],
    [['--lfs-url', 'https://c/d?e'], 'It must not have a query'],
  ])('refuses %o', async (args, sentence) => {
    const { code, stderr } = await run('workspace', 'update', 'sample', ...args);
    expect(code).toBe(2);
    expect(stderr).toContain(sentence);
  });
});

describe('workspace lfs', () => {
  test('prints the .lfsconfig and the commands for one clone, with the public URL', async () => {
    const url = 'https://a.example/v1/workspaces/sample/lfs';
    expect(await json('workspace', 'lfs', 'sample', '--public-url', 'https://a.example/v1/')).toEqual({
      url,
      lfsconfig: `[lfs]\n  url = ${url}\n  locksverify = true\n`,
      per_clone: [`git config lfs.url ${url}`, 'git config lfs.locksverify true'],
    });
    const { code, stdout } = await run('workspace', 'lfs', 'sample', '--public-url', 'https://a.example');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^# The remote does not use http\(s\), .* workspace update sample --lfs-url https:\/\/…\n/);
    expect(stdout).toContain(`  url = ${url}\n`);
    expect(stdout).toContain(`git config lfs.url ${url}\n`);
  });
});
