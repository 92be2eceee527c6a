import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { closestNames } from '../../../src/interface/closest-name.ts';
import { didYouMean, type Parsed, wholeNumber } from '../../../src/interface/parsed.ts';
import { originAt, parseByteCount, parsePublicUrl, parseRateLimit } from '../../../src/service/cli/settings.ts';
import { idOf } from '../../../src/service/cli/token.ts';

describe('the closest name', () => {
  const names = ['serve', 'token', 'workspace', 'lock', 'hook'];

  test('is found if a character is missing, doubled, changed or swapped', () => {
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
        expect(closestNames(typed[how] ?? '', names)).toEqual([name]);
      }),
    );
  });

  test('may be one of several that are equally close: a question names the first', () => {
    expect(closestNames('look', names)).toEqual(['lock', 'hook']);
    expect(closestNames('game-22', ['game', 'game-1', 'game-2'])).toEqual(['game-2']);
    expect(didYouMean('game-3', ['game', 'game-1', 'game-2'])).toBe('Did you mean game-1? ');
  });

  test.each(['', 'x', 'unlock', 'delete', 'x'.repeat(10_000)])('does not exist for %j', (typed) => {
    expect(closestNames(typed, names)).toEqual([]);
  });
});

const token = 'tok_0b7c0f3e-3d5c-4c58-9a53-6f2f5a8f6a11';

test.each<[string, (text: string) => Parsed<unknown>, Record<string, unknown>, readonly string[]]>([
  [
    'rate limit',
    parseRateLimit,
    { '1000/s': { perSecond: 1_000, burst: 60_000 }, '5/s': { perSecond: 5, burst: 300 }, '0': null },
    ['', '100', '0/s', '-1/s', '1.5/s', '100/m', '100 /s', '9999999/s', '1e3/s'],
  ],
  [
    'port',
    wholeNumber(0, 65_535),
    { '0': 0, '65535': 65_535 },
    ['', ' 1', '1.0', '0x10', '1e3', '-1', '65536', '99999999999999999999'],
  ],
  [
    'public URL',
    parsePublicUrl,
    {
      'https://a.example': 'https://a.example',
      'HTTPS://A.Example:443/v1/': 'https://a.example',
      'http://[::1]:8080/': 'http://[::1]:8080',
    },
    [
      ...['', 'a.example', 'ftp://a.example', 'https://', 'https://a.example/assets', 'https://a.example/v1/v1'],
      ...['https://ada@a.example', 'https://:x@a.example', 'https://a.example/?a=1', 'https://a.example/#a'],
    ],
  ],
  ['size', parseByteCount, { '0': 0, '500MB': 500e6, '2TB': 2e12 }, ['', '1', '1gb', '-1GB', '1.5GB', '1XB']],
  // The secret of a token is easily mistaken for its id.
  ['id', idOf('tok', 'list'), { [token]: token }, [`wsa_${'a'.repeat(43)}`, 'tok_1', token.slice(1)]],
])('the %s parser accepts valid values, and rejects all others', (_, parse, values, others) => {
  for (const [text, value] of Object.entries(values)) expect(parse(text), text).toEqual({ ok: true, value });
  for (const text of others) expect(parse(text).ok, text).toBe(false);
});

test('the origin of an IPv6 address has brackets', () => {
  expect([originAt('127.0.0.1', 80), originAt('::1', 80)]).toEqual(['http://127.0.0.1:80', 'http://[::1]:80']);
});
