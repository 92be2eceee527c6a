import { describe, expect, test } from 'vitest';
import { checkLock, failuresOf, type LockToCheck, outputsOf } from '../../../src/action/operations/check.ts';
import type { KnownLock } from '../../../src/client/client.ts';
import type { LookupResult } from '../../../src/client/lists.ts';
import { lockPath, hero as path } from '../../client/test-client.ts';
import { asItIs, at, end, errorOf, iso, knownLock, start } from '../../locks/samples.ts';

const minute = 60_000;
const later = iso(90 * minute);
/** The middle of the granted lifetime of the lock, and a time after its end. */
const [during, after] = [start + 30 * minute, start + 65 * minute];

const own = (lock: LockToCheck['lock'], more: Partial<LockToCheck> = {}): LockToCheck => ({
  path,
  lock: { type: 'exclusive', expires_at: end, ...lock },
  ...more,
});
const locked = (more: Partial<KnownLock> = {}): LookupResult => ({ kind: 'locked', lock: knownLock(path, more) });

describe('checkLock', () => {
  const id = 'l1';
  const etag = '"l1"';

  test.each([
    [
      'keeps a lock with the same id past its granted end',
      own({ id }),
      locked({ id, expires_at: later }),
      after,
      'kept',
    ],
    ['keeps a lock with the same ETag', own({ etag }), locked({ etag, expires_at: later }), during, 'kept'],
    ['reports a lock with another id as lost', own({ id }), locked({ id: 'l2' }), during, 'lost'],
    ['reports a lock of another owner as lost', own({ owner: 'build-bot' }), locked(), during, 'lost'],
    [
      'reports a lock that was taken later as lost',
      own({ grantedAt: at }),
      locked({ acquired_at: iso(minute) }),
      during,
      'lost',
    ],
    ['keeps an ambiguous lock within its lifetime', own({}), locked(), during, 'kept'],
    ['reports an ambiguous lock as lost after its lifetime', own({}), locked({ expires_at: later }), after, 'lost'],
    ['reports a missing lock as lost', own({ id }), { kind: 'absent' }, during, 'lost'],
    ['reports a lock that is still listed after its end as lost', own({ id }), locked({ id }), after, 'lost'],
    ['reports a lock with an unknown end as unknown', own({ expires_at: undefined }), locked(), during, 'unknown'],
    [
      'reports a lock in an incomplete list as unknown',
      own({ id }),
      { kind: 'unknown', reason: 'It is cut.' },
      during,
      'unknown',
    ],
    [
      'reports a lock that could not be looked up as unknown',
      own({ id }),
      { kind: 'failed', error: errorOf({ kind: 'timeout', limitMs: 1_000 }) },
      during,
      'unknown',
    ],
  ] as const)('%s', (_, lock, found, now, kind) => {
    const { result, until, holder } = checkLock(lock, found, now);
    expect(result).toBe(kind);
    const there = found.kind === 'locked' ? found.lock : undefined;
    if (result === 'kept') expect(until).toBe(there?.expires_at);
    if (result === 'lost') expect(holder).toBe(Date.parse(there?.expires_at ?? '') > now ? there : 'nobody');
  });

  test('takes only the end of an ambiguous lock from the list', () => {
    const result = checkLock(own({}), locked({ id, etag, owner: 'grace', fence: 7, expires_at: later }), during);
    expect(result).toMatchObject({ result: 'kept', kept: { type: 'exclusive', expires_at: later } });
    expect(JSON.stringify(result)).not.toMatch(/l1|grace/);
  });
});

describe('the reason of a loss', () => {
  test('says how the lock ended, and who holds the path now', () => {
    const absent = { kind: 'absent' } as const;
    expect(checkLock(own({}), absent, after).failure).toMatch(
      /It expired at 13:00 UTC .* Nobody holds the path now\.$/,
    );
    expect(checkLock(own({ expires_at: undefined }), absent, after).failure).toBe(
      'This job lost its lock on Content/Hero.uasset. Nobody holds the path now.',
    );
  });
});

test('a check with an unclear lock has outputs only if another one is lost', () => {
  const lost = { path, result: 'lost' } as const;
  const unclear = { path, result: 'unknown' } as const;
  const kept = { path, result: 'kept', kept: {} } as const;
  expect(outputsOf([kept, unclear], undefined, asItIs)).toEqual({});
  expect(outputsOf([kept], 'Part of the ledger cannot be read.', asItIs)).toEqual({});
  expect(outputsOf([kept, unclear, lost], undefined, asItIs)).toMatchObject({ status: 'lost', count: '1' });
  expect(outputsOf([kept], undefined, asItIs)).toMatchObject({ status: 'kept', count: '1' });
});

test('the failures of a check group unclear locks by reason', () => {
  const unclear = (name: string, reason: string) =>
    ({ path: lockPath(name), result: 'unknown', unclear: reason }) as const;
  expect(failuresOf([unclear('a', 'It is cut.'), unclear('b', 'It is down.'), unclear('c', 'It is cut.')])).toEqual([
    'Could not determine whether this job still holds a, c. It is cut.',
    'Could not determine whether this job still holds b. It is down.',
  ]);
});
