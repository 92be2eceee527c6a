import { expect, test } from 'vitest';
import { byteSize } from '../../src/interface/transfer.ts';

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_254, '1.25 KB'],
  [50_000_000, '50 MB'],
  [2_000_000_000_000, '2 TB'],
  [5_300_000_000_000_000, '5300 TB'],
])('formats %i bytes as %s', (bytes, text) => {
  expect(byteSize(bytes)).toBe(text);
});
