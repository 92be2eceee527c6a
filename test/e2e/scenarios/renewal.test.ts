import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type TestContext, test as withContext } from 'vitest';
import { isRenewing, once } from '../../support/fault-proxy.ts';
import { preload } from '../../support/preload.ts';
import { readActionFile } from '../../support/runner/action-file.ts';
import type { Job } from '../../support/runner/job.ts';
import { everyForm } from '../../support/runs.ts';
import type { Clock } from './clock.ts';
import { entriesOf } from './ledger.ts';
import { hero, locking, openStage, type Stage, unlocking, useService } from './stage.ts';

useService();

const minute = 60_000;
/** Renewed every five minutes, or slightly earlier. */
const renewing = { ttl: '15m', renew: 'true' };
const periodMs = 5 * minute;
const longerThanTtlMs = 16 * minute;
const checking = { with: { operation: 'check' } };

interface Staged extends Pick<TestContext, 'expect'> {
  readonly stage: Stage;
  readonly clock: Clock;
}

/** Concurrent, because these tests mostly wait for processes to start and end. */
const test = (name: string, work: (staged: Staged) => Promise<void>): void =>
  withContext.concurrent(name, async ({ expect, onTestFinished }) => {
    const stage = await openStage((cleanUp) => onTestFinished(cleanUp));
    await work({ expect, stage, clock: await stage.clock() });
  });

const lossesOf = (job: Job) => entriesOf(job).filter((entry) => entry.kind === 'lost');
const renewalsOf = (job: Job) => entriesOf(job).filter((entry) => entry.kind === 'renewed');

function onlyProcessOf(job: Job): number {
  const [pid, ...others] = job.leftProcesses();
  if (pid === undefined || others.length > 0)
    throw new Error(`Besides ${pid}, ${others.length} other processes are left.`);
  return pid;
}

const patiently = { interval: 200 };

/** Lets this number of periods pass, and waits for a renewal in each. */
async function renewed({ job, clock, expect }: Omit<Staged, 'stage'> & { readonly job: Job }, periods: number) {
  const before = renewalsOf(job).length;
  for (let number = 1; number <= periods; number += 1) {
    await clock.pass(periodMs);
    // Recorded after the response was read, so the next jump cannot time out a request in progress.
    await expect.poll(() => renewalsOf(job), patiently).toHaveLength(before + number);
  }
}

test('keeps a lock beyond its ttl while the job runs, and releases it at its end', async ({ expect, stage, clock }) => {
  const job = await stage.job();
  const step = await job.run(locking([hero, 'b'], renewing));
  expect(step, step.log).toMatchObject({ conclusion: 'success', annotations: [] });
  const first = await stage.locks();
  await renewed({ job, clock, expect }, everyForm ? 10 : 4);
  const later = await stage.locks();
  expect(later.map(({ id, fence }) => [id, fence])).toEqual(first.map(({ id, fence }) => [id, fence]));
  const [post] = await job.post();
  expect(post, post?.log).toMatchObject({ conclusion: 'success', annotations: [] });
  expect(post?.summary).toMatch(/```mermaid\n%%.*\ngantt\n(.*\n)* {4}held :active, \d/);
  expect(await stage.locks()).toEqual([]);
  expect(job.leftProcesses()).toEqual([]);
});

test('a lock expires if its renewal process is killed, and a check reports that', async ({ expect, stage, clock }) => {
  const job = await stage.job();
  await job.run(locking(hero, renewing));
  await expect(job.run(checking)).resolves.toMatchObject({ outputs: { status: 'kept', count: '1' } });
  process.kill(onlyProcessOf(job), 'SIGKILL');
  await clock.pass(longerThanTtlMs);
  expect(await stage.locks()).toEqual([]);
  await expect(job.run(checking)).resolves.toMatchObject({ conclusion: 'failure', outputs: { status: 'lost' } });
  const post = (await job.post()).at(-1);
  expect(post?.annotations, post?.log).toMatchObject([
    { level: 'warning', message: expect.stringContaining(`The lock on ${hero} expired at `) },
  ]);
});

test('renewals stop within a period after the worker is gone, and the lock ends', async ({ expect, stage, clock }) => {
  const job = await stage.job();
  const step = await job.step({ ...locking(hero, renewing), worker: 'stays' });
  await step.waitForLog('The locks are renewed');
  await renewed({ job, clock, expect }, 1);
  const renewer = job.leftProcesses().filter((pid) => pid !== step.pid);
  expect(renewer).toHaveLength(1);
  await step.kill();
  await expect.poll(() => job.leftProcesses(), patiently).toEqual([]);
  expect(renewalsOf(job)).toHaveLength(1);
  await clock.pass(longerThanTtlMs);
  expect(await stage.locks()).toEqual([]);
});

/** Node throws unexpected system errors such as ENOMEM, and reports others with an event. */
const withoutMemory = preload(`
  import { syncBuiltinESMExports } from 'node:module';
  import children from 'node:child_process';
  children.spawn = () => { throw new Error('spawn ENOMEM'); };
  syncBuiltinESMExports();
`);
const withoutNode = preload(`process.execPath = '/nowhere/node';`);

for (const [reason, NODE_OPTIONS] of [
  ['spawn ENOMEM', withoutMemory],
  ['spawn /nowhere/node ENOENT', withoutNode],
] as const) {
  test(`a step keeps its lock and warns if no renewal process can start: ${reason}`, async ({ expect, stage }) => {
    const job = await stage.job();
    const step = await job.run({ ...locking(hero, renewing), env: { NODE_OPTIONS } });
    expect(step, step.log).toMatchObject({
      conclusion: 'success',
      outputs: { status: 'acquired' },
      annotations: [
        {
          level: 'warning',
          message: expect.stringContaining(
            `Could not start the process that renews the locks (${reason}). They last until `,
          ),
        },
      ],
    });
    expect(await stage.locks()).toHaveLength(1);
    await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success', annotations: [] }]);
    expect(await stage.locks()).toEqual([]);
  });
}
/** Copies the bundle, and replaces its renewal program. */
async function bundleWithRenewer(job: Job, program: string): Promise<string> {
  const { main } = await readActionFile();
  const copy = join(job.folders.home, 'dist');
  cpSync(dirname(main), copy, { recursive: true });
  writeFileSync(join(copy, 'renew', 'index.js'), program);
  return join(copy, basename(main));
}

for (const [name, program, warning] of [
  ['is killed', `process.kill(process.pid, 'SIGKILL');`, /^Could not start .* \(SIGKILL ended it\)\. They last until/],
  [
    'hangs',
    'setInterval(() => {}, 1_000);',
    /^Could not start .* \(it did not answer within 10 s\)\. They last until (\d{4}-\d\d-\d\d )?\d\d:\d\d UTC \(in 5 min\); choose/,
  ],
] as const) {
  test(`a step warns that its locks are not renewed if the renewal process ${name}`, async ({ expect, stage }) => {
    const job = await stage.job();
    const main = await bundleWithRenewer(job, program);
    // The process that hangs is tested with the shipped timeout.
    const env = name === 'hangs' ? { NODE_OPTIONS: '' } : {};
    const step = await job.run({ ...locking(hero, { ...renewing, ttl: '5m' }), main, env });
    expect(step, step.log).toMatchObject({
      conclusion: 'success',
      outputs: { status: 'acquired' },
      annotations: [{ level: 'warning', message: expect.stringMatching(warning) }],
    });
    expect(step.log).not.toContain('The locks are renewed');
    await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success', annotations: [] }]);
    expect(job.leftProcesses()).toEqual([]);
  });
}

test('a step does not warn if the renewal process needs seconds to start', async ({ expect, stage }) => {
  const job = await stage.job();
  const program = `setTimeout(() => process.stdout.write('renewing\\n'), 3_000); setInterval(() => {}, 1_000);`;
  const main = await bundleWithRenewer(job, program);
  const step = await job.run({ ...locking(hero, renewing), main, env: { NODE_OPTIONS: '' } });
  expect(step, step.log).toMatchObject({ conclusion: 'success', annotations: [] });
  expect(step.log).toContain('The locks are renewed until the job ends');
});

test('renews locks whose paths take more than 300 KB', async ({ expect, stage, clock }) => {
  const job = await stage.job();
  const folder = ['a', 'b', 'c'].map((letter) => letter.repeat(250)).join('/');
  const names = Array.from({ length: 340 }, (_, index) => `${folder}/${String(index).padStart(200, '0')}`);
  mkdirSync(join(job.folders.workspace, folder), { recursive: true });
  for (const name of names) writeFileSync(join(job.folders.workspace, name), '');
  const step = await job.run(locking(`${folder}/*`, { ...renewing, glob: 'true' }));
  expect(step, step.log).toMatchObject({ conclusion: 'success', outputs: { count: '340' } });
  expect(Buffer.byteLength(JSON.stringify(names))).toBeGreaterThan(300_000);
  const first = await stage.locks();
  await renewed({ job, clock, expect }, everyForm ? 4 : 1);
  const later = await stage.locks();
  expect(later.map(({ id }) => id)).toEqual(first.map(({ id }) => id));
  expect(later).toHaveLength(340);
  const [post] = await job.post();
  expect(post, post?.log).toMatchObject({ conclusion: 'success', annotations: [] });
});

test('a step with `renew` that gets no lock leaves no process running', async ({ expect, stage }) => {
  const job = await stage.job();
  await stage.takenByGrace(hero);
  const step = await job.run(locking(hero, renewing));
  expect(step).toMatchObject({ conclusion: 'failure', outputs: { status: 'held' } });
  await expect.poll(() => job.leftProcesses(), patiently).toEqual([]);
});

test('reports a lock lost in an outage in each later step, and fails the job', async ({ expect, stage, clock }) => {
  const proxy = await stage.proxy();
  const job = await stage.job();
  await job.run(locking([hero, 'b'], renewing));
  proxy.down();
  await clock.pass(longerThanTtlMs);
  expect(await stage.locks()).toEqual([]);
  const theirs = await stage.takenByGrace(hero);
  proxy.up();
  await expect
    .poll(
      () =>
        lossesOf(job)
          .map(({ path }) => path)
          .toSorted(),
      patiently,
    )
    .toEqual([hero, 'b'].toSorted());
  for (const step of [locking('c'), { with: { operation: 'list-workspaces' } }]) {
    const { annotations } = await job.run(step);
    const said = annotations.map(({ message }) => message).join('\n');
    expect(said).toMatch(
      /The lock on Content\/Hero\.uasset was lost at .* It was then held by grace until .* \(in .*\), locked in https:\/\/ci\.example\.com\/runs\/7, since .*\.$/m,
    );
    expect(said).toMatch(/The lock on b was lost at .*, when the service refused to renew it\.$/m);
  }
  const unlock = await job.run(unlocking({ path: 'c', glob: 'false' }));
  expect(unlock.annotations).toHaveLength(2);
  const post = (await job.post()).at(-1);
  expect(post).toMatchObject({ conclusion: 'failure' });
  expect(post?.annotations.filter(({ level }) => level === 'error')).toHaveLength(2);
  expect(await stage.locks()).toEqual([theirs]);
  expect(job.leftProcesses()).toEqual([]);
});

test('a path that was locked again does not hide its earlier loss', async ({ expect, stage, clock }) => {
  const job = await stage.job();
  await job.run(locking(hero, renewing));
  await stage.release(hero);
  await clock.pass(periodMs);
  await expect.poll(() => lossesOf(job).length, patiently).toBe(1);
  await job.run(locking(hero));
  await job.run(unlocking({ path: hero, glob: 'false' }));
  const post = (await job.post()).at(-1);
  expect(post, post?.log).toMatchObject({ conclusion: 'failure' });
});

test('renews the remaining locks of a lease with one request, until none is left', async ({ expect, stage, clock }) => {
  const proxy = await stage.proxy();
  const job = await stage.job();
  await job.run(locking([hero, 'b', 'c'], renewing));
  await job.run(unlocking({ path: hero, glob: 'false' }));
  const from = proxy.passed.length;
  await renewed({ job, clock, expect }, 3);
  const renewals = proxy.passed.slice(from);
  expect(new Set(renewals.map(({ url }) => url)).size).toBe(1);
  expect(renewals.every((one) => isRenewing(one) && one.status === 200)).toBe(true);
  expect((await stage.locks()).map(({ path }) => path)).toEqual(['b', 'c']);
  await job.run(unlocking({}));
  await expect.poll(() => job.leftProcesses(), patiently).toEqual([]);
  const posts = await job.post();
  expect(posts.flatMap(({ annotations }) => annotations)).toEqual([]);
  expect(await stage.locks()).toEqual([]);
});

for (const [order, kind, status] of [
  ['before', 'done-then-held-back', 200],
  ['after', 'held-back', 412],
] as const) {
  test(`a renewal that arrives ${order} the release does not restore the lock`, async ({ expect, stage, clock }) => {
    const proxy = await stage.proxy();
    const job = await stage.job();
    const arrived = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const meet = once(isRenewing, { kind, until: released.promise });
    proxy.meet((passing) => {
      const fault = meet(passing);
      if (fault !== undefined) arrived.resolve();
      // Retries of the unanswered renewal must not learn its result.
      return fault ?? (isRenewing(passing) ? { kind: 'silence' } : undefined);
    });
    await job.run(locking(hero, renewing));
    await clock.pass(periodMs);
    await arrived.promise;
    const [post] = await job.post();
    expect(post, post?.log).toMatchObject({ conclusion: 'success', annotations: [] });
    expect(await stage.locks()).toEqual([]);
    released.resolve();
    await expect.poll(() => proxy.passed.filter(isRenewing)[0]?.status, patiently).toBe(status);
    expect(await stage.locks()).toEqual([]);
    expect(job.leftProcesses()).toEqual([]);
  });
}

test('no token is in a file, argument or environment that a later step can read', async ({ expect, stage }) => {
  const job = await stage.job();
  const gitHubToken = 'ghs_of_this_test';
  const cancelling = { 'on-lost': 'cancel', 'github-token': gitHubToken };
  await job.run(locking(hero, { ...renewing, ...cancelling, token: stage.token }));
  const pid = onlyProcessOf(job);
  for (const name of ['environ', 'cmdline']) {
    const text = readFileSync(`/proc/${pid}/${name}`, 'utf8');
    expect(text).toContain(name === 'environ' ? 'RUNNER_TRACKING_ID' : 'renew/index.js');
    for (const token of [stage.token, gitHubToken]) expect(text).not.toContain(token);
  }
  const names = readdirSync(job.folders.temp, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  expect(names.length).toBeGreaterThan(0);
  for (const { parentPath, name } of names) {
    const text = readFileSync(join(parentPath, name), 'utf8');
    for (const token of [stage.token, gitHubToken]) expect(text).not.toContain(token);
  }
  await job.post();
});
