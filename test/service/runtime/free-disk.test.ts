import { expect, test } from 'vitest';
import { measureFreeDisk } from '../../../src/service/runtime/free-disk.ts';
import { createMetrics } from '../../../src/service/runtime/metrics.ts';

test('the reserve is shown in the unit in which the operator gave it', async () => {
  const { reserve } = await measureFreeDisk('.', 1_000_000_000, createMetrics());
  expect(reserve).toBe('1000 MB');
});
