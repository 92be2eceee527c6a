import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openScene } from '../e2e/scene.ts';
import { gitAt } from '../support/git-repository.ts';
import { runs } from '../support/runs.ts';
import { conditionHolds } from '../support/workflow/expressions.ts';
import { runWorkflowJob, startWorkflowJob, type WorkflowJobOptions } from '../support/workflow/job-runner.ts';
import { readWorkflow } from '../support/workflow/workflow-file.ts';
import { type Calling, calledWorkflow } from './called.ts';

const scene = openScene();

interface Release extends Calling, Pick<WorkflowJobOptions, 'delays'> {
  readonly run: string;
  readonly inputs?: Readonly<Record<string, boolean | number | string>>;
  readonly env?: string;
}

async function setUp({ run, inputs, env, files, delays }: Release) {
  const workspace = await scene.service.workspace();
  const { secret: token } = await scene.service.token();
  const called = calledWorkflow({ ...(files && { files }) });
  const options: WorkflowJobOptions = {
    workflow: 'locked-release.yml',
    inputs: { workspace, paths: 'Content/Hero.uasset', run, ...inputs },
    secrets: { token, ...(env !== undefined && { env }) },
    vars: { WORKSPACE_BASE_URL: `${scene.service.baseUrl}/v1` },
    ...called,
    ...(delays && { delays }),
  };
  return { workspace, token, called, options };
}

const askForLocks = `node --input-type=module --eval '
  const answer = await fetch(process.env.LOCKS, { headers: { authorization: "Bearer " + process.env.ASK_WITH } });
  console.log((await answer.json()).locks.map(({ path }) => path).join(" and "));
'`;

test('locks the paths while the script runs, and releases them afterwards', async () => {
  const { workspace, token, called, options } = await setUp({
    run: `${askForLocks}\necho "result=https://example.com/1" >> "$GITHUB_OUTPUT"`,
    inputs: { paths: 'Content/Hero.uasset\nContent/Boss.uasset' },
  });
  const env = `LOCKS=${scene.service.baseUrl}/v1/workspaces/${workspace}/locks\nASK_WITH=${token}\n`;
  const job = await runWorkflowJob({ ...options, secrets: { token, env } });
  expect(job.step('run').log).toContain('Content/Boss.uasset and Content/Hero.uasset');
  expect(job.result).toBe('success');
  expect(job.workflowOutputs).toMatchObject({
    status: 'acquired',
    waited_seconds: '0',
    holder: '',
    result: 'https://example.com/1',
  });
  const locks: { readonly path: string }[] = JSON.parse(job.workflowOutputs['locks'] ?? '');
  expect(locks.map(({ path }) => path).toSorted()).toEqual(['Content/Boss.uasset', 'Content/Hero.uasset']);
  expect(await scene.locked(workspace)).toEqual([]);
  expect(called.checkouts).toEqual(['']);
});

test('renews the locks until the job ends, even beyond their ttl', async () => {
  const { workspace, token, options } = await setUp({ run: `sleep 6\n${askForLocks}`, inputs: { ttl: '3s' } });
  const env = `LOCKS=${scene.service.baseUrl}/v1/workspaces/${workspace}/locks\nASK_WITH=${token}\n`;
  const job = await runWorkflowJob({ ...options, secrets: { token, env } });
  expect(job.step('run').log).toBe('Content/Hero.uasset');
  expect(job).toMatchObject({ result: 'success', annotations: [] });
  expect(await scene.locked(workspace)).toEqual([]);
});

describe('the publish script', () => {
  const publishing = { publish: 'echo "published with $KEY"; echo "result=v2" >> "$GITHUB_OUTPUT"' };

  test('runs after the first one with the same variables, and sets the result of the workflow', async () => {
    const run = 'echo "result=v1" >> "$GITHUB_OUTPUT"';
    const { options } = await setUp({ run, inputs: publishing, env: 'KEY=geheim' });
    const job = await runWorkflowJob(options);
    expect(job).toMatchObject({ result: 'success', annotations: [], workflowOutputs: { result: 'v2' } });
    expect(job.step('publish').log).toBe('published with ***');
  });

  test('does not run if the first one fails', async () => {
    const { options } = await setUp({ run: 'exit 3', inputs: publishing });
    expect((await runWorkflowJob(options)).step('publish').outcome).toBe('skipped');
  });

  test.each([
    ['does not run if a lock was lost', 'fail', 'failure', 'skipped'],
    ['runs despite a lost lock with on-lost: warn', 'warn', 'success', 'success'],
  ] as const)('%s', async (_, onLost, result, outcome) => {
    const { workspace, options } = await setUp({
      run: 'echo ready\nuntil [ -e "$RUNNER_TEMP/lost" ]; do sleep 0.1; done',
      inputs: { publish: 'true', 'on-lost': onLost },
    });
    const running = await startWorkflowJob(options);
    await (await running.begun('run')).waitForLog('ready');
    await scene.release(workspace, 'Content/Hero.uasset');
    await writeFile(join(running.job.folders.temp, 'lost'), '');
    const job = await running.finished;
    expect(job.result).toBe(result);
    expect(job.step('publish').outcome).toBe(outcome);
    expect(job.log).toContain('This job lost its lock on Content/Hero.uasset.');
  });
});

describe('the job', () => {
  test('releases the locks after a script that empties the workspace and fails', async () => {
    const { workspace, options } = await setUp({
      run: 'echo before\ncd "$GITHUB_WORKSPACE" && find . -mindepth 1 -delete\nfalse | cat\necho after',
    });
    const job = await runWorkflowJob(options);
    expect(job).toMatchObject({ result: 'failure', workflowOutputs: { status: 'acquired' } });
    expect(job.step('run').log).toBe('before');
    expect(await scene.locked(workspace)).toEqual([]);
  });

  test('releases the locks when the run is cancelled', async () => {
    const { workspace, options } = await setUp({ run: 'echo ready\nexec sleep 60' });
    const running = await startWorkflowJob(options);
    await (await running.begun('run')).waitForLog('ready');
    expect(await scene.locked(workspace)).toEqual(['Content/Hero.uasset']);
    expect(await running.cancel()).toMatchObject({
      result: 'cancelled',
      posts: [{ conclusion: 'success' }, { conclusion: 'success' }],
    });
    expect(await scene.locked(workspace)).toEqual([]);
  });
});

describe('the script', () => {
  test('is never interpreted by the workflow, whatever its text', async () => {
    const { options } = await setUp({ run: '' });
    const parts = ['${{', '}}', ' github.token ', "'", '"', '$(echo no)', '`', '\\', '\n', ' ', '%0A', 'é', '*', '#'];
    const part = fc.constantFrom(...parts);
    const text = fc.array(part, { minLength: 1, maxLength: 8 }).map((those) => those.join(''));
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 20, maxLength: 40 }), async (texts) => {
        const said = texts.map((each) => `printf '%s\\0' '${each.replaceAll("'", `'\\''`)}'`).join('\n');
        const run = `{ ${said}\n} > "$RUNNER_TEMP/said"`;
        const { job } = await runWorkflowJob({ ...options, inputs: { ...options.inputs, run } });
        const heard = await readFile(join(job.folders.temp, 'said'), 'utf8');
        expect(heard.split('\0').slice(0, -1)).toEqual(texts);
      }),
      { numRuns: runs(1, 50) },
    );
  });

  test('runs in the given folder with the masked variables of `env`, but without the token and its own text', async () => {
    const { options, token } = await setUp({
      run: 'echo "$UPLOAD_TOKEN|$EMPTY|$TEXT|$PWD"; env',
      inputs: { 'working-directory': 'tools' },
      files: async (workspace) => void (await mkdir(join(workspace, 'tools'))),
      env: `UPLOAD_TOKEN=100%25very-secret==\r\n\nEMPTY=\nTEXT= a 'b' "c" $(id) \n`,
    });
    const { job, step } = await runWorkflowJob(options);
    const { log } = step('run');
    expect(log.split('\n')[0]).toBe(`***||***|${join(job.folders.workspace, 'tools')}`);
    expect(log).not.toContain('very-secret');
    expect(log).not.toContain(token);
    expect(log).not.toMatch(/^(INPUT_|LOCKED_RELEASE_|WORKSPACE_TOKEN)/m);
  });

  test('does not run with an invalid secret `env`, and no value is shown', async () => {
    const { workspace, options } = await setUp({ run: 'echo ran', env: 'A=1\n-----BEGIN KEY-----\n' });
    const { result, step } = await runWorkflowJob(options);
    expect(result).toBe('failure');
    expect(step('run').log).toBe('##[error]A line does not have the form NAME=value. Values cannot span lines.');
    expect(await scene.locked(workspace)).toEqual([]);
  });
});

describe('the checkout of the caller', () => {
  test('is clean: git, patterns and the script see nothing of the action', async () => {
    const files = async (workspace: string) => {
      await mkdir(join(workspace, 'Content'));
      for (const name of ['Hero', 'Boss']) await writeFile(join(workspace, 'Content', `${name}.uasset`), name);
      gitAt(workspace, 'init', '--quiet');
      gitAt(workspace, 'add', '--all');
      gitAt(workspace, 'commit', '--quiet', '--message=assets');
    };
    const { options, called } = await setUp({
      run: 'git status --porcelain --ignored\nls -A',
      inputs: { paths: '**\n!.git/**\n!Content/Boss*', ref: 'main' },
      files,
    });
    const job = await runWorkflowJob(options);
    expect(job.step('run').log.split('\n')).toEqual(['.git', 'Content']);
    expect(JSON.parse(job.workflowOutputs['locks'] ?? '')).toMatchObject([{ path: 'Content/Hero.uasset' }]);
    expect(called.checkouts).toEqual(['main', 'main']);
  });

  test('happens before the lock only if a line may be a pattern', async () => {
    const { jobs } = await readWorkflow('locked-release.yml');
    const step = jobs['release']?.steps.find(({ name }) => name === 'Check out to expand patterns');
    const checksOut = (paths: string, glob = true) =>
      conditionHolds(step?.if, { contexts: { inputs: { paths, glob } }, status: 'success' });
    for (const line of ['a*', 'a?', '!a', 'a[', 'a]', 'a{', 'a}']) {
      expect(checksOut(`Content/b\n${line}`), line).toBe(true);
      expect(checksOut(line, false), line).toBe(false);
    }
    expect(checksOut("Content/Hero (1)/a-b_c.d+e,f;g&h'i~.uasset\n")).toBe(false);
  });
});

describe('a path held by someone else', () => {
  test('fails the job before it checks out or runs anything', async () => {
    const { workspace, options, called } = await setUp({ run: 'echo ran' });
    await scene.lock(workspace, 'Content/Hero.uasset');
    const job = await runWorkflowJob(options);
    expect(job).toMatchObject({ result: 'failure', workflowOutputs: { status: 'held', holder: 'grace', result: '' } });
    expect(job.step('run').conclusion).toBe('skipped');
    expect(called.checkouts).toEqual([]);
    expect(await scene.locked(workspace)).toEqual(['Content/Hero.uasset']);
  });

  test('is waited for, and the branch is checked out afterwards', async () => {
    const { workspace, options, called } = await setUp({ run: 'true', inputs: { wait: '1m', ref: 'main' } });
    await scene.lock(workspace, 'Content/Hero.uasset');
    const running = await startWorkflowJob(options);
    await (await running.begun('lock')).waitForLog(/grace/);
    expect(called.checkouts).toEqual([]);
    await scene.release(workspace, 'Content/Hero.uasset');
    expect(await running.finished).toMatchObject({ result: 'success', workflowOutputs: { status: 'acquired' } });
    expect(called.checkouts).toEqual(['main']);
  });
});
