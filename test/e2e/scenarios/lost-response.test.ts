import { describe, expect, test } from 'vitest';
import {
  type Fault,
  type FaultProxy,
  isLocking,
  isReleasing,
  type Manner,
  once,
  type Passing,
  pathByPath,
} from '../../support/fault-proxy.ts';
import { fasterTime } from '../../support/preload.ts';
import type { Variables } from '../../support/runner/job.ts';
import { killAt } from './faults.ts';
import { hero, locking, openStage, openWithProxy, type Stage, unlocking, useService } from './stage.ts';

useService();

const forgetKeys = ({ service }: Stage) =>
  service.storage.commit('global', (db) => db.deleteFrom('remembered_answers').execute());

/** A job that is killed after the service granted its lock, but before the response. */
async function killedUnanswered(stage: Stage, manner: Manner, env: Variables = {}) {
  const proxy = await stage.proxy(manner);
  const granted = Promise.withResolvers<void>();
  proxy.meet((passing) => {
    if (!isLocking(passing)) return undefined;
    granted.resolve();
    return { kind: 'done-then-silence' };
  });
  const job = await stage.job({ env });
  const step = await job.step(locking(hero));
  await granted.promise;
  await expect.poll(() => stage.locks()).toHaveLength(1);
  await step.kill();
  proxy.meet(() => undefined);
  return { proxy, job };
}

test('without idempotency keys in the service, a lost response releases nothing, and the log says what may be left', async () => {
  const { stage, proxy, job } = await openWithProxy({ knowsNoKeys: true });
  proxy.meet(once(isLocking, { kind: 'done-then-cut' }));
  const result = await job.run(locking(hero));
  expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'held', acquired: 'false' } });
  expect(result.log).toMatch(/Content\/Hero\.uasset may have been locked.*the lock expires 1h after it was granted/);
  const lock = await stage.lockOn(hero);
  const [post] = await job.post();
  expect(post).toMatchObject({
    conclusion: 'success',
    annotations: [
      { level: 'warning', message: expect.stringMatching(/^Content\/Hero\.uasset may have been locked.*1h after/) },
    ],
  });
  expect(proxy.passed.filter(isReleasing)).toEqual([]);
  expect(await stage.locks()).toEqual([lock]);
});

test('a lock whose first request is still running in another service is released at the end of the job', async () => {
  const stage = await openStage();
  const { proxy, job } = await killedUnanswered(stage, pathByPath);
  proxy.meet(
    once(isLocking, {
      ...{ kind: 'answer', status: 409, headers: { 'content-type': 'application/json', 'retry-after': '1' } },
      body: '{"message":"A request with this Idempotency-Key is still in progress"}',
    }),
  );
  await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success', annotations: [] }]);
  expect(await stage.locks()).toEqual([]);
});

test('an earlier lock of the same owner survives the end of a job that was killed before the service returned it', async () => {
  const stage = await openStage();
  const theirs = await stage.take(hero);
  const { proxy, job } = await killedUnanswered(stage, pathByPath);
  const body = JSON.stringify({ ...theirs, acquired_at: '2026-01-01T00:00:00Z' });
  const headers = { 'content-type': 'application/json', etag: `"${theirs.id}"` };
  proxy.meet(once(isLocking, { kind: 'answer', status: 200, headers, body }));
  await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success', annotations: [] }]);
  expect(await stage.locks()).toEqual([theirs]);
});

interface Left {
  /** Expected warning of the post-step. */
  readonly warning?: RegExp;
  /** Number of remaining locks. */
  readonly locks: number;
  /** Environment of the job. */
  readonly env?: Variables;
}

type Fate = (stage: Stage, proxy: FaultProxy) => Promise<unknown>;

test.each<[string, Manner, Fate, Left]>([
  ['is released if its key resolves the request', {}, async () => undefined, { locks: 0 }],
  [
    'is left, and reported, if the service rejects the request',
    {},
    async (_, proxy) => proxy.meet((passing) => (isLocking(passing) ? { kind: 'answer', status: 401 } : undefined)),
    // The post-step retries until its time is up.
    { warning: /may have been locked.* 1h after .*401/s, locks: 1, env: { NODE_OPTIONS: fasterTime(5) } },
  ],
  [
    'is left until its ttl expires, and reported, if the service has removed the key',
    {},
    forgetKeys,
    { warning: /may have been locked/, locks: 1 },
  ],
  [
    'is not confused with that of another run if the service has removed the key',
    {},
    async (stage) => {
      await forgetKeys(stage);
      await stage.expire(hero);
      await stage.takenByGrace(hero);
    },
    { locks: 1 },
  ],
])('the lock of a job that was killed before the response %s', async (_, manner, happens, { warning, locks, env }) => {
  const stage = await openStage();
  const { proxy, job } = await killedUnanswered(stage, manner, env);
  await happens(stage, proxy);
  const [post] = await job.post();
  expect(post?.conclusion).toBe('success');
  expect(post?.annotations.map(({ level, message }) => [level, message])).toEqual(
    warning === undefined ? [] : [['warning', expect.stringMatching(warning)]],
  );
  if (locks > 0) expect(proxy.passed.filter(isReleasing)).toEqual([]);
  expect(await stage.locks()).toHaveLength(locks);
});

describe('a lock that nothing identifies is released at the end of the job', () => {
  const isListing = ({ method, path }: Passing): boolean => method === 'GET' && path === undefined;
  const manner = { givesNoProof: true, looksAlike: true };

  test('after a step that was killed while it looked for the holder, before it sent the release', async () => {
    const { stage, proxy, job } = await openWithProxy(manner);
    const theirs = await stage.takenByGrace('b');
    await killAt(proxy, job, locking(['a', 'b']), isListing);
    await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success', annotations: [] }]);
    expect(await stage.locks()).toEqual([theirs]);
  });

  const tooMany: Fault = { kind: 'answer', status: 429, headers: { 'retry-after': '600' } };
  test.each<[string, (passing: Passing) => Fault | undefined]>([
    ['could not look for the holder', () => ({ kind: 'cut' })],
    ['was refused by the rate limit', (passing) => (isReleasing(passing) ? tooMany : undefined)],
  ])('after an unlock that %s', async (_, fault) => {
    const { stage, proxy, job } = await openWithProxy(manner);
    await job.run(locking(hero));
    proxy.meet(fault);
    // A second by the clock of the machine: a response may take that long under load.
    const unlock = unlocking({ path: hero, retries: '0', 'request-timeout': '60s' });
    const result = await job.run({ ...unlock, env: { NODE_OPTIONS: fasterTime(60) } });
    expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'held', released: '[]' } });
    proxy.meet(() => undefined);
    const [, post] = await job.post();
    expect(post).toMatchObject({ conclusion: 'success', annotations: [] });
    expect(await stage.locks()).toEqual([]);
  });
});
