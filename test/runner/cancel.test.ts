import { existsSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startJob } from '../support/runner/start-job.ts';
import type { RunnerDelays } from '../support/runner/step-process.ts';
import { tell, temporaryActionFile, temporaryScripts } from './scripts.ts';

const long = 60_000;

async function start(code: string, delays: Partial<RunnerDelays> = {}) {
  const scripts = await temporaryScripts();
  const actionFile = await temporaryActionFile(scripts, '');
  await scripts.add('main', `${code}\nsay('ready'); setInterval(() => {}, 1000);`);
  await scripts.add('post', "say('cleaned up after ' + env.STATE_step)");
  const job = await startJob({ actionFile, delays });
  const step = await job.step();
  await step.waitForLog('ready');
  return { job, step };
}

const patient = { sigtermAfterMs: long, sigkillAfterMs: long };

describe('a cancelled step', () => {
  test('has time to clean up, and counts as cancelled even if it exits with 0', async () => {
    const { job, step } = await start(
      `process.on('SIGINT', async () => {
        say('giving back');
        await told('given');
        fs.appendFileSync(env.GITHUB_STATE, 'step=cancelled');
        process.exit(0);
      });`,
      patient,
    );
    const cancelled = step.cancel();
    await step.waitForLog('giving back');
    await tell(job, 'given');
    await expect(cancelled).resolves.toMatchObject({ conclusion: 'cancelled', exitCode: 0, signalsSent: ['SIGINT'] });
    expect((await job.post()).map(({ log }) => log)).toEqual(['cleaned up after cancelled']);
  });

  test('gets SIGTERM if it does not end', async () => {
    const { step } = await start(
      `process.on('SIGINT', () => say('SIGINT')); process.on('SIGTERM', () => { say('SIGTERM'); process.exit(5); });`,
      { sigtermAfterMs: 50, sigkillAfterMs: long },
    );
    await expect(step.cancel()).resolves.toMatchObject({
      conclusion: 'cancelled',
      exitCode: 5,
      signalsSent: ['SIGINT', 'SIGTERM'],
      rawLog: 'ready\nSIGINT\nSIGTERM',
    });
  });

  test('gets SIGKILL if it ignores SIGTERM', async () => {
    const { step } = await start("for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => say(name));", {
      sigtermAfterMs: 200,
      sigkillAfterMs: 200,
    });
    const result = await step.cancel();
    expect(result).toMatchObject({
      conclusion: 'cancelled',
      exitCode: 137,
      signal: 'SIGKILL',
      signalsSent: ['SIGINT', 'SIGTERM', 'SIGKILL'],
    });
    expect(result.durationMs).toBeGreaterThan(395);
  });
});

describe('a child process of a step', () => {
  const withChild = `
    const { spawn } = await import('node:child_process');
    const child = spawn(process.execPath, ['-e', ${JSON.stringify(`
      for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => require('fs').writeFileSync(process.env.RUNNER_TEMP + '/signalled', name));
      console.log('child ' + process.pid);
      setInterval(() => {}, 1000);
    `)}], { stdio: STDIO });
    child.stdout?.once('data', (text) => say(String(text).trim()));`;

  async function startWithChild(stdio: string, delays: Partial<RunnerDelays>) {
    const { job, step } = await start(withChild.replace('STDIO', stdio), delays);
    const [, pid = ''] = (await step.waitForLog(/^child \d+$/)).split(' ');
    onTestFinished(() => void process.kill(Number(pid), 'SIGKILL'));
    return { job, step, pid: Number(pid) };
  }

  test('gets no signal, and keeps running', async () => {
    const { job, step, pid } = await startWithChild("['ignore', 'pipe', 'ignore']", patient);
    await expect(step.cancel()).resolves.toMatchObject({ signal: 'SIGINT' });
    // Succeeds only if the process exists.
    process.kill(pid, 0);
    expect(existsSync(`${job.folders.temp}/signalled`)).toBe(false);
  });

  test('may keep the output open, but delays the end only as long as on a real runner', async () => {
    const { step } = await startWithChild("['ignore', 'inherit', 'inherit']", { ...patient, drainMs: 100 });
    const result = await step.cancel();
    expect(result).toMatchObject({ conclusion: 'cancelled', signal: 'SIGINT' });
  });
});
