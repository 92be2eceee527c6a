import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask } from '../support/running-service.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { runWorkflowJob } from '../support/workflow/job-runner.ts';
import { parseWorkflow } from '../support/workflow/workflow-file.ts';
import { readPage, section, snippets } from './pages.ts';

const page = await readPage('docs/runners.md');
const root = fileURLToPath(new URL('../..', import.meta.url));
const path = 'Content/Hero.uasset';

let service: ServiceProcess;

beforeAll(async () => {
  service = await startServiceProcess();
});

afterAll(() => service.stop());

const askForLocks = (method: string, json?: unknown) =>
  ask(service.baseUrl, method, `/workspaces/${service.workspace}/locks`, { token: service.token, json });

const paths = async (): Promise<readonly string[]> =>
  (await askForLocks('GET')).body.locks.map((lock: { readonly path: string }) => lock.path);

async function scriptOf(title: string, wait: string) {
  const [text = ''] = snippets(section(page, title), 'bash');
  const script = join(temporaryFolder(), 'locked');
  await writeFile(script, text.replace('INPUT_WAIT=30m', `INPUT_WAIT=${wait}`), { mode: 0o755 });
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
    WORKSPACE_ACTION: root,
    WORKSPACE_BASE_URL: service.baseUrl,
    WORKSPACE_TOKEN: service.token,
    WORKSPACE_ID: service.workspace,
  };
  return { script, env };
}

async function runScript(
  title: string,
  command: string,
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  // The wait is 0s because nobody releases the path here.
  const { script, env } = await scriptOf(title, '0s');
  return promisify(execFile)(script, [path, 'bash', '-c', command], { env });
}

/** Starts the script in the background, and collects its output. */
async function startScript(title: string, command: string, input = '') {
  const { script, env } = await scriptOf(title, '30m');
  const child = spawn(script, [path, 'bash', '-c', command], { env });
  let written = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (written += text));
  child.stdin.end(input);
  const closed = once(child, 'close');
  return {
    /** Sends the signal to this process only. */
    signal: (signal: NodeJS.Signals) => child.kill(signal),
    log: () => written,
    code: async (): Promise<unknown> => (await closed)[0],
    sees: (text: string) => expect.poll(() => written, { timeout: 30_000 }).toContain(text),
  };
}

describe.each(['With the action', 'With curl'])('%s, a script', (title) => {
  const run = (command: string) => runScript(title, command);

  test('holds the lock only while the command runs', async () => {
    const list =
      'curl --silent "$WORKSPACE_BASE_URL/workspaces/$WORKSPACE_ID/locks" -H "Authorization: Bearer $WORKSPACE_TOKEN"';
    const { stdout, stderr } = await run(`echo; echo "seen: $(${list})"; echo`);
    expect(stdout + stderr).not.toContain(service.token);
    const [, during = ''] = /^seen: (.*)$/m.exec(stdout) ?? [];
    expect(JSON.parse(during).locks).toMatchObject([{ path }]);
    expect(await paths()).toEqual([]);
  });

  test('releases the lock and exits with the code of the command if it fails', async () => {
    await expect(run('exit 7')).rejects.toMatchObject({ code: 7 });
    expect(await paths()).toEqual([]);
  });

  test('releases the lock if the job is cancelled', async () => {
    await expect(run('kill -TERM $PPID')).rejects.toMatchObject({ code: 143 });
    expect(await paths()).toEqual([]);
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('releases the lock and stops the command if only the script gets %s', async (signal, code) => {
    const script = await startScript(
      title,
      'trap "echo stopped; exit 3" TERM; echo ready; while :; do sleep 0.1; done',
    );
    await script.sees('ready');
    expect(await paths()).toEqual([path]);
    script.signal(signal);
    expect(await script.code()).toBe(code);
    expect(script.log()).toContain('stopped');
    expect(await paths()).toEqual([]);
  });

  test('passes its input to the command', async () => {
    const script = await startScript(title, 'echo "read: $(cat)"', 'some input');
    expect(await script.code()).toBe(0);
    expect(script.log()).toContain('read: some input');
  });

  test('does not run the command without the lock', async () => {
    await askForLocks('POST', { path, type: 'exclusive', ttl: '1h' });
    await expect(run('echo "It ran."')).rejects.toMatchObject({ stdout: expect.not.stringContaining('It ran.') });
    expect(await paths()).toEqual([path]);
    await ask(service.baseUrl, 'DELETE', `/workspaces/${service.workspace}/locks/Content%2FHero.uasset`, service);
  });
});

test('With the action, a script that waits for a lock ends at once if only the script gets a signal', async () => {
  await askForLocks('POST', { path, type: 'exclusive', ttl: '1h' });
  const script = await startScript('With the action', 'echo "It ran."');
  await script.sees('is held by');
  script.signal('SIGTERM');
  expect(await script.code()).toBe(143);
  expect(script.log()).not.toContain('It ran.');
  expect(await paths()).toEqual([path]);
  await ask(service.baseUrl, 'DELETE', `/workspaces/${service.workspace}/locks/Content%2FHero.uasset`, service);
});

test('a job that locks, renews, checks and unlocks connects to the host and port of base-url only', async () => {
  const folder = await temporaryFolder();
  const [recorder, record] = [join(folder, 'recorder.mjs'), join(folder, 'record')];
  await writeFile(
    recorder,
    `import { subscribe } from 'node:diagnostics_channel';
     import { appendFileSync } from 'node:fs';
     subscribe('net.client.socket', ({ socket }) =>
       socket.once('connect', () =>
         appendFileSync(${JSON.stringify(record)}, \`\${socket.remoteAddress}:\${socket.remotePort}\\n\`)));`,
  );
  const ours = (inputs: string) => `- { uses: octo-org/workspace-automation@v1, with: { ${inputs} } }`;
  const steps = [
    ours(`operation: lock, path: "${path}", ttl: 2s, renew: true`),
    '- run: sleep 3',
    ours('operation: check'),
    ours(`operation: unlock, path: "${path}"`),
    ours('operation: lock, path: Content/Maps/Arena.umap'),
  ].map((step) => `      ${step}\n`);
  const job = await runWorkflowJob({
    workflow: parseWorkflow(`on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n${steps.join('')}`),
    env: {
      NODE_OPTIONS: `--import=${pathToFileURL(recorder)}`,
      WORKSPACE_BASE_URL: service.baseUrl,
      WORKSPACE_TOKEN: service.token,
      WORKSPACE_ID: service.workspace,
    },
  });
  expect(job.result, job.log).toBe('success');
  expect(await paths()).toEqual([]);
  const { hostname, port } = new URL(service.baseUrl);
  const hosts = (await readFile(record, 'utf8')).trim().split('\n');
  expect(hosts.length).toBeGreaterThan(3);
  expect([...new Set(hosts)]).toEqual([`${hostname}:${port}`]);
});
