import { expect, test } from 'vitest';
import { createReporter } from '../../../src/action/report/reporter.ts';
import { measured } from '../../support/measured.ts';

test('hides secrets that are added later, as well as the initial ones', () => {
  const { redact, mask } = createReporter(['wsa_given']);
  expect(redact('wsa_given wsa_later')).toBe('*** wsa_later');
  mask('wsa_later');
  mask('wsa_later_and_longer');
  expect(redact('wsa_given wsa_later wsa_later_and_longer')).toBe('*** *** ***');
  expect(redact(btoa('Bearer wsa_later'))).not.toContain(btoa('wsa_later').slice(0, 8));
});

test('hides all secrets of a large pool, in any spelling, in a moment', () => {
  const { redact, mask } = createReporter(['wsa_given']);
  const secrets = Array.from({ length: 20_000 }, (_, index) => `secret_${index}_`);
  const before = performance.now();
  for (const secret of secrets) mask(secret);
  for (const secret of secrets) expect(redact(`key ${secret}, wsa_given`)).toBe('key ***, ***');
  measured('milliseconds to hide 20,000 secrets', performance.now() - before, { atMost: 5_000 });
  expect(redact(`key=${Buffer.from('secret_7_').toString('hex')};`)).toBe('key=***;');
  expect(redact('secret_1_secret_19999_, secret_x_')).toBe('******, secret_x_');
  mask('99_and');
  expect(redact('secret_99_and more')).toBe('*** more');
});
