import { describe, expect, test } from 'vitest';
import { isReleasing, type Manner } from '../../support/fault-proxy.ts';
import { forms } from '../../support/runs.ts';
import { locking, unlocking } from './place.ts';
import { openStage, type Stage, useService } from './stage.ts';

useService();

const hero = 'Content/Hero.uasset';

/** A step that is killed when the service has released the lock, and before it learns of it. */
async function killedReleasing(stage: Stage, manner: Manner, play: 'unlock' | 'give back') {
  const proxy = await stage.proxy(manner);
  const job = await stage.job();
  if (play === 'unlock') await job.run(locking(hero));
  else await stage.take('Content/Zed.uasset');
  const released = Promise.withResolvers<void>();
  proxy.meet((passing) => {
    if (!isReleasing(passing)) return undefined;
    released.resolve();
    return { kind: 'done-then-silence' };
  });
  const step = await job.step(play === 'unlock' ? unlocking({ path: hero }) : locking([hero, 'Content/Zed.uasset']));
  await released.promise;
  await expect.poll(() => stage.lockOn(hero)).toBeUndefined();
  await step.kill();
  proxy.meet(() => undefined);
  const theirs = await stage.take(hero, { origin: 'https://ci.example.com/runs/7' });
  return { job, theirs };
}

const manners: readonly (readonly [string, Manner])[] = [
  ['gives ETags', {}],
  ['gives neither ETag nor id', { givesNoProof: true }],
  ['tells locks apart by nothing', { givesNoProof: true, saysNothing: true, keepsNoTimes: true }],
];

describe.each(forms(manners, 0, 2))('with a service that %s', (_, manner) => {
  test.each([
    ['an unlock', 'unlock'],
    ['a step that gives back what it took', 'give back'],
  ] as const)(
    '%s that was killed half-way is no loss of the lock, and the next lock on the path stands',
    async (__, play) => {
      const stage = await openStage();
      const { job, theirs } = await killedReleasing(stage, manner, play);
      const posts = await job.post();
      const errors = posts.flatMap(({ annotations }) => annotations.filter(({ level }) => level === 'error'));
      expect(errors).toEqual([]);
      expect(await stage.lockOn(hero)).toEqual(theirs);
    },
  );

  test.each(['by its path', 'by a pattern'])(
    'an unlock that was killed half-way and is repeated %s says who has the path now, and not that it was lost',
    async (how) => {
      const stage = await openStage();
      const { job, theirs } = await killedReleasing(stage, manner, 'unlock');
      const again = await job.run(unlocking({ path: how === 'by its path' ? hero : 'Content/*.uasset' }));
      expect(again, again.log).toMatchObject({ conclusion: 'success', outputs: { status: 'held', released: '[]' } });
      expect(await stage.lockOn(hero)).toEqual(theirs);
    },
  );
});
