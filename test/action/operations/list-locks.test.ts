import { expect, test } from 'vitest';
import { failuresOf } from '../../../src/action/operations/list-locks.ts';
import { knownLock } from '../../locks/samples.ts';

test('an incomplete list does not prove that a file is free', () => {
  const whole = { locks: [], ignored: 0, incomplete: undefined };
  expect(failuresOf(whole)).toEqual([]);
  expect(failuresOf({ ...whole, locks: [knownLock('a')] })).toHaveLength(1);
  expect(failuresOf({ ...whole, incomplete: 'The list may be incomplete.' })).toEqual([
    'The list may be incomplete. With `fail-if-locked`, the step succeeds only if the list is complete.',
  ]);
});
