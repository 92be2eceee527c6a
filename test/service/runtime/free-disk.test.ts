import { expect, test } from 'vitest';
import { watchFreeDisk } from '../../../src/service/runtime/free-disk.ts';

test('the reserve is shown in the unit in which the operator gave it', async () => {
  const settings = { folder: '.', minBytes: 1_000_000_000, onMeasured: () => undefined, onError: () => undefined };
  const { reserve, stop } = await watchFreeDisk(settings);
  await stop();
  expect(reserve).toBe('1000 MB');
});
