import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { leaveOut } from '../support/left-out.ts';
import { freePort } from '../support/listen.ts';
import { runCommand } from '../support/service-process.ts';
import { startProcess } from '../support/started-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const fileIn = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

test('the executable is the command, serves, and takes a lock, without Node on the machine', async (context) => {
  if (process.platform !== 'linux') leaveOut(context, 'The executable is for Linux.');
  execFileSync(process.execPath, [fileIn('scripts/executable.ts')], { stdio: 'pipe' });
  const executable = fileIn('build/workspace-service');
  const folder = temporaryFolder();
  const env = { PATH: '/usr/bin:/bin', HOME: folder, WORKSPACE_SERVICE_PORT: String(await freePort()) };
  const run = (args: readonly string[], more: NodeJS.ProcessEnv = {}): string =>
    execFileSync(executable, args, { cwd: folder, env: { ...env, ...more }, encoding: 'utf8' });

  expect(run(['--version'])).toBe((await runCommand(['--version'])).stdout);
  const service = startProcess([executable, 'serve', '--dev', '--json'], { env, cwd: folder });
  const line = await service.stdout.until((text) => /^.*"listening".*$/m.exec(text)?.[0]);
  const { base_url, token, workspace } = JSON.parse(line);
  const place = { WORKSPACE_BASE_URL: base_url, WORKSPACE_TOKEN: token, WORKSPACE_ID: workspace };
  expect(run(['lock', 'take', 'seats/1'], place)).toContain('Locked seats/1');
  service.signal('SIGTERM');
  expect(await service.ended()).toBe(0);
});
