import { expect, test } from 'vitest';
import { locking, openStage, unlocking, useService } from './stage.ts';

useService();

const hero = 'Content/Hero.uasset';

test('a lock that was unlocked and then taken by another job stands when the first job ends', async () => {
  const stage = await openStage();
  const first = await stage.job();
  const second = await stage.job();
  await expect(first.run(locking(hero))).resolves.toMatchObject({ conclusion: 'success' });
  await expect(first.run(unlocking({ path: hero }))).resolves.toMatchObject({ outputs: { status: 'released' } });
  await expect(second.run(locking(hero))).resolves.toMatchObject({ conclusion: 'success' });
  const theirs = await stage.lockOn(hero);

  const [unlockPost, lockPost] = await first.post();
  expect(lockPost).toMatchObject({ conclusion: 'success', annotations: [] });
  expect(unlockPost).toMatchObject({ conclusion: 'success', log: '' });
  expect(await stage.lockOn(hero)).toEqual(theirs);
});
