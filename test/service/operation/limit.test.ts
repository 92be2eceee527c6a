import fc from 'fast-check';
import { expect, test } from 'vitest';
import { limitParallel } from '../../../src/service/operation/limit.ts';

test('all work is done, in the order in which it came, and never more of it than allowed at the same time', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.boolean(), { minLength: 1, maxLength: 15 }),
      async (scheduler, most, fails) => {
        const inTurn = limitParallel(most);
        const begun: number[] = [];
        let running = 0;
        let highest = 0;
        const results = Promise.allSettled(
          fails.map((failing, index) =>
            inTurn(async () => {
              begun.push(index);
              running += 1;
              highest = Math.max(highest, running);
              await scheduler.schedule(Promise.resolve(), `work ${index}`);
              running -= 1;
              if (failing) throw new Error(`${index} had to fail.`);
              return index;
            }),
          ),
        );
        await scheduler.waitIdle();
        const expected = fails.map((failing, index) =>
          failing
            ? { status: 'rejected', reason: new Error(`${index} had to fail.`) }
            : { status: 'fulfilled', value: index },
        );
        expect(await results).toEqual(expected);
        expect(begun).toEqual(fails.map((_, index) => index));
        expect(highest).toBe(Math.min(most, fails.length));
      },
    ),
  );
});

test('a place that came free is there for what comes later', async () => {
  const inTurn = limitParallel(1);
  expect(await inTurn(async () => 'first')).toBe('first');
  expect(await inTurn(async () => 'second')).toBe('second');
  const held = Promise.withResolvers<void>();
  const holding = inTurn(() => held.promise);
  let begun = false;
  const waiting = inTurn(async () => {
    begun = true;
  });
  await Promise.resolve();
  expect(begun).toBe(false);
  held.resolve();
  await Promise.all([holding, waiting]);
  expect(begun).toBe(true);
});
