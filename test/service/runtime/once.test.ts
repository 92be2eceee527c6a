import { expect, test } from 'vitest';
import { createOnce } from '../../../src/service/runtime/once.ts';

test('work that has started is no longer shared, because its result may predate the request', async () => {
  const once = createOnce<string>();
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const { promise: started, resolve: start } = Promise.withResolvers<void>();
  const first = once('a', async (begun) => {
    begun();
    start();
    await gate;
    return 'first';
  });
  await started;
  const second = once('a', async () => 'second');
  expect(await second).toBe('second');
  open();
  expect(await first).toBe('first');
});

test('requests share the next run of the work even after the previous run ends', async () => {
  const once = createOnce<string>();
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  const started = Promise.withResolvers<void>();
  const first = once('a', async (begun) => {
    begun();
    started.resolve();
    await gates[0].promise;
    return 'first';
  });
  await started.promise;
  const second = once('a', async () => {
    await gates[1].promise;
    return 'second';
  });
  gates[0].resolve();
  await first;
  const joined = once('a', async () => 'third');
  gates[1].resolve();
  expect(await Promise.all([second, joined])).toEqual(['second', 'second']);
});
