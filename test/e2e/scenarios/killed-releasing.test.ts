import { describe, expect, test } from 'vitest';
import { isReleasing, type Manner, pathByPath } from '../../support/fault-proxy.ts';
import { forms } from '../../support/runs.ts';
import { locking, unlocking } from './place.ts';
import { openStage, type Stage, useService } from './stage.ts';

useService();

const hero = 'Content/Hero.uasset';

/** A step that is killed after the service has released the lock, but before the response. */
async function killedReleasing(stage: Stage, manner: Manner, play: 'unlock' | 'roll back') {
  const proxy = await stage.proxy(play === 'unlock' ? manner : { ...pathByPath, ...manner });
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
  ['has ETags', {}],
  ['has neither ETags nor ids', { givesNoProof: true }],
  ['has no way to identify locks', { givesNoProof: true, saysNothing: true, keepsNoTimes: true }],
];

describe.each(forms(manners, 0, 2))('with a service that %s', (_, manner) => {
  test.each([
    ['an unlock step', 'unlock'],
    ['a step that rolls back', 'roll back'],
  ] as const)(
    '%s that is killed during a release loses no lock, and leaves the next lock on the path alone',
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
    'an unlock that was killed and is repeated %s reports the current holder, and no loss',
    async (how) => {
      const stage = await openStage();
      const { job, theirs } = await killedReleasing(stage, manner, 'unlock');
      const again = await job.run(unlocking({ path: how === 'by its path' ? hero : 'Content/*.uasset' }));
      expect(again, again.log).toMatchObject({ conclusion: 'success', outputs: { status: 'held', released: '[]' } });
      expect(await stage.lockOn(hero)).toEqual(theirs);
    },
  );
});
