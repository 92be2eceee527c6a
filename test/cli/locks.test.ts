import { describe, expect, test } from 'vitest';
import { besideService } from '../command/in-service.ts';

const { run, json, ask, lock } = besideService();

const run42 = 'https://github.com/studio/game/actions/runs/42/attempts/1';

describe('lock list', () => {
  test('shows path, owner, times, run and note of each lock', async () => {
    const note = 'Moving the gate';
    const { body } = await lock('Content/Maps/Arena.umap', { ttl: '12m', origin: run42, note });
    const { stdout } = await run('lock', 'list');
    const [head, row] = stdout.split('\n');
    expect(head).toMatch(/^PATH +OWNER +SINCE +EXPIRES +ORIGIN +NOTE$/);
    expect(row).toMatch(
      /^Content\/Maps\/Arena\.umap +dev +\d{4}-\d\d-\d\d \d\d:\d\d UTC +in 1[12] min \(\S+ \S+ UTC\) +https:\/\/github\.com\S+ +Moving the gate$/,
    );
    expect(row).toContain(run42);
    expect(await json('lock', 'list')).toEqual({ locks: [body] });
    await run('lock', 'release', 'Content/Maps/Arena.umap', '--force', '--reason', 'Ill');
  });

  test('escapes paths, so that they cannot control the terminal', async () => {
    const path = 'Content/\u00adgnp.exe';
    expect((await lock(path)).status).toBe(201);
    const { stdout } = await run('lock', 'list');
    expect(stdout).not.toContain('\u00ad');
    expect(stdout).toContain('Content/\\u{ad}gnp.exe');
    expect((await run('lock', 'list', '--json')).stdout).not.toContain('\u00ad');
    expect((await json('lock', 'list')).locks[0].path).toBe(path);
    const { stderr } = await run('lock', 'release', 'Content/\u00adother.exe');
    expect(stderr).not.toContain('\u00ad');
    expect((await run('lock', 'release', path, '--force', '--reason', 'Ill')).code).toBe(0);
  });
});

test('lock list --waiting shows who waits for which lock', async () => {
  expect((await run('lock', 'list', '--waiting')).stdout).toBe('No waiting requests found.\n');
  expect((await run('lock', 'list', '--waiting', '--prefix=x/')).stdout).toBe('No waiting requests found.\n');
  expect((await run('lock', 'list', '--prefix=x/')).stdout).toBe('No locks found.\n');
  await lock('waited/for');
  const headers = { prefer: 'wait=30', referer: run42 };
  const waiting = ask('POST', '/workspaces/sample/locks', {
    json: { path: 'waited/for', type: 'exclusive', ttl: '1h' },
    headers,
  });
  const list = async () => (await run('lock', 'list', '--waiting')).stdout;
  await expect.poll(list).toContain('waited/for  1      dev');
  const { queue } = await json('lock', 'list', '--waiting');
  expect(queue).toEqual([
    expect.objectContaining({ path: 'waited/for', position: 1, origin: run42, priority: 'normal' }),
  ]);
  expect(queue[0]).not.toHaveProperty('placeId');
  await run('lock', 'release', 'waited/for', '--force', '--reason', 'Ill');
  expect((await waiting).status).toBe(201);
  await run('lock', 'release', 'waited/for', '--force', '--reason', 'Ill');
});
