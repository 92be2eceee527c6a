import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type JobOptions, openJob } from '../support/runner/job.ts';
import { startJob } from '../support/runner/start-job.ts';
import { type Scripts, temporaryActionFile, temporaryScripts } from './scripts.ts';

async function setUp(options: JobOptions = {}) {
  const scripts: Scripts = await temporaryScripts();
  const actionFile = await temporaryActionFile(scripts, 'inputs:\n  name:\n    description: A name.');
  return { scripts, job: await startJob({ ...options, actionFile }) };
}

const sayPost = "say('post of ' + env.INPUT_NAME + ', state ' + (env.STATE_step ?? 'missing'))";

describe('the post-steps of a job', () => {
  test('run in reverse order, each with the inputs and the state of its own main', async () => {
    const { scripts, job } = await setUp();
    await scripts.add('main', "fs.appendFileSync(env.GITHUB_STATE, 'step=' + env.INPUT_NAME.toUpperCase() + '\\n')");
    await scripts.add('post', sayPost);
    for (const name of ['a', 'b', 'c']) await job.run({ with: { name } });
    const posts = await job.post();
    expect(posts.map(({ rawLog }) => rawLog)).toEqual([
      'post of c, state C',
      'post of b, state B',
      'post of a, state A',
    ]);
    expect(job.results).toHaveLength(6);
    expect(await job.post()).toEqual([]);
  });

  test.each([
    ['before it saved any state', '', 'missing'],
    ['after it saved some state', "fs.appendFileSync(env.GITHUB_STATE, 'step=1\\n');", '1'],
  ])('run after a main that was killed %s', async (_, code, state) => {
    const { scripts, job } = await setUp();
    await scripts.add('main', `${code} say('ready'); setInterval(() => {}, 1000);`);
    await scripts.add('post', sayPost);
    const step = await job.step({ with: { name: 'a' } });
    await step.waitForLog('ready');
    await expect(step.kill()).resolves.toMatchObject({
      conclusion: 'failure',
      exitCode: 137,
      signal: 'SIGKILL',
      signalsSent: [],
    });
    expect((await job.post()).map(({ rawLog }) => rawLog)).toEqual([`post of a, state ${state}`]);
  });

  test('have their own command files, so that the files of the main are not read again', async () => {
    const { scripts, job } = await setUp();
    await scripts.add(
      'main',
      "fs.appendFileSync(env.GITHUB_STEP_SUMMARY, 'main'); fs.appendFileSync(env.GITHUB_OUTPUT, 'by=main')",
    );
    await scripts.add(
      'post',
      "say(fs.readFileSync(env.GITHUB_STEP_SUMMARY, 'utf8')); fs.appendFileSync(env.GITHUB_OUTPUT, 'of=post')",
    );
    expect((await job.run()).outputs).toEqual({ by: 'main' });
    expect(await job.post()).toMatchObject([{ outputs: { of: 'post' }, rawLog: '', summary: '' }]);
  });
});

describe('the steps of a job', () => {
  test('see variables that earlier steps exported, and so do post-steps, but not the state of other steps', async () => {
    const { scripts, job } = await setUp();
    await scripts.add(
      'main',
      "fs.appendFileSync(env.GITHUB_ENV, 'LEVEL=high'); fs.appendFileSync(env.GITHUB_STATE, 'step=1')",
    );
    await scripts.add('post', "say(env.LEVEL + ' ' + env.STATE_step)");
    const show = await scripts.add('show', "say(env.LEVEL + ' ' + env.STATE_step)");
    await job.run();
    expect(job.exported.get('LEVEL')).toBe('high');
    expect((await job.run({ main: show })).rawLog).toBe('high undefined');
    expect((await job.run({ main: show, env: { LEVEL: 'low' } })).rawLog).toBe('low undefined');
    expect((await job.post()).map(({ rawLog }) => rawLog)).toEqual(['low undefined', 'high undefined', 'high 1']);
  });
});

test('the end of a job leaves no process and no folder behind', async () => {
  const scripts = await temporaryScripts();
  await scripts.add('main', "say('ready'); setInterval(() => {}, 1000)");
  const job = await openJob({ actionFile: await temporaryActionFile(scripts, '') });
  const step = await job.step();
  await step.waitForLog('ready');
  await job.end();
  expect(() => process.kill(step.pid, 0)).toThrow('ESRCH');
  expect(existsSync(job.folders.temp)).toBe(false);
  expect(existsSync(job.folders.workspace)).toBe(false);
});
