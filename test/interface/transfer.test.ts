import { expect, test } from 'vitest';
import { byteSize, createPace } from '../../src/interface/transfer.ts';

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

test('reports the rate of the last half minute, and nothing for a stalled or restarted transfer', () => {
  const paceOf = createPace();
  const at = (seconds: number, bytes: number): string => paceOf({ bytes, total: 1_000_000_000 }, seconds * 1_000);
  expect([at(0, 0), at(0.5, 1_000_000)]).toEqual(['', '']);
  expect(at(10, 100_000_000)).toBe('10 MB/s, 90 s left');
  expect(at(100, 100_000_000)).toBe('');
  expect(at(110, 200_000_000)).toBe('10 MB/s, 80 s left');
  expect(at(120, 5_000_000)).toBe('');
  expect(at(130, 1_000_000_000)).toBe('99.5 MB/s');
});
