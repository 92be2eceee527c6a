import { expect, test } from 'vitest';
import { openRedactor } from '../../../src/action/report/redact.ts';

test('a secret that comes to be known later is hidden from then on, beside those before it, and not for ever', () => {
  const { redact, add } = openRedactor(['wsa_given']);
  expect(redact('wsa_given wsa_later')).toBe('*** wsa_later');
  add('wsa_later');
  add('wsa_later_and_longer');
  expect(redact('wsa_given wsa_later wsa_later_and_longer')).toBe('*** *** ***');
  expect(redact(btoa('Bearer wsa_later'))).not.toContain(btoa('wsa_later').slice(0, 8));
  // A job of days has hundreds of tokens, and only the last ones are good for anything.
  for (let number = 0; number < 12; number += 1) add(`another-${number}`);
  expect(redact('wsa_given wsa_later another-0 another-11')).toBe('*** wsa_later *** ***');
});
