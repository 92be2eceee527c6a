import { describe, expect, test } from 'vitest';
import { isLocking, type Manner, pathByPath } from '../../support/fault-proxy.ts';
import { fasterTime } from '../../support/preload.ts';
import type { Job } from '../../support/runner/job.ts';
import type { StepResult } from '../../support/runner/step.ts';
import { checkOut } from '../scene.ts';
import { atEveryRequest, lostResponse, manners, meetAt } from './faults.ts';
import { locking, openStage, useService } from './stage.ts';

useService();

const takingAny = (any: number, paths: readonly string[], inputs: Readonly<Record<string, string>> = {}) =>
  locking(paths, { any: String(any), ...inputs });

const takenBy = ({ outputs }: StepResult): readonly string[] =>
  JSON.parse(outputs['locks'] ?? '').map(({ path }: { readonly path: string }) => path);

describe('two of three paths', () => {
  test('are the free ones, in the order of the input, and are released at the end of the job', async () => {
    const stage = await openStage();
    const theirs = await stage.takenByGrace('a');
    const job = await stage.job();
    const result = await job.run(takingAny(2, ['c', 'a', 'b']));
    expect(result, result.log).toMatchObject({
      conclusion: 'success',
      annotations: [],
      outputs: { status: 'acquired', acquired: 'true', count: '2', holder: '' },
    });
    expect(takenBy(result)).toEqual(['c', 'b']);
    expect((await stage.locks()).map(({ path }) => path)).toEqual(['a', 'b', 'c']);
    const [post] = await job.post();
    expect(post?.log).toContain('Released 2 locks at the end of the job.');
    expect(await stage.locks()).toEqual([theirs]);
  });

  test('are not acquired if two are held: the step names the holders, and how many could be free', async () => {
    const stage = await openStage();
    const theirs = [await stage.takenByGrace('a'), await stage.takenByGrace('b')];
    const job = await stage.job();
    const result = await job.run(takingAny(2, ['a', 'b', 'c']));
    expect(result).toMatchObject({
      conclusion: 'failure',
      outputs: { status: 'held', acquired: 'false', count: '0', locks: '[]', holder: 'grace' },
    });
    const held = (path: string) =>
      `${path} is held by grace until (\\d{4}-\\d\\d-\\d\\d )?\\d\\d:\\d\\d UTC \\(in 1 h\\), locked in https:\\S+/7`;
    expect(result.annotations[0]?.message).toMatch(
      new RegExp(
        `^At most 1 of the 3 paths can be free, and 2 are needed: ${held('[ab]')}; ${held('[ab]')}\\. Set \`wait\` to wait for one of them\\.$`,
      ),
    );
    expect(await stage.locks()).toEqual(theirs);
  });

  test('exclude those that the job already holds, and the job does not wait for its own locks', async () => {
    const stage = await openStage();
    const job = await stage.job();
    await job.run({ ...locking('b'), id: 'take-b' });
    expect(takenBy(await job.run(takingAny(2, ['a', 'b', 'c'])))).toEqual(['a', 'c']);
    const result = await job.run(takingAny(2, ['b', 'd'], { wait: '10m' }));
    expect(result).toMatchObject({ conclusion: 'failure', outputs: { status: 'held', waited_seconds: '0' } });
    expect(result.annotations[0]?.message).toMatch(
      /^This job already holds b: the step `take-b` locked it, .*\. Leave them out of this step, or release/,
    );
    const fewer = await job.run(takingAny(2, ['a', 'b', 'd'], { wait: '10m' }));
    expect(fewer.annotations[0]?.message).toMatch(
      /^This job already holds a, b: .*\. Name more paths for `any`, or release/,
    );
    await job.post();
    expect(await stage.locks()).toEqual([]);
  });
});

test.each([
  ['paths', ['a', 'b', './a', 'a'], 'a, b'],
  ['patterns', ['Maps/*.umap', 'Maps/Cave.*'], 'Maps/Arena.umap, Maps/Cave.umap'],
])(
  '`any` must not exceed the number of paths that the %s stand for, and no request is sent',
  async (_, path, named) => {
    const stage = await openStage();
    const proxy = await stage.proxy();
    const job = await stage.job();
    await checkOut(job, 'Maps/Arena.umap', 'Maps/Cave.umap');
    const result = await job.run({ with: { operation: 'lock', path: path.join('\n'), any: '3' } });
    expect(result).toMatchObject({ conclusion: 'failure', outputs: {} });
    expect(result.annotations.map(({ message }) => message)).toEqual([
      `Input \`any\` is 3, but \`path\` names only 2 paths: ${named}. Add paths, or lower \`any\`.`,
    ]);
    expect(proxy.passed).toEqual([]);
  },
);

describe('a wait for any of several paths', () => {
  test('ends as soon as one of them is released, whichever it is', async () => {
    const stage = await openStage();
    for (const path of ['a', 'b', 'c']) await stage.takenByGrace(path);
    const proxy = await stage.proxy();
    const job = await stage.job();
    const step = await job.step(takingAny(1, ['a', 'b', 'c'], { wait: '10m' }));
    await step.waitForLog(
      /^None of the 3 paths is free: . is held by grace until .*, since .*; . is held .*; . is held .*\. Waiting, 10 min left\.$/m,
    );
    await expect.poll(() => proxy.passed.filter(({ headers }) => isWaiting(headers['prefer'])).length).toBe(1);
    const before = proxy.passed.length;
    await stage.release('b');
    const result = await step.finished;
    expect(takenBy(result)).toEqual(['b']);
    // The response to the request that waits has the lock.
    expect(proxy.passed.slice(before)).toEqual([]);
    await job.post();
    expect((await stage.locks()).map(({ path }) => path)).toEqual(['a', 'c']);
  });

  test.each([
    ['cancelled', (step: Awaited<ReturnType<Job['step']>>) => step.cancel()],
    ['killed', (step: Awaited<ReturnType<Job['step']>>) => step.kill()],
  ])('releases its locks if it is %s during one of several requests, and leaves nothing behind', async (_, end) => {
    const stage = await openStage();
    const theirs = await stage.takenByGrace('a');
    const proxy = await stage.proxy(pathByPath);
    const job = await stage.job();
    let taken = 0;
    const second = Promise.withResolvers<void>();
    proxy.meet((passing) => {
      if (!isLocking(passing) || passing.path === 'a') return undefined;
      taken += 1;
      if (taken < 2) return undefined;
      second.resolve();
      return { kind: 'silence' };
    });
    const step = await job.step(takingAny(2, ['a', 'b', 'c'], { wait: '10m' }));
    await second.promise;
    await expect.poll(() => stage.locks()).toHaveLength(2);
    proxy.meet(() => undefined);
    await end(step);
    await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success', annotations: [] }]);
    expect(await stage.locks()).toEqual([theirs]);
  });
});

const isWaiting = (prefer: unknown): boolean => /^wait=[1-9]\d*$/.test(String(prefer));

const ours = manners[0]?.[1];
const plain: Manner = { knowsNoKeys: true, givesNoProof: true, waitsForNothing: true };

describe.each([...manners.slice(0, 1), ['has no optional features', plain] as const])(
  'two of three paths on a service that %s',
  (_, manner) => {
    test('are acquired completely or not at all, whichever response is lost', async () => {
      const stage = await openStage();
      const proxy = await stage.proxy(manner);
      const theirs = await stage.takenByGrace('b');
      const requests = await atEveryRequest(async (number) => {
        const job = await stage.job();
        const met = meetAt(proxy, number, lostResponse, async () => undefined);
        const result = await job.run({ ...takingAny(2, ['a', 'b', 'c']), env: { NODE_OPTIONS: fasterTime(4) } });
        await met.done();
        proxy.meet(() => undefined);
        const ours = (await stage.locks()).filter(({ id }) => id !== theirs.id).map(({ path }) => path);
        // Without keys, the result of an unanswered request stays unknown: the log names its path.
        const unknown = ['a', 'c'].filter((path) => result.log.includes(`${path} may have been locked:`));
        if (result.conclusion === 'success') expect(takenBy(result)).toEqual(['a', 'c']);
        expect(ours.filter((path) => !unknown.includes(path))).toEqual(
          result.conclusion === 'success' ? ['a', 'c'] : [],
        );
        if (manner.knowsNoKeys !== true) expect(result, result.log).toMatchObject({ conclusion: 'success' });
        await job.post();
        for (const { path, id } of await stage.locks()) {
          if (id === theirs.id) continue;
          expect(unknown).toContain(path);
          await stage.release(path);
        }
        return met;
      });
      expect(requests).toBeGreaterThanOrEqual(manner === ours ? 1 : 2);
    });
  },
);
