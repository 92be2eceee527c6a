import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sealed, unsealed } from '../../../src/service/sessions/session-cookie.ts';
import { randomSecret } from '../../../src/service/tokens/secret.ts';

test('a sealed value can be opened only unchanged, and only with the secret of its own session', () => {
  const [secret, other] = [randomSecret(), randomSecret()];
  fc.assert(
    fc.property(fc.string(), fc.string(), (text, forged) => {
      const given = sealed(text, secret);
      expect(unsealed(given, secret)).toBe(text);
      expect(unsealed(given, other)).toBeUndefined();
      if (forged !== text) {
        expect(
          unsealed(
            given.replace(/\..*$/s, () => `.${forged}`),
            secret,
          ),
        ).toBeUndefined();
      }
      expect(unsealed(forged, secret)).toBeUndefined();
    }),
  );
});
