import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compare } from '../../../src/action/locks/ownership.ts';
import type { KnownLock } from '../../../src/client/client.ts';
import { runs } from '../../support/runs.ts';

const listed = (acquired_at: string): KnownLock => ({
  path: 'a.psd',
  type: 'exclusive',
  id: undefined,
  etag: undefined,
  owner: 'release-bot',
  origin: undefined,
  acquired_at,
  expires_at: undefined,
  fence: undefined,
  raw: {},
});

const iso = (ms: number): string => new Date(ms).toISOString();
const toSeconds = (time: string): string => `${time.slice(0, 19)}Z`;
const start = Date.parse('2026-03-01T12:00:00Z');
/** Not a whole second, which may have been cut. */
const moment = fc
  .nat({ max: 3_600_000 })
  .filter((ms) => ms % 1_000 !== 0)
  .map((ms) => start + ms);

const verdict = (own: string, other: string): string =>
  compare({ owner: 'release-bot', acquired_at: own }, listed(other));

test('a lock of the same owner is ours where it was taken at the same moment, and lost where at another', () => {
  fc.assert(
    fc.property(moment, moment, (one, other) => {
      expect(verdict(iso(one), iso(other))).toBe(one === other ? 'ours' : 'lost');
      expect(verdict(iso(one), iso(one))).toBe('ours');
    }),
    { numRuns: runs(200, 2_000) },
  );
});

test('a lock that was taken a moment after ours had ended is another one', () => {
  expect(verdict('2026-03-01T12:00:00.120Z', '2026-03-01T12:00:00.540Z')).toBe('lost');
});

test('a time that was cut to seconds neither shows that a lock is ours nor that it is not', () => {
  fc.assert(
    fc.property(moment, (time) => {
      expect(verdict(iso(time), toSeconds(iso(time)))).toBe('unknown');
      expect(verdict(toSeconds(iso(time)), iso(time))).toBe('unknown');
    }),
    { numRuns: runs(100, 1_000) },
  );
});
