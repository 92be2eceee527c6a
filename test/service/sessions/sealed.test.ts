import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formToken, sealed, unsealed } from '../../../src/service/sessions/secret.ts';
import { randomSecret } from '../../../src/service/tokens/secret.ts';

test('what a page has sealed is told by its own session alone, and only as it was', () => {
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
      expect(unsealed(`${formToken(secret)}.${text}`, secret)).toBeUndefined();
    }),
  );
});
