import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareOwnership } from '../../../src/action/locks/ownership.ts';
import { runs } from '../../support/runs.ts';
import { iso, knownLock } from '../samples.ts';

const toSeconds = (time: string): string => `${time.slice(0, 19)}Z`;
/** Not a whole second, which may have been cut. */
const moment = fc.nat({ max: 3_600_000 }).filter((ms) => ms % 1_000 !== 0);

const verdict = (own: string, other: string): string =>
  compareOwnership({ owner: 'grace', acquired_at: own }, knownLock('a.psd', { acquired_at: other }));

test('a lock of the same owner is ours where it was taken at the same moment, and lost where at another', () => {
  expect(verdict(iso(120), iso(540))).toBe('lost');
  fc.assert(
    fc.property(moment, moment, (one, other) => {
      expect(verdict(iso(one), iso(other))).toBe(one === other ? 'ours' : 'lost');
      expect(verdict(iso(one), iso(one))).toBe('ours');
    }),
    { numRuns: runs(200, 2_000) },
  );
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

test.each([
  ['the same id, whatever its ETag says now', { id: 'l1', etag: '"v1"' }, { id: 'l1', etag: '"v2"' }, 'ours'],
  ['the same id, whatever the owner is called', { id: 'l1', owner: '12' }, { id: 'l1', owner: 'ci' }, 'ours'],
  ['another id, even with the same ETag', { id: 'l1', etag: '"v1"' }, { id: 'l2', etag: '"v1"' }, 'lost'],
  ['the same ETag, where there is no id', { etag: '"v1"' }, { etag: '"v1"' }, 'ours'],
  ['another ETag, where there is no id', { etag: '"v1"' }, { etag: '"v2"' }, 'lost'],
  ['another ETag, where only one has an id', { etag: '"v1"' }, { id: 'l1', etag: '"v2"' }, 'lost'],
  ['an ETag that is not in the list', { etag: '"v1"' }, {}, 'unknown'],
] as const)('a lock with %s', (_, own, other, expected) => {
  expect(compareOwnership(own, knownLock('a.psd', other))).toBe(expected);
});
