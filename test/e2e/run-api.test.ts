import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readActionFile } from '../support/runner/action-file.ts';
import { runWithRunApi } from '../support/runner/run-api.ts';
import { openScene } from './scene.ts';

const scene = openScene();
const { main, post = '' } = await readActionFile();
let folder: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'run-api-')));
  for (const name of ['workspace', 'temp']) await mkdir(join(folder, name));
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));

const githubToken = 'ghs_0123456789';
const places = () => ({ workspace: join(folder, 'workspace'), temp: join(folder, 'temp') });

describe('in a runner that others wrote', () => {
  test('a lock is taken by main, and released by post', async () => {
    const workspace = await scene.service.workspace();
    const { secret } = await scene.service.token();
    const inputs = {
      operation: 'lock',
      'base-url': `${scene.service.baseUrl}/v1`,
      token: secret,
      workspace,
      path: 'Content/Hero.uasset',
      'github-token': githubToken,
    };
    const first = await runWithRunApi({ entry: main, ...places(), with: inputs });
    expect(first).toMatchObject({
      exitCode: 0,
      isSuccess: true,
      commands: {
        outputs: { status: 'acquired', count: '1' },
        secrets: [secret, githubToken],
        errors: [],
        warnings: [],
      },
    });
    expect(await scene.locked(workspace)).toEqual(['Content/Hero.uasset']);
    const state = Object.fromEntries(
      Object.entries(first.commands.savedState).map(([name, text = '']) => [name, text]),
    );
    const second = await runWithRunApi({ entry: post, ...places(), with: inputs, state });
    expect(second).toMatchObject({ exitCode: 0, isSuccess: true, commands: { errors: [], warnings: [] } });
    expect(await scene.locked(workspace)).toEqual([]);
  });

  test('a step with wrong inputs is told of them', async () => {
    const result = await runWithRunApi({
      entry: main,
      ...places(),
      with: { operation: 'lock', ttl: '1 hour', 'github-token': githubToken },
    });
    expect(result).toMatchObject({ exitCode: 1, isSuccess: false });
    expect(result.commands.errors).toHaveLength(5);
    expect(result.commands.errors.join('\n')).toContain('Input `ttl` is "1 hour".');
  });
});
