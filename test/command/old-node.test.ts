import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { leaveOut } from '../support/left-out.ts';

const bin = fileURLToPath(new URL('../../build/workspace-service.mjs', import.meta.url));

const run = (node: string, args: readonly string[]) => spawnSync(node, args, { encoding: 'utf8', timeout: 30_000 });

const refusal = /^workspace-service needs Node 24 or newer, and this is Node (\S+)\. Install Node 24 [^\n]+\n$/;

test('the command names the required Node.js version if it runs on an older one', () => {
  const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.11.1' } })`;
  const { status, stdout, stderr } = run(process.execPath, [
    '--import',
    `data:text/javascript,${pretend}`,
    bin,
    'serve',
  ]);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(refusal.exec(stderr)?.[1]).toBe('20.11.1');
});

test('the command does not run on an older Node.js that is installed here', (context) => {
  const nodes = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  const versionOf = (node: string) => /^v(\d+)\./.exec(run(node, ['--version']).stdout)?.[1];
  const old = nodes.find((node) => existsSync(node) && Number(versionOf(node) ?? 24) < 24);
  if (old === undefined) leaveOut(context, 'There is no Node older than 24 on the PATH.');
  const { status, stdout, stderr } = run(old, [bin, 'serve']);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(refusal);
});
