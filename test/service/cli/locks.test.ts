import { userInfo } from 'node:os';
import { describe, expect, test } from 'vitest';
import { storeLocks } from '../../support/stored-rows.ts';
import { startWebhookReceiver } from '../../support/webhook-receiver.ts';
import { besideService } from './in-service.ts';

const { inDatabase, run, json, ask, lock } = besideService();

const run42 = 'https://github.com/studio/game/actions/runs/42/attempts/1';
const operator = `operator:${userInfo().username}`;

describe('lock list', () => {
  test('shows path, owner, times, run and note of each lock', async () => {
    const note = 'Moving the gate';
    const { body } = await lock('Content/Maps/Arena.umap', { ttl: '12m', origin: run42, note });
    const { stdout } = await run('lock', 'list', 'sample');
    const [head, row] = stdout.split('\n');
    expect(head).toMatch(/^PATH +OWNER +SINCE +EXPIRES +ORIGIN +NOTE$/);
    expect(row).toMatch(
      /^Content\/Maps\/Arena\.umap +dev +\d{4}-\d\d-\d\d \d\d:\d\d UTC +in 1[12] min \(\S+ \S+ UTC\) +https:\/\/github\.com\S+ +Moving the gate$/,
    );
    expect(row).toContain(run42);
    expect(await json('lock', 'list', 'sample')).toEqual({ locks: [body] });
    await run('lock', 'release', 'sample', 'Content/Maps/Arena.umap', '--force', '--reason', 'Ill');
  });

  test('escapes paths, so that they cannot control the terminal', async () => {
    const path = 'Content/\u00adgnp.exe';
    expect((await lock(path)).status).toBe(201);
    const { stdout } = await run('lock', 'list', 'sample');
    expect(stdout).not.toContain('\u00ad');
    expect(stdout).toContain('Content/\\u{ad}gnp.exe');
    expect((await run('lock', 'list', 'sample', '--json')).stdout).not.toContain('\u00ad');
    expect((await json('lock', 'list', 'sample')).locks[0].path).toBe(path);
    const { stderr } = await run('lock', 'release', 'sample', path);
    expect(stderr).not.toContain('\u00ad');
    expect((await run('lock', 'release', 'sample', path, '--force', '--reason', 'Ill')).code).toBe(0);
  });

  test('reads all pages', async () => {
    // Far more locks than fit on a page.
    const many = Array.from({ length: 1_203 }, (_, n) => ({ workspace_id: 'sample', path: `Many/${n}` }));
    await inDatabase((storage) => storeLocks(storage, ...many));
    expect((await json('lock', 'list', 'sample')).locks).toHaveLength(1_203);
    expect((await run('lock', 'list', 'sample')).stdout.trimEnd().split('\n')).toHaveLength(1_204);
  });
});

test('lock list --waiting shows who waits for which lock', async () => {
  expect((await run('lock', 'list', 'sample', '--waiting')).stdout).toBe('No waiting requests found.\n');
  expect((await run('lock', 'list', 'sample', '--waiting', '--prefix=x/')).stdout).toBe('No waiting requests found.\n');
  expect((await run('lock', 'list', 'sample', '--prefix=x/')).stdout).toBe('No locks found.\n');
  await lock('waited/for');
  const headers = { prefer: 'wait=30', referer: run42 };
  const waiting = ask('POST', '/workspaces/sample/locks', {
    json: { path: 'waited/for', type: 'exclusive', ttl: '1h' },
    headers,
  });
  const list = async () => (await run('lock', 'list', 'sample', '--waiting')).stdout;
  await expect.poll(list).toContain('waited/for  1      dev');
  const { queue } = await json('lock', 'list', 'sample', '--waiting');
  expect(queue).toEqual([
    expect.objectContaining({ path: 'waited/for', position: 1, origin: run42, priority: 'normal' }),
  ]);
  expect(queue[0]).not.toHaveProperty('placeId');
  await run('lock', 'release', 'sample', 'waited/for', '--force', '--reason', 'Ill');
  expect((await waiting).status).toBe(201);
  await run('lock', 'release', 'sample', 'waited/for', '--force', '--reason', 'Ill');
});

describe('lock release', () => {
  test('immediately notifies a client that waits for the path', async () => {
    await lock('waited/for');
    const waiting = ask('GET', '/workspaces/sample/locks?path=waited/for', { headers: { prefer: 'wait=30' } });
    const waiters = async () =>
      /^workspace_lock_waiters\{workspace="sample"\} (\d+)$/m.exec((await ask('GET', '/../metrics')).text)?.[1];
    await expect.poll(waiters).toBe('1');
    const began = performance.now();
    expect((await run('lock', 'release', 'sample', 'waited/for', '--force', '--reason', 'Ill')).code).toBe(0);
    expect((await waiting).body.locks).toEqual([]);
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  test('leaves the lock of another owner in place, and names the holder', async () => {
    const path = 'Content/Hero.uasset';
    await lock(path, { origin: run42, note: 'Repaint' });
    const { code, stdout, stderr } = await run('lock', 'release', 'sample', path);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /The lock on Content\/Hero\.uasset is held by dev, from the run \S+, since .* until .*, with the note "Repaint"\. .*--force/,
    );
    expect(stderr).toContain(run42);
    expect((await lock(path)).status).toBe(409);
  });

  test('releases it with --force, and records the operator for hooks and audit', async () => {
    const receiver = await startWebhookReceiver();
    try {
      const path = 'Content/Gate.fbx';
      await ask('POST', '/workspaces/sample/hooks', { json: { url: receiver.url(), events: ['lock.released'] } });
      const { body } = await lock(path);
      // A path as users write it on Windows.
      expect(await json('lock', 'release', 'sample', '.\\Content\\Gate.fbx', '--force', '--reason', 'Ill')).toEqual({
        released: body,
      });
      const data = { released_by: operator, forced: true, lock: { path } };
      expect(JSON.parse((await receiver.nextDelivery()).body)).toMatchObject({ type: 'lock.released', data });
      const { entries } = await json('audit', '--action', 'lock.force-released', '--limit', '1');
      expect(entries).toMatchObject([{ actor: operator, detail: { path } }]);
      expect((await lock(path)).status).toBe(201);
    } finally {
      await receiver.close();
    }
  });
});
