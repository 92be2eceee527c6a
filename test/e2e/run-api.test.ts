import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { RunOptions, RunTarget } from 'github-action-ts-run-api';
import { expect, test } from 'vitest';
import { ourActionFile, readActionFile } from '../support/runner/action-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { openScene } from './scene.ts';

const scene = openScene();
const { main, post = '' } = await readActionFile();

type Texts = Readonly<Record<string, string | undefined>>;

/** A third-party runner. It does not evaluate expressions in defaults, so the token of the job must be passed. */
async function openRunner() {
  const folder = temporaryFolder();
  for (const name of ['workspace', 'temp']) await mkdir(join(folder, name));
  return (entry: string, inputs: Texts, state: Texts = {}) =>
    RunTarget.jsFile(entry, ourActionFile).run(
      RunOptions.create()
        .setInputs({ 'github-token': 'ghs_0123456789', ...inputs })
        .setState({ ...state })
        .setShouldAddProcessEnv(false)
        .setGithubContext({ repository: 'octo-games/dragon', ref: 'refs/heads/main', payload: {} })
        .setWorkspaceDir(join(folder, 'workspace'))
        .setWorkingDir(join(folder, 'workspace'))
        .setTempDir(join(folder, 'temp'))
        .setOutputOptions({ printStdout: false, printStderr: false, printRunnerWarnings: false }),
    );
}

test('acquires a lock in main and releases it in post on a third-party runner', async () => {
  const workspace = await scene.service.workspace();
  const { secret } = await scene.service.token();
  const inputs = {
    operation: 'lock',
    'base-url': `${scene.service.baseUrl}/v1`,
    token: secret,
    workspace,
    path: 'Content/Hero.uasset',
  };
  const run = await openRunner();
  const first = await run(main, inputs);
  expect(first).toMatchObject({
    exitCode: 0,
    isSuccess: true,
    commands: {
      outputs: { status: 'acquired', count: '1' },
      secrets: [secret, 'ghs_0123456789'],
      errors: [],
      warnings: [],
    },
  });
  expect(await scene.locked(workspace)).toEqual(['Content/Hero.uasset']);
  const second = await run(post, inputs, first.commands.savedState);
  expect(second).toMatchObject({ exitCode: 0, isSuccess: true, commands: { errors: [], warnings: [] } });
  expect(await scene.locked(workspace)).toEqual([]);
});
