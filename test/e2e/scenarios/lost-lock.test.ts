import { describe, expect, test } from 'vitest';
import { isReleasing, type Manner } from '../../support/fault-proxy.ts';
import { readActionFile } from '../../support/runner/action-file.ts';
import { forms } from '../../support/runs.ts';
import { locking, openStage, type Stage, unlocking, useService } from './stage.ts';

useService();

const hero = 'Content/Hero.uasset';

async function takenByGrace(stage: Stage) {
  const grace = await stage.service.token({ name: 'grace', scopes: ['locks:write'] });
  return stage.take(hero, { token: grace.secret, origin: 'https://ci.example.com/runs/7' });
}

const manners: readonly (readonly [string, Manner])[] = [
  ['gives an ETag', {}],
  ['gives neither ETag nor id', { givesNoProof: true }],
  ['says nothing when it grants a lock', { givesNoProof: true, saysNothing: true }],
];

describe.each(forms(manners, 0, 2))('with a service that %s, a lock that expired during the job', (_, manner) => {
  test('and is somebody else’s by now is left alone; an error says when it was lost, and to whom', async () => {
    const stage = await openStage();
    const proxy = await stage.proxy(manner);
    const job = await stage.job();
    // In the ledger of the job it ends when the service says so.
    await job.run(locking([hero, 'b'], { ttl: '2s' }));
    await expect.poll(() => stage.locks(), { timeout: 10_000 }).toEqual([]);
    const theirs = await takenByGrace(stage);
    const [post] = await job.post();
    expect(post).toMatchObject({ conclusion: 'failure', exitCode: 1 });
    expect(post?.annotations.filter(({ level }) => level === 'error')).toMatchObject([
      {
        message: expect.stringMatching(
          /^The lock on Content\/Hero\.uasset was lost while the job relied on it\. It had ended at \d\d:\d\d UTC \(\d+ s ago\); a longer `ttl` would have kept it\. Content\/Hero\.uasset is held by grace until \d\d:\d\d UTC \(in 1 h\), taken by https:\/\/ci\.example\.com\/runs\/7, since \d\d:\d\d UTC/,
        ),
      },
    ]);
    expect(proxy.passed.filter((one) => isReleasing(one) && one.status === 204)).toEqual([]);
    expect(await stage.locks()).toEqual([theirs]);
  });

  test('and is nobody’s by now is a warning, with nothing to release', async () => {
    const stage = await openStage();
    await stage.proxy(manner);
    const job = await stage.job();
    await job.run(locking(hero, { ttl: '1s' }));
    await expect.poll(() => stage.locks(), { timeout: 10_000 }).toEqual([]);
    const [post] = await job.post();
    expect(post).toMatchObject({ conclusion: 'success' });
    expect(post?.annotations).toMatchObject([
      { level: 'warning', message: expect.stringContaining(`The lock on ${hero} had ended at `) },
    ]);
  });

  test('and is somebody else’s by now is left alone by an unlock, which fails', async () => {
    const stage = await openStage();
    await stage.proxy(manner);
    const job = await stage.job();
    const { outputs } = await job.run(locking([hero, 'b'], { ttl: '2s', 'auto-release': 'false' }));
    await expect.poll(() => stage.locks(), { timeout: 10_000 }).toEqual([]);
    const theirs = await takenByGrace(stage);
    const unlock = await job.run(unlocking({ locks: outputs['locks'] ?? '' }));
    expect(unlock.outputs['released']).toBe('[]');
    // By the output alone, without the ledger, only what the service has told of its lock can show that it is lost.
    if (manner.saysNothing) expect(unlock.annotations[0]?.message).toContain('it is left alone');
    else expect(unlock).toMatchObject({ conclusion: 'failure', outputs: { status: 'lost' } });
    expect(await stage.locks()).toEqual([theirs]);
  });
});

test('a lock that somebody released by force, and somebody else took, is an error, too', async () => {
  const stage = await openStage();
  const job = await stage.job();
  await job.run(locking(hero));
  await stage.release(hero);
  const theirs = await takenByGrace(stage);
  const [post] = await job.post();
  expect(post).toMatchObject({ conclusion: 'failure', exitCode: 1 });
  expect(post?.annotations).toMatchObject([
    {
      level: 'error',
      message: expect.stringMatching(/was lost .* Somebody had released it before its end\. .* by grace/),
    },
  ]);
  expect(await stage.locks()).toEqual([theirs]);
});

describe('a lock that was lost while the job ran', () => {
  const words = [
    ['the word that the step has saved, if it is to warn', { saved: 'warn', input: 'fail', conclusion: 'success' }],
    ['the word that the step has saved, if it is to fail', { saved: 'fail', input: 'warn', conclusion: 'failure' }],
    ['the input, where the step could save none', { saved: undefined, input: 'warn', conclusion: 'success' }],
    ['the safe side, where neither can be read', { saved: 'nothing', input: 'nothing', conclusion: 'failure' }],
  ] as const;

  test.each(forms(words, 0, 3))('goes by %s', async (_, { saved, input, conclusion }) => {
    const stage = await openStage();
    const job = await stage.job();
    const step = await job.run(locking(hero));
    expect(step.state['on-lost']).toBe('fail');
    await stage.release(hero);
    await takenByGrace(stage);
    const { post } = await readActionFile();
    // The runner evaluates the inputs of a post-step anew, and gives it what the step has saved.
    const state = { step: step.state['step'], locks: step.state['locks'], 'on-lost': saved };
    const known = Object.entries(state).flatMap(([name, value]) =>
      value === undefined ? [] : [[`STATE_${name}`, value]],
    );
    await expect(
      job.run({
        ...locking(hero, { 'on-lost': input }),
        main: post ?? '',
        post: null,
        env: Object.fromEntries(known),
      }),
    ).resolves.toMatchObject({ conclusion });
  });

  test('of which one fails and one warns, fails for the one that fails', async () => {
    const stage = await openStage();
    const job = await stage.job();
    await job.run(locking(hero, { 'on-lost': 'warn' }));
    await job.run(locking('b'));
    await stage.release(hero);
    await stage.release('b');
    await takenByGrace(stage);
    await stage.take('b');
    const [second, first] = await job.post();
    expect(second).toMatchObject({ conclusion: 'failure' });
    expect(first).toMatchObject({ conclusion: 'success' });
  });

  test('fails nothing where a lock cannot be released', async () => {
    const stage = await openStage();
    const proxy = await stage.proxy();
    const job = await stage.job();
    await job.run(locking(hero));
    proxy.meet((passing) => (isReleasing(passing) ? { kind: 'answer', status: 401 } : undefined));
    await expect(job.post()).resolves.toMatchObject([
      { conclusion: 'success', exitCode: 0, annotations: [{ level: 'warning' }] },
    ]);
  });
});

test('where nothing tells a lock from another, one past its lifetime is left alone, with a warning', async () => {
  const stage = await openStage();
  const proxy = await stage.proxy({ givesNoProof: true, saysNothing: true, keepsNoTimes: true, keepsNoOrigin: true });
  const job = await stage.job();
  await job.run(locking(hero, { ttl: '1s' }));
  await expect.poll(() => stage.locks(), { timeout: 10_000 }).toEqual([]);
  const theirs = await stage.take(hero);
  const [post] = await job.post();
  expect(post).toMatchObject({ conclusion: 'success' });
  expect(post?.annotations).toMatchObject([
    { level: 'warning', message: expect.stringContaining('what is there now has been left alone') },
  ]);
  expect(proxy.passed.filter(isReleasing)).toEqual([]);
  expect(await stage.locks()).toEqual([theirs]);
});

test('where nothing tells a lock from another, one within its lifetime is released', async () => {
  const stage = await openStage();
  await stage.proxy({ givesNoProof: true, saysNothing: true, keepsNoTimes: true, keepsNoOrigin: true });
  const job = await stage.job();
  await job.run(locking(hero));
  await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success', annotations: [] }]);
  expect(await stage.locks()).toEqual([]);
});

test.each([
  ['cut', { kind: 'done-then-cut' }],
  ['answered with 502', { kind: 'done-then-answer', status: 502 }],
] as const)(
  'without an ETag, a release whose answer is %s does not release the next lock on the path',
  async (_, fault) => {
    const stage = await openStage();
    const proxy = await stage.proxy({ givesNoProof: true });
    const job = await stage.job();
    await job.run(locking(hero));
    const released = Promise.withResolvers<void>();
    const taken = Promise.withResolvers<void>();
    let seen = 0;
    proxy.meet((passing) => {
      if (isReleasing(passing)) {
        seen += 1;
        released.resolve();
        return fault;
      }
      // What comes next is answered when somebody else has the path.
      return seen > 0 ? { kind: 'held-back', until: taken.promise } : undefined;
    });
    const post = await job.nextPost();
    await released.promise;
    await expect.poll(() => stage.locks()).toEqual([]);
    const theirs = await takenByGrace(stage);
    taken.resolve();
    await expect(post?.finished).resolves.toMatchObject({ conclusion: 'success', annotations: [] });
    expect(proxy.passed.filter(isReleasing)).toHaveLength(1);
    expect(await stage.locks()).toEqual([theirs]);
  },
);
