import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openScene } from '../e2e/scene.ts';
import { gitAt } from '../support/git-repository.ts';
import { type Calling, calledWorkflow } from './called.ts';
import { conditionHolds } from './expressions.ts';
import { runWorkflowJob, startWorkflowJob, type WorkflowJobOptions } from './job-runner.ts';
import { readWorkflow } from './workflow-file.ts';

const scene = openScene();

interface Release extends Calling {
  readonly run: string;
  readonly inputs?: Readonly<Record<string, boolean | number | string>>;
  readonly env?: string;
}

async function setUp({ run, inputs, env, files }: Release) {
  const workspace = await scene.service.workspace();
  const { secret: token } = await scene.service.token();
  const called = calledWorkflow({ ...(files && { files }) });
  const options: WorkflowJobOptions = {
    workflow: 'locked-release.yml',
    inputs: { workspace, paths: 'Content/Hero.uasset', run, ...inputs },
    secrets: { token, ...(env !== undefined && { env }) },
    vars: { WORKSPACE_BASE_URL: `${scene.service.baseUrl}/v1` },
    ...called,
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

describe('the publish script', () => {
  const publishing = { publish: 'echo "published with $KEY"; echo "result=v2" >> "$GITHUB_OUTPUT"' };

  test('runs after the first one with the same variables, and sets the result of the workflow', async () => {
    const run = 'echo "result=v1" >> "$GITHUB_OUTPUT"';
    const { options } = await setUp({ run, inputs: publishing, env: 'KEY=geheim' });
    const job = await runWorkflowJob(options);
    expect(job).toMatchObject({ result: 'success', annotations: [], workflowOutputs: { result: 'v2' } });
    expect(job.step('publish').log).toBe('published with ***');
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

test('the job releases the locks when the run is cancelled', async () => {
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

describe('the script', () => {
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
    const step = jobs['release']?.steps?.find(({ name }) => name === 'Check out to expand patterns');
    const checksOut = (paths: string, glob = true) =>
      conditionHolds(step?.if, { contexts: { inputs: { paths, glob } }, status: 'success' });
    for (const line of ['a*', 'a?', '!a', 'a[', 'a]', 'a{', 'a}']) {
      expect(checksOut(`Content/b\n${line}`), line).toBe(true);
      expect(checksOut(line, false), line).toBe(false);
    }
    expect(checksOut("Content/Hero (1)/a-b_c.d+e,f;g&h'i~.uasset\n")).toBe(false);
  });
});
