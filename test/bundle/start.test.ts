import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { startConnectProxy } from '../support/other-servers/connect-proxy.ts';
import { json } from '../support/other-servers/responses.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import { startJob } from '../support/runner/start-job.ts';
import type { StepResult } from '../support/runner/step.ts';
import { copyOfDist, removeChunks } from './committed.ts';

const bad = {
  operation: 'lock',
  'base-url': 'http://assets.example.test/v1',
  workspace: 'a/b',
  path: 'Content/Hero.uasset',
  ttl: 'soon',
  wait: '15',
  'auto-release': 'perhaps',
  retries: '-1',
  'request-timeout': '30',
};
/** Without a token. */
const wrong = ['base-url', 'token', 'request-timeout', 'retries', 'workspace', 'ttl', 'wait', 'auto-release'];
const namesOf = ({ annotations }: StepResult): readonly string[] =>
  annotations.map(({ message }) => /^Input `([^`]+)`/.exec(message)?.[1] ?? message);

test('reports all wrong inputs at once, and loads the network code only for valid ones', async () => {
  const folder = await copyOfDist();
  await removeChunks(folder);
  const entries = { main: join(folder, 'index.js'), post: join(folder, 'post/index.js') };
  const job = await startJob();
  const refused = await job.run({ ...entries, with: bad });
  expect(refused).toMatchObject({ conclusion: 'failure', exitCode: 1, outputs: {} });
  expect(refused.annotations.every(({ level }) => level === 'error')).toBe(true);
  expect(namesOf(refused).toSorted()).toEqual(wrong.toSorted());
  // The runner starts the post-step after every main step, even if there is nothing to release.
  const [post] = await job.post();
  expect(post).toMatchObject({ conclusion: 'success', exitCode: 0, log: '' });

  const right = { operation: 'list-workspaces', 'base-url': 'http://127.0.0.1:1/v1', token: 'wsa_0123456789' };
  const accepted = await job.run({ ...entries, with: right });
  expect(accepted.log).toMatch(/Cannot find module '\.\/client\.js'/);
});

/** Modules that take Node milliseconds to load: together as long as the rest of its start. */
const slow = ['https', 'tls', 'crypto', 'internal/crypto/webcrypto', 'child_process', 'fs/promises', 'perf_hooks'];

/** Runs a step, and returns the Node modules that its process loaded. */
async function modulesOf(inputs: Readonly<Record<string, string>>) {
  const job = await startJob();
  const list = join(job.folders.temp, 'list');
  const script = `${list}.mjs`;
  await writeFile(
    script,
    `import { writeFileSync } from 'node:fs';
     process.once('exit', () => writeFileSync(${JSON.stringify(list)}, process.moduleLoadList.join('\\n')));`,
  );
  const result = await job.run({ with: inputs, env: { NODE_OPTIONS: `--import=${pathToFileURL(script).href}` } });
  const loaded = (await readFile(list, 'utf8')).split('\n').map((line) => line.replace(/^NativeModule /, ''));
  return { result, loaded };
}

test('reports a wrong input without loading slow modules', async () => {
  const { result, loaded } = await modulesOf(bad);
  expect(result.conclusion).toBe('failure');
  expect(loaded).toContain('fs');
  expect(loaded.filter((name) => [...slow, 'http'].includes(name))).toEqual([]);
});

test('sends a request over plain http without loading other slow modules', async () => {
  const server = await startOtherServer(json(200, { workspaces: [{ id: 'game' }] }));
  const inputs = { operation: 'list-workspaces', 'base-url': server.baseUrl, token: 'wsa_0123456789' };
  const { result, loaded } = await modulesOf(inputs);
  expect(result).toMatchObject({ conclusion: 'success', outputs: { count: '1' } });
  expect(loaded).toContain('http');
  expect(loaded.filter((name) => slow.includes(name))).toEqual([]);
});

test('connects through a proxy if one is set', async () => {
  const proxy = await startConnectProxy();
  const server = await startOtherServer(json(200, { workspaces: [{ id: 'game' }] }));
  const job = await startJob({ env: { http_proxy: proxy.address } });
  const url = `http://assets.example.test:${server.port}/v1`;
  const inputs = { operation: 'list-workspaces', 'base-url': url, 'allow-http': 'true', token: 'wsa_0123456789' };
  expect(await job.run({ with: inputs })).toMatchObject({ conclusion: 'success', outputs: { count: '1' } });
  expect(proxy.asked).toEqual([{ target: `assets.example.test:${server.port}`, authorization: undefined }]);
});
