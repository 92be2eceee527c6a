import { expect, test } from 'vitest';
import { limitMemory } from '../../../src/service/runtime/limit-memory.ts';

const error = () => new Error('full');

/** Work that holds this much until it is ended. */
function holder(holding: ReturnType<typeof limitMemory>, key: string, ...pieces: readonly number[]) {
  const { promise, resolve: end } = Promise.withResolvers<void>();
  const result = holding(key, async (take) => {
    for (const bytes of pieces) take(bytes);
    await promise;
    return 'done';
  });
  result.catch(() => undefined);
  return { result, end };
}

test('work that takes more than the limit fails, and what ends leaves its memory to others', async () => {
  const holding = limitMemory({ maxBytes: 10, maxBytesPerKey: 10, error });
  const first = holder(holding, 'a', 3, 3);
  await expect(holder(holding, 'b', 4, 1).result).rejects.toThrow('full');
  const second = holder(holding, 'b', 4);
  await expect(holder(holding, 'c', 1).result).rejects.toThrow('full');
  first.end();
  expect(await first.result).toBe('done');
  const third = holder(holding, 'c', 6);
  for (const { end } of [second, third]) end();
  expect(await Promise.all([second.result, third.result])).toEqual(['done', 'done']);
});

test('one key leaves memory for the others', async () => {
  const holding = limitMemory({ maxBytes: 10, maxBytesPerKey: 7, error });
  const greedy = holder(holding, 'a', 7);
  await expect(holder(holding, 'a', 1).result).rejects.toThrow('full');
  const other = holder(holding, 'b', 3);
  for (const { end } of [greedy, other]) end();
  expect(await Promise.all([greedy.result, other.result])).toEqual(['done', 'done']);
});
