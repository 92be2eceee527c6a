import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { limitParallel } from '../../../src/service/runtime/limit-parallel.ts';

const busy = () => new Error('Too busy.');

afterEach(() => {
  vi.useRealTimers();
});

test('work runs within the limits, without idle slots, and in order for each key', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.integer({ min: 1, max: 4 }),
      fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
      fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c'), fails: fc.boolean() }), { maxLength: 20 }),
      async (scheduler, max, share, works) => {
        const maxPerKey = share ?? max;
        const limited = limitParallel({ max, ...(share && { maxPerKey, timeout: { ms: 60_000, error: busy } }) });
        const begun: number[] = [];
        const running = new Map<string, number>();
        const waiting = new Map<string, number>();
        const change = (counts: Map<string, number>, key: string, difference: number) =>
          counts.set(key, (counts.get(key) ?? 0) + difference);
        const total = () => [...running.values()].reduce((sum, count) => sum + count, 0);
        for (const { key } of works) change(waiting, key, 1);
        const results = Promise.allSettled(
          works.map(({ key, fails }, index) =>
            limited(key, async () => {
              begun.push(index);
              change(waiting, key, -1);
              change(running, key, 1);
              expect(total()).toBeLessThanOrEqual(max);
              expect(running.get(key)).toBeLessThanOrEqual(maxPerKey);
              await scheduler.schedule(Promise.resolve());
              change(running, key, -1);
              if (fails) throw new Error(`${index} had to fail.`);
              return index;
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
        expect(await results).toEqual(
          works.map(({ fails }, index) =>
            fails
              ? { status: 'rejected', reason: new Error(`${index} had to fail.`) }
              : { status: 'fulfilled', value: index },
          ),
        );
        for (const key of ['a', 'b', 'c']) {
          const ofKey = begun.filter((index) => works[index]?.key === key);
          expect(ofKey).toEqual(ofKey.toSorted((one, other) => one - other));
        }
      },
    ),
    { numRuns: 50 },
  );
});

test('a free slot goes to the key that uses the fewest, even if others have queued before it', async () => {
  const limited = limitParallel({ max: 2, maxPerKey: 2, timeout: { ms: 60_000, error: busy } });
  const order: string[] = [];
  const gates = Array.from({ length: 2 }, () => Promise.withResolvers<void>());
  const holding = gates.map(({ promise }) => limited('greedy', () => promise));
  const work = (key: string) => limited(key, async () => void order.push(key));
  const rest = [work('greedy'), work('greedy'), work('other')];
  gates[0]?.resolve();
  await Promise.all(rest);
  expect(order[0]).toBe('other');
  gates[1]?.resolve();
  await Promise.all(holding);
});

test('work that has waited too long is rejected, and takes no slot later', async () => {
  vi.useFakeTimers();
  const limited = limitParallel({ max: 1, maxPerKey: 1, timeout: { ms: 5_000, error: busy } });
  const held = Promise.withResolvers<void>();
  const holding = limited('a', () => held.promise);
  const late = vi.fn(async () => undefined);
  const refused = expect(limited('b', late)).rejects.toThrow('Too busy.');
  await vi.advanceTimersByTimeAsync(5_000);
  await refused;
  held.resolve();
  await holding;
  expect(late).not.toHaveBeenCalled();
  expect(await limited('b', async () => 'done')).toBe('done');
});

test('work whose client is gone leaves the queue, and takes no slot later', async () => {
  const limited = limitParallel({ max: 1 });
  const held = Promise.withResolvers<void>();
  const holding = limited('a', () => held.promise);
  const client = new AbortController();
  const late = vi.fn(async () => undefined);
  const waiting = limited('b', late, client.signal);
  const next = limited('b', async () => 'done');
  client.abort();
  await expect(waiting).rejects.toBe(client.signal.reason);
  await expect(limited('b', late, client.signal)).rejects.toBe(client.signal.reason);
  held.resolve();
  await holding;
  expect(await next).toBe('done');
  expect(late).not.toHaveBeenCalled();
});
