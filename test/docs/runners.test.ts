import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ask } from '../support/running-service.ts';
import { commandFile, type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { readPage, section, snippets } from './pages.ts';

const page = await readPage('docs/runners.md');
const root = fileURLToPath(new URL('../..', import.meta.url));
const path = 'Content/Hero.uasset';

let service: ServiceProcess;

beforeAll(async () => {
  service = await startServiceProcess();
  return service.stop;
});

const askForLocks = (method: string, json?: unknown) =>
  ask(service.baseUrl, method, `/workspaces/${service.workspace}/locks`, { token: service.token, json });

const paths = async (): Promise<readonly string[]> =>
  (await askForLocks('GET')).body.locks.map((lock: { readonly path: string }) => lock.path);

const others = section(page, 'GitLab, Jenkins, Buildkite and others');
const [gitlab = '', buildkite = '', container = ''] = snippets(others, 'yaml');
const [jenkins = ''] = snippets(others, 'groovy');

const gitlabCi = join(root, 'node_modules/gitlab-ci-local/dist/index.js');

/** What each of the systems runs, as its documentation says, as a program with arguments. */
const jobs: readonly (readonly [system: string, words: readonly string[]])[] = [
  ['GitLab', [process.execPath, gitlabCi, 'release', '--shell-executor-no-image', '--force-shell-executor']],
  // https://www.jenkins.io/doc/pipeline/steps/workflow-durable-task-step/#sh-shell-script
  ['Jenkins', ['sh', '-xe', '-c', /sh '(.*)'/.exec(jenkins)?.[1] ?? '']],
  // https://buildkite.com/docs/agent/v3/configuration#shell
  ['Buildkite', ['/bin/bash', '-e', '-c', parse(buildkite).steps[0].command]],
  ['Tekton or Argo', parse(container).command],
];

/** Makes the folder one that gitlab-ci-local accepts, with our recipe for the service of this test. */
async function addGitlabRecipe(folder: string): Promise<void> {
  const recipe = gitlab
    .replace('https://assets.example.com/v1', service.baseUrl)
    .replace(' game', ` ${service.workspace}`);
  await writeFile(join(folder, '.gitlab-ci.yml'), recipe);
  execFileSync('git', ['init', '--quiet', folder]);
  // It copies all files for containers, even if the job does not run in one.
  await writeFile(join(folder, 'bin/rsync'), '#!/bin/sh\n', { mode: 0o755 });
}

/** Runs a job in a folder with a release.sh, and `workspace-service` on the PATH as npm installs it. */
async function startJob([program = '', ...args]: readonly string[], release: string) {
  const folder = temporaryFolder();
  await writeFile(join(folder, 'release.sh'), `#!/usr/bin/env bash\n${release}\n`, { mode: 0o755 });
  await mkdir(join(folder, 'bin'));
  await symlink(commandFile, join(folder, 'bin/workspace-service'));
  if (args.includes(gitlabCi)) await addGitlabRecipe(folder);
  const child = spawn(program, args, {
    cwd: folder,
    detached: true,
    env: {
      PATH: [join(folder, 'bin'), dirname(process.execPath), process.env['PATH']].join(delimiter),
      WORKSPACE_BASE_URL: service.baseUrl,
      WORKSPACE_TOKEN: service.token,
      WORKSPACE_ID: service.workspace,
    },
  });
  let written = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (written += text));
  const closed = once(child, 'close');
  return {
    folder,
    /** Sends the signal to the group, as systems do that cancel a job. */
    signal: (signal: NodeJS.Signals) => process.kill(-(child.pid ?? 0), signal),
    log: () => written,
    code: async (): Promise<unknown> => (await closed)[0],
    sees: (text: string) => expect.poll(() => written).toContain(text),
  };
}

describe.each(jobs)('on %s, a job', (system, words) => {
  test('holds the lock only while its command runs, and exits with its code', async () => {
    const job = await startJob(words, 'echo ready; read -r -t 1 <&"$LOCK_PIPE"; echo "fence $LOCK_FENCE"; exit 7');
    await job.sees('ready');
    expect(await paths()).toEqual([path]);
    // gitlab-ci-local only reports the exit code.
    expect(await job.code(), job.log()).toBe(system === 'GitLab' ? 1 : 7);
    if (system === 'GitLab') expect(job.log()).toMatch(/FAIL.* 7/);
    expect(job.log()).toMatch(/fence \d+$/m);
    expect(job.log()).not.toContain(service.token);
    expect(await paths()).toEqual([]);
  });

  test('passes a signal to its command, and releases the lock', async () => {
    const job = await startJob(
      words,
      'trap "echo stopped >state; exit 3" TERM; echo ready; while :; do sleep 1 & wait $!; done',
    );
    await job.sees('ready');
    job.signal('SIGTERM');
    // A program around the command may end by the signal, and earlier.
    expect([3, null, 143]).toContain(await job.code());
    await expect.poll(() => readFile(join(job.folder, 'state'), 'utf8')).toBe('stopped\n');
    await expect.poll(paths).toEqual([]);
  });
});
