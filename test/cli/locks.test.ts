import { expect, test } from 'vitest';
import { besideService } from '../command/in-service.ts';

const { run, json, lock } = besideService();

test('lock list and lock release escape paths, so that they cannot control the terminal', async () => {
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
