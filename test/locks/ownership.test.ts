import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KnownLock } from '../../src/client/client.ts';
import { type OwnLock, ownLockState } from '../../src/locks/ownership.ts';
import { runs } from '../support/runs.ts';
import { iso, knownLock } from './samples.ts';

const toSeconds = (time: string): string => `${time.slice(0, 19)}Z`;
/** Not a whole second, which may have been cut. */
const moment = fc.nat({ max: 3_600_000 }).filter((ms) => ms % 1_000 !== 0);

const serverNow = Date.parse(iso(0));

const compare = (own: OwnLock, other: Partial<KnownLock>): string =>
  ownLockState(own, { kind: 'locked', lock: knownLock('a.psd', other) }, { serverNow, mayBeReleased: false });

const verdict = (own: string, other: string): string =>
  compare({ owner: 'grace', acquired_at: own }, { acquired_at: other });

test('a lock of the same owner is ours if it was taken at the same moment, and lost otherwise', () => {
  expect(verdict(iso(120), iso(540))).toBe('other');
  fc.assert(
    fc.property(moment, moment, (one, other) => {
      expect(verdict(iso(one), iso(other))).toBe(one === other ? 'ours' : 'other');
      expect(verdict(iso(one), iso(one))).toBe('ours');
    }),
    { numRuns: runs(200, 2_000) },
  );
});

test('a time truncated to seconds proves neither that a lock is ours nor that it is not', () => {
  fc.assert(
    fc.property(moment, (time) => {
      expect(verdict(iso(time), toSeconds(iso(time)))).toBe('unknown');
      expect(verdict(toSeconds(iso(time)), iso(time))).toBe('unknown');
    }),
    { numRuns: runs(100, 1_000) },
  );
});

test.each([
  ['ours with the same id and another ETag', { id: 'l1', etag: '"v1"' }, { id: 'l1', etag: '"v2"' }, 'ours'],
  ['ours with the same id and another owner name', { id: 'l1', owner: '12' }, { id: 'l1', owner: 'ci' }, 'ours'],
  ['lost with another id and the same ETag', { id: 'l1', etag: '"v1"' }, { id: 'l2', etag: '"v1"' }, 'other'],
  ['ours with the same ETag, without ids', { etag: '"v1"' }, { etag: '"v1"' }, 'ours'],
  ['lost with another ETag, without ids', { etag: '"v1"' }, { etag: '"v2"' }, 'other'],
  ['lost with another ETag and an id on one side only', { etag: '"v1"' }, { id: 'l1', etag: '"v2"' }, 'other'],
  ['unknown with an ETag that is missing from the list', { etag: '"v1"' }, {}, 'unknown'],
] as const)('a lock is %s', (_, own, other, expected) => {
  expect(compare(own, other)).toBe(expected);
});

const unlisted = { kind: 'unknown', reason: 'The service does not list locks.' } as const;
const found = { kind: 'locked', lock: knownLock('a.psd') } as const;

test.each([
  ['is assumed to stand while its lifetime lasts', { expires_at: iso(60_000) }, found, false, 'assumed'],
  ['is assumed to stand if the service lists no locks', { expires_at: iso(60_000) }, unlisted, false, 'assumed'],
  ['is unknown once its lifetime may have ended', { expires_at: iso(1_000) }, found, false, 'unknown'],
  ['is unknown if its end is', {}, found, false, 'unknown'],
  ['is unknown if it may have been released', { expires_at: iso(60_000) }, found, true, 'unknown'],
  ['is absent if nothing is listed', { expires_at: iso(60_000) }, { kind: 'absent' }, false, 'absent'],
] as const)('a lock that nothing identifies %s', (_, own, look, mayBeReleased, expected) => {
  expect(ownLockState(own, look, { serverNow, mayBeReleased })).toBe(expected);
});

test('a lock that is still listed after its end is absent, even if its id is the same', () => {
  expect(compare({ id: 'l1' }, { id: 'l1', expires_at: iso(0) })).toBe('absent');
});
