import { expect, test } from 'vitest';
import { preferredWait } from '../../../src/service/api/prefer.ts';

test.each([
  ['wait=30', 30],
  ['wait=0', 0],
  ['WAIT=10', 10],
  ['wait = 10', 10],
  ['respond-async, wait=10', 10],
  ['wait=10;foo=bar, handling=lenient', 10],
  ['foo="a, wait=5", wait=3', 3],
  ['foo="a \\", wait=5", wait=3', 3],
  ['wait=3, wait=5', 3],
  ['wait=999999999999', 999_999_999_999],
])('%s requests a wait of %d s', (header, seconds) => {
  expect(preferredWait(header)).toBe(seconds);
});

test('an invalid header requests no wait', () => {
  const headers = [undefined, '', 'wait', 'wait=', 'wait=soon', 'wait=-1', 'wait=1.5', 'wait="10"', 'wait=1 2', '"'];
  headers.push('await=3', 'wait-more=3', 'wait=no, wait=5', 'foo="wait=5', `wait=5${' '.repeat(1_000)}`);
  expect(headers.filter((header) => preferredWait(header) !== undefined)).toEqual([]);
});
