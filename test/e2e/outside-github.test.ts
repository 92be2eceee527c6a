import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { readActionFile } from '../support/runner/action-file.ts';
import { keyValuePairs } from '../support/runner/file-commands.ts';
import { storePool } from '../support/stored-pool.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { openScene } from './scene.ts';

const scene = openScene({ allowedNetworks: ['127.0.0.0/8'] });
const { main, post = '' } = await readActionFile();

/** Runs steps like a script of another CI system, which does not process workflow commands in the log. */
async function openScript(env: Readonly<Record<string, string>>) {
  const folder = temporaryFolder();
  const [state, output] = [join(folder, 'state'), join(folder, 'output')];
  for (const file of [state, output]) await writeFile(file, '');
  return async (entry: string, inputs: Readonly<Record<string, string>> = {}) => {
    const saved = [...keyValuePairs(await readFile(state, 'utf8'))].map(([name, value]) => [`STATE_${name}`, value]);
    const child = spawn(process.execPath, [entry], {
      env: {
        ...Object.fromEntries(saved),
        ...env,
        ...Object.fromEntries(Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value])),
        RUNNER_TEMP: folder,
        RUNNER_DEBUG: '1',
        GITHUB_STATE: state,
        GITHUB_OUTPUT: env['GITHUB_OUTPUT'] ?? output,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return (await Promise.all([text(child.stdout), text(child.stderr)])).join('\n');
  };
}

const placeOf = (workspace: string, secret: string) => ({
  WORKSPACE_BASE_URL: `${scene.service.baseUrl}/v1`,
  WORKSPACE_TOKEN: secret,
  WORKSPACE_ID: workspace,
});

test('writes no secrets to the log if nothing masks them', async () => {
  const workspace = await scene.service.workspace();
  const { secret } = await scene.service.token();
  const hookSecret = `whsec_${btoa('a secret of the receiver')}`;
  const run = await openScript(placeOf(workspace, secret));
  const registering = { operation: 'register-hook', 'hook-url': 'http://127.0.0.1:9/', 'hook-secret': hookSecret };
  const logs = [
    await run(main, { ...registering, 'allow-http': 'true' }),
    await run(main, { operation: 'lock', path: 'a', ttl: '5m', renew: 'true' }),
    await run(post),
  ];
  expect(logs.join('\n')).toMatch(/Locked a in .*Released 1 lock at the end of the job/s);
  for (const log of logs) {
    expect(log).not.toContain(secret);
    expect(log).not.toContain(hookSecret);
    expect(log).not.toContain('::add-mask::');
  }
});

test('writes no secret of a pool to the log, whether or not a file takes the outputs', async () => {
  const workspace = await scene.service.workspace();
  const seats = ['seats/1', 'secret:serial=s3cret', 'seats/2', 'host=b2'];
  await storePool(scene.service.storage, workspace, 'unity-pro', ...seats);
  const { secret } = await scene.service.token();
  const place = placeOf(workspace, secret);
  for (const more of [{}, { GITHUB_OUTPUT: '' }]) {
    const run = await openScript({ ...place, ...more });
    const logs = [await run(main, { operation: 'lock', pool: 'unity-pro', any: '2' }), await run(post)].join('\n');
    expect(logs).toMatch(/Locked 2 paths in .*Released 2 locks at the end of the job/s);
    expect(logs).not.toContain('s3cret');
  }
});
