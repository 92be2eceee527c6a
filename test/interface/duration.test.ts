import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Duration,
  formatDuration,
  formatSpan,
  parseDurationBetween,
  parseTtl,
} from '../../src/interface/duration.ts';
import { runs } from '../support/runs.ts';

const secondsIn: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };
const unit = fc.constantFrom('s', 'm', 'h', 'd');

/** Small and large durations alike, with more multiples of a unit than uniform random numbers have. */
const duration: fc.Arbitrary<Duration> = fc.oneof(
  fc.nat({ max: Math.floor(Number.MAX_SAFE_INTEGER / 1_000) }).map((seconds) => ({ seconds })),
  fc.tuple(fc.nat({ max: 10_000 }), unit).map(([count, name]) => ({ seconds: count * (secondsIn[name] ?? 0) })),
);

const parseAny = parseDurationBetween({ seconds: 0 }, { seconds: Number.MAX_SAFE_INTEGER });

const syntax = 'It must be a whole number and one of the units s, m, h and d, such as 90s, 15m, 1h or 2d.';
const limits = 'It must be from 1s to 30d.';

describe('a duration', () => {
  test('survives formatting and parsing', () => {
    fc.assert(
      fc.property(duration, (value) => {
        expect(parseAny(formatDuration(value))).toEqual({ ok: true, value });
      }),
      { numRuns: runs(300, 5_000) },
    );
  });

  test('is formatted in the largest unit without a fraction', () => {
    const written = [0, 60, 90, 5_400, 86_400, 90_000].map((seconds) => formatDuration({ seconds }));
    expect(written).toEqual(['0s', '1m', '90s', '90m', '1d', '25h']);
  });

  test('is rejected unless it is a whole number and a unit', () => {
    const almost = ['', '1', 'h', '1w', '1ms', '1H', '1.5h', '-1h', '+1h', '1e3s', '0x1h', ' 1h', '1h ', '1 h', '1h\n'];
    for (const text of [...almost, '1h30m', '１h', '1ｈ', '١h', 'PT1H', 'NaNs', 'Infinitys']) {
      expect(parseAny(text), text).toEqual({ ok: false, reason: syntax });
    }
  });
});

test('the ttl of a lock is a duration from one second to thirty days', () => {
  const nearLimits = fc.nat({ max: 31 * 86_400 }).map((seconds) => ({ seconds }));
  const allowed = ({ seconds }: Duration) => seconds >= 1 && seconds <= 30 * 86_400;
  fc.assert(
    fc.property(fc.oneof(duration, nearLimits), (value) => {
      const expected = allowed(value) ? { ok: true, value } : { ok: false, reason: limits };
      expect(parseTtl(formatDuration(value))).toEqual(expected);
    }),
    { numRuns: runs(300, 5_000) },
  );
  for (const text of ['1s', '01h', '30d', '720h', '43200m', '2592000s']) expect(parseTtl(text).ok, text).toBe(true);
  for (const text of ['0s', '0h', '000d', '31d', '721h', '43201m', '2592001s', '99999999d']) {
    expect(parseTtl(text), text).toEqual({ ok: false, reason: limits });
  }
  expect(parseTtl('1.5h')).toEqual({ ok: false, reason: syntax });
});

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

describe('a time span', () => {
  test.each([
    [-5, '0 s'],
    [0.4, '0 s'],
    [119, '119 s'],
    [119.6, '2 min'],
    [12 * minute + 20, '12 min'],
    [59 * minute + 40, '1 h'],
    [3 * hour + 20 * minute, '3 h 20 min'],
    [47 * hour + 59.7 * minute, '48 h'],
    [2 * day + 4 * hour, '2 d 4 h'],
    [30 * day, '30 d'],
  ])('is formatted from %d seconds as %j', (seconds, text) => {
    expect(formatSpan(seconds)).toBe(text);
  });

  const unit: Readonly<Record<string, number>> = { s: 1, min: minute, h: hour, d: day };
  const read = (text: string): number =>
    [...text.matchAll(/(\d+) (\w+)/g)].reduce(
      (sum, [, number, word = '']) => sum + Number(number) * (unit[word] ?? Number.NaN),
      0,
    );

  test('is formatted with a small rounding error, and never with 60 minutes or 24 hours', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 400 * day, noNaN: true }), (seconds) => {
        const text = formatSpan(seconds);
        expect(text).toMatch(/^(\d+ s|\d+ min|\d+ h( [1-9]\d* min)?|\d+ d( [1-9]\d* h)?)$/);
        expect(text).not.toMatch(/ (60|[6-9]\d) min| 24 h$/);
        const wrong = Math.abs(read(text) - seconds);
        expect(wrong).toBeLessThanOrEqual(seconds < 2 * minute ? 0.5 : seconds < 48 * hour ? 31 : hour);
      }),
      { numRuns: 2_000 },
    );
  });
});
