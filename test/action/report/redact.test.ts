import { expect, test } from 'vitest';
import { createReporter } from '../../../src/action/report/reporter.ts';

test('hides secrets added later as well as the given ones, and drops the oldest of them', () => {
  const { redact, mask } = createReporter(['wsa_given']);
  expect(redact('wsa_given wsa_later')).toBe('*** wsa_later');
  mask('wsa_later');
  mask('wsa_later_and_longer');
  expect(redact('wsa_given wsa_later wsa_later_and_longer')).toBe('*** *** ***');
  expect(redact(btoa('Bearer wsa_later'))).not.toContain(btoa('wsa_later').slice(0, 8));
  // A job of several days uses hundreds of tokens, and only the last ones are valid.
  for (let number = 0; number < 12; number += 1) mask(`another-${number}`);
  expect(redact('wsa_given wsa_later another-0 another-11')).toBe('*** wsa_later *** ***');
});
