import { expect, test } from 'vitest';
import { measureFreeDisk } from '../../../src/service/runtime/free-disk.ts';

test('the reserve is shown in the unit in which the operator gave it', async () => {
  const settings = { folder: '.', minBytes: 1_000_000_000, onMeasured: () => undefined };
  const { reserve } = await measureFreeDisk(settings);
  expect(reserve).toBe('1000 MB');
});
