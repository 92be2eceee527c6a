import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { limitParallel } from '../../../src/service/runtime/limit-parallel.ts';

const busy = () => new Error('Too busy.');

afterEach(() => {
  vi.useRealTimers();
});

test('no key has more than its share, no place is left free that somebody could have, and all work is done', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c'), fails: fc.boolean() }), { maxLength: 20 }),
      async (scheduler, max, maxPerKey, works) => {
        const inTurn = limitParallel({ max, maxPerKey, patience: { maxWaitMs: 60_000, busy } });
        const running = new Map<string, number>();
        const waiting = new Map<string, number>();
        const change = (counts: Map<string, number>, key: string, difference: number) =>
          counts.set(key, (counts.get(key) ?? 0) + difference);
        const total = () => [...running.values()].reduce((sum, count) => sum + count, 0);
        for (const { key } of works) change(waiting, key, 1);
        const results = Promise.allSettled(
          works.map(({ key, fails }) =>
            inTurn(key, async () => {
              change(waiting, key, -1);
              change(running, key, 1);
              expect(total()).toBeLessThanOrEqual(max);
              expect(running.get(key)).toBeLessThanOrEqual(maxPerKey);
              await scheduler.schedule(Promise.resolve());
              change(running, key, -1);
              if (fails) throw new Error('It had to fail.');
            }),
          ),
        );
        await new Promise(setImmediate);
        while (scheduler.count() > 0) {
          const couldRun = [...waiting].some(
            ([key, count]) => count > 0 && (running.get(key) ?? 0) < maxPerKey && total() < max,
          );
          expect(couldRun).toBe(false);
          await scheduler.waitOne();
          await new Promise(setImmediate);
        }
        expect((await results).map(({ status }) => status)).toEqual(
          works.map(({ fails }) => (fails ? 'rejected' : 'fulfilled')),
        );
      },
    ),
    { numRuns: 50 },
  );
});

test('a place that comes free goes to the key with the fewest, however many of another came before', async () => {
  const inTurn = limitParallel({ max: 2, maxPerKey: 2, patience: { maxWaitMs: 60_000, busy } });
  const order: string[] = [];
  const gates = Array.from({ length: 2 }, () => Promise.withResolvers<void>());
  const holding = gates.map(({ promise }) => inTurn('greedy', () => promise));
  const work = (key: string) => inTurn(key, async () => void order.push(key));
  const rest = [work('greedy'), work('greedy'), work('other')];
  gates[0]?.resolve();
  await Promise.all(rest);
  expect(order[0]).toBe('other');
  gates[1]?.resolve();
  await Promise.all(holding);
});

test('whoever has waited for too long is told so, and takes no place later', async () => {
  vi.useFakeTimers();
  const inTurn = limitParallel({ max: 1, maxPerKey: 1, patience: { maxWaitMs: 5_000, busy } });
  const held = Promise.withResolvers<void>();
  const holding = inTurn('a', () => held.promise);
  const late = vi.fn(async () => undefined);
  const refused = expect(inTurn('b', late)).rejects.toThrow('Too busy.');
  await vi.advanceTimersByTimeAsync(5_000);
  await refused;
  held.resolve();
  await holding;
  expect(late).not.toHaveBeenCalled();
  expect(await inTurn('b', async () => 'done')).toBe('done');
});

test('work of one key is done in the order in which it came, and never more of it than allowed at the same time', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.boolean(), { minLength: 1, maxLength: 15 }),
      async (scheduler, max, fails) => {
        const inTurn = limitParallel({ max });
        const begun: number[] = [];
        let running = 0;
        let highest = 0;
        const results = Promise.allSettled(
          fails.map((failing, index) =>
            inTurn('', async () => {
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
        expect(highest).toBe(Math.min(max, fails.length));
      },
    ),
  );
});

test('a place that came free is there for what comes later', async () => {
  const inTurn = limitParallel({ max: 1 });
  expect(await inTurn('', async () => 'first')).toBe('first');
  expect(await inTurn('', async () => 'second')).toBe('second');
  const held = Promise.withResolvers<void>();
  const holding = inTurn('', () => held.promise);
  let begun = false;
  const waiting = inTurn('', async () => {
    begun = true;
  });
  await Promise.resolve();
  expect(begun).toBe(false);
  held.resolve();
  await Promise.all([holding, waiting]);
  expect(begun).toBe(true);
});
