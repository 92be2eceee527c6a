import { expect, test } from 'vitest';
import type { KnownLock } from '../../src/client/known-lock.ts';
import type { LookupResult } from '../../src/client/lists.ts';
import { machineClock } from '../../src/client/time.ts';
import { type OurLock, ownLockState } from '../../src/locks/ownership.ts';
import { lockPath } from '../client/test-client.ts';
import { iso, knownLock } from './samples.ts';

const serverNow = Date.parse(iso(0));

type Own = OurLock['grant']['lock'] &
  Pick<OurLock['grant'], 'key' | 'lastsUntil' | 'renewedUntil'> & { readonly grantedAt?: string };

const stateOf = (
  { grantedAt, key, lastsUntil, renewedUntil, ...lock }: Own,
  found: LookupResult,
  mayBeReleased = false,
): string => {
  const at = grantedAt !== undefined && { at: grantedAt };
  const grant = { path: lockPath('a.psd'), lock, lastsUntil, renewedUntil, ...at, ...(key !== undefined && { key }) };
  return ownLockState({ grant, mayBeReleased }, found, serverNow);
};

const compare = (own: Own, other: Partial<KnownLock>): string =>
  stateOf(own, { kind: 'locked', lock: knownLock('a.psd', other) });

test.each([
  ['at the same moment', 120, 'unknown'],
  ['earlier, or by a clock in whole seconds', 0, 'unknown'],
  ['later', 5_000, 'other'],
])('a lock without id and ETag that was acquired %s is never proven to be ours', (_, ms, expected) => {
  expect(compare({ owner: 'grace', acquired_at: iso(120) }, { acquired_at: iso(ms) })).toBe(expected);
  expect(compare({ grantedAt: iso(120) }, { acquired_at: iso(ms) })).toBe(expected);
});

test('a lock that was acquired a second later than ours, by the times of the service, is another one', () => {
  expect(compare({ owner: 'grace', acquired_at: iso(0) }, { acquired_at: iso(999) })).toBe('unknown');
  expect(compare({ owner: 'grace', acquired_at: iso(0) }, { acquired_at: iso(1_000) })).toBe('other');
});

test('a lock of another owner is another one', () => {
  expect(compare({ owner: 'ada' }, { owner: 'grace' })).toBe('other');
});

test.each([
  ['ours with the same id and another ETag', { id: 'l1', etag: '"v1"' }, { id: 'l1', etag: '"v2"' }, 'ours'],
  ['ours with the same id and another owner name', { id: 'l1', owner: '12' }, { id: 'l1', owner: 'ci' }, 'ours'],
  ['lost with another id and the same ETag', { id: 'l1', etag: '"v1"' }, { id: 'l2', etag: '"v1"' }, 'other'],
  ['ours with the same ETag, without ids', { etag: '"v1"' }, { etag: '"v1"' }, 'ours'],
  ['ours with the same ETag, whose quotes the header lacked', { etag: 'v1' }, { etag: '"v1"' }, 'ours'],
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
  expect(stateOf(own, look, mayBeReleased)).toBe(expected);
});

test.each([
  ['unclear if its counted lifetime is unknown', {}, 'l1', 'unknown'],
  ['absent after its counted lifetime', { lastsUntil: -1 }, 'l1', 'absent'],
  ['ours while its counted lifetime lasts: a clock may be wrong by days', { lastsUntil: 60_000 }, 'l1', 'ours'],
  ['ours while it lasts after a renewal', { lastsUntil: -1, renewedUntil: 60_000 }, 'l1', 'ours'],
  ['absent if it has another id', { lastsUntil: 60_000 }, 'l2', 'absent'],
])('a lock that is listed after its end is %s', (_, lifetime, id, expected) => {
  const own = Object.fromEntries(Object.entries(lifetime).map(([name, ms]) => [name, machineClock() + ms]));
  expect(compare({ id: 'l1', ...own }, { id, expires_at: iso(0) })).toBe(expected);
});

test('a lock that nothing identifies is absent if it is listed after its end', () => {
  const lasting = { expires_at: iso(60_000), lastsUntil: machineClock() + 60_000 };
  expect(compare(lasting, { expires_at: iso(0) })).toBe('absent');
});

test.each([
  ['ours if another job handed it over, which may have renewed it', {}, { acquired_at: iso(1) }, 'ours'],
  ['unclear if its beginning is unknown', {}, {}, 'unknown'],
  ['unclear if it begins later', {}, { acquired_at: iso(9_000) }, 'unknown'],
  ['unclear if our ledger has its end', { key: 's/1' }, { acquired_at: iso(1) }, 'unknown'],
])('a lock with only an id that may have ended, and is listed with a later end, is %s', (_, more, listed, expected) => {
  const own = { id: 'l1', acquired_at: iso(1), expires_at: iso(0), ...more };
  expect(compare(own, { id: 'l1', ...listed, expires_at: iso(60_000) })).toBe(expected);
});
