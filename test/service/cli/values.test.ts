import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nearest } from '../../../src/service/cli/did-you-mean.ts';
import { idOf, parseHost, parseRateLimit, wholeNumber } from '../../../src/service/cli/values.ts';

describe('the nearest name', () => {
  const names = ['serve', 'token', 'workspace', 'lock', 'hook'];

  test('is the one that was meant when a character is missing, doubled, changed or swapped', () => {
    const position = fc.nat({ max: 20 });
    fc.assert(
      fc.property(fc.constantFrom('serve', 'token', 'workspace'), position, fc.nat({ max: 3 }), (name, at, how) => {
        const i = at % (name.length - 1);
        const [head, one, two, tail] = [name.slice(0, i), name[i] ?? '', name[i + 1] ?? '', name.slice(i + 2)];
        const typed = [
          head + two + tail,
          head + one + one + two + tail,
          `${head}q${two}${tail}`,
          head + two + one + tail,
        ];
        expect(nearest(typed[how] ?? '', names)).toBe(name);
      }),
    );
  });

  test.each(['', 'x', 'unlock', 'delete', 'x'.repeat(10_000)])('is none for %j', (typed) => {
    expect(nearest(typed, names)).toBeUndefined();
  });
});

describe('a value', () => {
  test.each([
    ['1000/s', { perSecond: 1_000, burst: 60_000 }],
    ['5/s', { perSecond: 5, burst: 300 }],
    ['0', null],
  ])('of the rate limit is %s', (text, value) => {
    expect(parseRateLimit(text)).toEqual({ ok: true, value });
  });

  test.each(['', '100', '0/s', '-1/s', '1.5/s', '100/m', '100 /s', '9999999/s', '1e3/s'])(
    'of the rate limit is not "%s"',
    (text) => {
      expect(parseRateLimit(text).ok).toBe(false);
    },
  );

  test.each(['', ' 1', '1.0', '0x10', '1e3', '-1', '65536', '99999999999999999999'])(
    'of a port is not "%s"',
    (text) => {
      expect(wholeNumber(0, 65_535)(text).ok).toBe(false);
    },
  );

  test.each(['127.0.0.1', '::1', 'localhost', '0.0.0.0', 'fe80::1%eth0'])('of a host is %s', (text) => {
    expect(parseHost(text)).toEqual({ ok: true, value: text });
  });

  test.each(['', 'http://x', 'a b', '[::1]', 'x\n'])('of a host is not %j', (text) => {
    expect(parseHost(text).ok).toBe(false);
  });

  test('of an id is not the secret of a token', () => {
    expect(idOf('tok', 'list')(`wsa_${'a'.repeat(43)}`).ok).toBe(false);
    expect(idOf('tok', 'list')('tok_0b7c0f3e-3d5c-4c58-9a53-6f2f5a8f6a11').ok).toBe(true);
  });
});
