import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { dist } from './committed.ts';

const neededMajor = 24;
const entries = ['index.js', 'post/index.js', 'renew/index.js'];

/** The system Node outside of npm, if it is too old. npm puts the current one first. */
const olderNodes = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .map((folder) => join(folder, 'node'))
  .filter((file) => existsSync(file))
  .map((file) => ({ file, version: execFileSync(file, ['--version'], { encoding: 'utf8' }).trim().slice(1) }))
  .filter(({ version }) => Number.parseInt(version, 10) < neededMajor);

function run(node: string, entry: string, options: readonly string[] = []) {
  const step = { INPUT_OPERATION: 'lock', STATE_step: 'some-step' };
  const { status, stdout, stderr } = spawnSync(node, [...options, join(dist, entry)], {
    encoding: 'utf8',
    input: '{}',
    env: { PATH: process.env['PATH'], ...step },
  });
  return { status, stdout, stderr };
}

const refusal = (version: string) => ({
  status: 1,
  stdout: '',
  stderr: `Workspace Automation needs Node 24 or newer, and this is Node ${version}. Install Node 24 and start it again.\n`,
});

test.each(entries)('%s rejects a Node that is too old before it runs anything else', (entry) => {
  const pretend =
    'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } }); Promise.withResolvers = undefined;';
  const options = [`--import=data:text/javascript,${encodeURIComponent(pretend)}`];
  expect(run(process.execPath, entry, options)).toEqual(refusal('20.20.2'));
});

test.runIf(olderNodes.length > 0).each(entries)('%s rejects the older Node of this machine', (entry) => {
  for (const { file, version } of olderNodes) expect(run(file, entry)).toEqual(refusal(version));
});
