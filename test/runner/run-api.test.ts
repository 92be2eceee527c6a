import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runWithRunApi } from '../support/runner/run-api.ts';
import { temporaryActionFile, temporaryScripts } from './scripts.ts';

test('a runner that others wrote runs a main and its post by their paths', async () => {
  const scripts = await temporaryScripts();
  const actionFile = await temporaryActionFile(
    scripts,
    'inputs:\n  dash-ed:\n    description: One with a default.\n    default: d',
  );
  const main = await scripts.add(
    'main',
    `say(env['INPUT_DASH-ED'] + ' ' + process.cwd());
     say('::add-mask::geheim');
     say('::error::' + env.EXTRA);
     fs.appendFileSync(env.GITHUB_OUTPUT, 'status<<E\\nheld\\nby ada\\nE\\n');
     fs.appendFileSync(env.GITHUB_STATE, 'step=1\\n');
     fs.writeFileSync(env.RUNNER_TEMP + '/left', 'behind');
     process.exitCode = 1;`,
  );
  const post = await scripts.add('post', "say(env.STATE_step + ' ' + fs.readFileSync(env.RUNNER_TEMP + '/left'))");
  const folders = { workspace: join(scripts.folder, 'workspace'), temp: join(scripts.folder, 'temp') };
  for (const folder of Object.values(folders)) await mkdir(folder);

  const first = await runWithRunApi({ entry: main, actionFile, ...folders, env: { EXTRA: 'x' } });
  expect(first).toMatchObject({
    exitCode: 1,
    isSuccess: false,
    commands: { outputs: { status: 'held\nby ada' }, savedState: { step: '1' }, errors: ['x'], secrets: ['geheim'] },
    stdout: expect.stringMatching(/^d .*workspace\n/),
  });
  const second = await runWithRunApi({ entry: post, actionFile, ...folders, state: { step: '1' } });
  expect(second).toMatchObject({ exitCode: 0, isSuccess: true, stdout: '1 behind\n' });
});

test('it takes our action.yml, with its inputs and their defaults', async () => {
  const scripts = await temporaryScripts();
  const main = await scripts.add(
    'main',
    'say(JSON.stringify(Object.keys(env).filter((name) => /^INPUT_/.test(name))))',
  );
  const { stdout, exitCode } = await runWithRunApi({
    entry: main,
    workspace: scripts.folder,
    temp: scripts.folder,
    with: { operation: 'lock' },
  });
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout ?? '')).toEqual(
    expect.arrayContaining(['INPUT_OPERATION', 'INPUT_AUTO-RELEASE', 'INPUT_TTL']),
  );
});
