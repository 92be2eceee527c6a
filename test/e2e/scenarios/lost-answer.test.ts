import { describe, expect, test } from 'vitest';
import { type Fault, isLocking, isReleasing, once } from '../../support/fault-proxy.ts';
import { locking, openStage, type Stage, useService } from './stage.ts';

useService();

const hero = 'Content/Hero.uasset';

const forgetKeys = ({ service }: Stage) =>
  service.storage.commit('global', (db) => db.deleteFrom('remembered_answers').execute());

/** A job that is killed when the service has granted its lock, and before it learns of it. */
async function killedUnanswered(stage: Stage, manner = {}) {
  const proxy = await stage.proxy(manner);
  const granted = Promise.withResolvers<void>();
  proxy.meet((passing) => {
    if (!isLocking(passing)) return undefined;
    granted.resolve();
    return { kind: 'done-then-silence' };
  });
  const job = await stage.job();
  const step = await job.step(locking(hero));
  await granted.promise;
  await expect.poll(() => stage.locks()).toHaveLength(1);
  await step.kill();
  proxy.meet(() => undefined);
  return { proxy, job };
}

describe('when the answer to the request for a lock is lost', () => {
  test.each<[string, Fault]>([
    ['because the connection is cut', { kind: 'done-then-cut' }],
    ['because a proxy answers 502', { kind: 'done-then-answer', status: 502 }],
  ])('%s, the job has the lock all the same, and releases it at its end', async (_, fault) => {
    const stage = await openStage();
    const proxy = await stage.proxy();
    proxy.meet(once(isLocking, fault, fault));
    const job = await stage.job();
    const result = await job.run(locking(hero));
    expect(result).toMatchObject({ conclusion: 'success', outputs: { status: 'acquired', count: '1' } });
    const lock = await stage.lockOn(hero);
    expect(JSON.parse(result.outputs['locks'] ?? '')).toMatchObject([{ path: hero, id: lock?.id }]);
    // Asked three times, and one lock was made of it.
    expect(proxy.passed.filter(isLocking)).toHaveLength(3);
    await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success', annotations: [] }]);
    expect(await stage.locks()).toEqual([]);
  });

  test('and the job is killed right then, its post-step releases the lock', async () => {
    const stage = await openStage();
    const { job } = await killedUnanswered(stage);
    const [post] = await job.post();
    expect(post).toMatchObject({ conclusion: 'success', annotations: [] });
    expect(post?.log).toContain('Released 1 lock');
    expect(await stage.locks()).toEqual([]);
  });

  test('and the service refuses to say what became of it, the post-step says what may be left', async () => {
    const stage = await openStage();
    const { proxy, job } = await killedUnanswered(stage);
    proxy.meet((passing) => (isLocking(passing) ? { kind: 'answer', status: 401 } : undefined));
    const [post] = await job.post();
    expect(post).toMatchObject({
      conclusion: 'success',
      annotations: [{ level: 'warning', message: expect.stringMatching(/is not known.* 1h after .*401/s) }],
    });
    expect(await stage.locks()).toHaveLength(1);
  });

  test('and no attempt is left, the step fails and gives the lock back', async () => {
    const stage = await openStage();
    const proxy = await stage.proxy();
    proxy.meet(once(isLocking, { kind: 'done-then-cut' }));
    const job = await stage.job();
    await expect(job.run(locking(hero, { retries: '0' }))).resolves.toMatchObject({ conclusion: 'failure' });
    expect(await stage.locks()).toEqual([]);
  });

  test('while the path is held by a sibling with the same address, the job waits for it', async () => {
    const stage = await openStage();
    const sibling = await stage.job({ run: { runId: '8' } });
    await sibling.run(locking(hero));
    const proxy = await stage.proxy({ retryAfter: null });
    proxy.meet(once(isLocking, { kind: 'done-then-cut' }));
    const job = await stage.job({ run: { runId: '8' } });
    const step = await job.step(locking(hero, { wait: '10m' }));
    await step.waitForLog('Waiting, 10 min left');
    await sibling.post();
    await expect(step.finished).resolves.toMatchObject({ conclusion: 'success', outputs: { status: 'acquired' } });
    await expect(job.post()).resolves.toMatchObject([{ annotations: [] }]);
    expect(await stage.locks()).toEqual([]);
  });
});

describe('with a service that knows no idempotency keys', () => {
  const manner = { knowsNoKeys: true };

  test('a lost answer is not guessed: nothing is released, and the log says what may be left and until when', async () => {
    const stage = await openStage();
    const proxy = await stage.proxy(manner);
    proxy.meet(once(isLocking, { kind: 'done-then-cut' }));
    const job = await stage.job();
    const result = await job.run(locking(hero));
    expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'held', acquired: 'false' } });
    expect(result.log).toMatch(
      /It is not known whether this step locked Content\/Hero\.uasset.*that lock ends 1h after it was taken/,
    );
    const lock = await stage.lockOn(hero);
    const [post] = await job.post();
    expect(post).toMatchObject({
      conclusion: 'success',
      annotations: [
        {
          level: 'warning',
          message: expect.stringMatching(/^It is not known whether this step locked Content\/Hero\.uasset.*1h after/),
        },
      ],
    });
    expect(proxy.passed.filter(isReleasing)).toEqual([]);
    expect(await stage.locks()).toEqual([lock]);
  });

  test('what may be left of an earlier attempt is said by a step that gets the lock in the end, too', async () => {
    const stage = await openStage();
    const proxy = await stage.proxy({ ...manner, retryAfter: null });
    proxy.meet(once(isLocking, { kind: 'done-then-cut' }));
    const job = await stage.job();
    const step = await job.step(locking(hero, { wait: '10m' }));
    await step.waitForLog('Waiting, 10 min left');
    await stage.expire(hero);
    const result = await step.finished;
    expect(result).toMatchObject({ conclusion: 'success', outputs: { status: 'acquired' } });
    expect(result.log).toMatch(/It is not known whether this step locked Content\/Hero\.uasset/);
    const lock = await stage.lockOn(hero);
    expect(JSON.parse(result.outputs['locks'] ?? '')).toMatchObject([{ id: lock?.id }]);
    await job.post();
    expect(await stage.locks()).toEqual([]);
  });

  test('a job that was killed without its answer leaves the lock to its ttl, and says so', async () => {
    const stage = await openStage();
    const { proxy, job } = await killedUnanswered(stage, manner);
    const [post] = await job.post();
    expect(post).toMatchObject({
      conclusion: 'success',
      annotations: [{ level: 'warning', message: expect.stringContaining('is not known') }],
    });
    expect(proxy.passed.filter(isReleasing)).toEqual([]);
    expect(await stage.locks()).toHaveLength(1);
  });

  test('a path that somebody else holds is known to be theirs, and is waited for', async () => {
    const stage = await openStage();
    const theirs = await stage.take(hero, { origin: 'https://ci.example.com/runs/1' });
    const proxy = await stage.proxy({ ...manner, retryAfter: null });
    proxy.meet(once(isLocking, { kind: 'done-then-cut' }));
    const job = await stage.job();
    const step = await job.step(locking(hero, { wait: '10m' }));
    await step.waitForLog('Waiting, 10 min left');
    expect(await stage.locks()).toEqual([theirs]);
    await stage.release(hero);
    await expect(step.finished).resolves.toMatchObject({ conclusion: 'success' });
    await expect(job.post()).resolves.toMatchObject([{ annotations: [] }]);
    expect(await stage.locks()).toEqual([]);
  });
});

describe('when the service has forgotten the key of a killed job', () => {
  test('a lock that still stands is left to its ttl, and the post-step says so', async () => {
    const stage = await openStage();
    const { proxy, job } = await killedUnanswered(stage);
    await forgetKeys(stage);
    const [post] = await job.post();
    expect(post?.annotations).toMatchObject([{ level: 'warning', message: expect.stringContaining('is not known') }]);
    expect(proxy.passed.filter(isReleasing)).toEqual([]);
    expect(await stage.locks()).toHaveLength(1);
  });

  test('and the lock has ended, nothing is left behind', async () => {
    const stage = await openStage();
    const { job } = await killedUnanswered(stage);
    await forgetKeys(stage);
    await stage.expire(hero);
    await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success', annotations: [] }]);
    expect(await stage.locks()).toEqual([]);
  });

  test('and another run holds the path by now, that lock stands', async () => {
    const stage = await openStage();
    const { job } = await killedUnanswered(stage);
    await forgetKeys(stage);
    await stage.expire(hero);
    const theirs = await stage.take(hero, { origin: 'https://ci.example.com/runs/1' });
    await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success', annotations: [] }]);
    expect(await stage.locks()).toEqual([theirs]);
  });
});
