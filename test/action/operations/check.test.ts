import { describe, expect, test } from 'vitest';
import { type CheckResult, checkLock, checkReport, type LockToCheck } from '../../../src/action/operations/check.ts';
import type { KnownLock } from '../../../src/client/client.ts';
import type { LookupResult } from '../../../src/client/lookup.ts';
import { lockPath, hero as path } from '../../client/test-client.ts';
import { asItIs, at, end, errorOf, iso, knownLock, place, start } from '../../locks/samples.ts';

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
    ['keeps a lock with the same id, with its new end', own({ id }), locked({ id, expires_at: later }), during, 'kept'],
    [
      'keeps a lock with the same id past its granted end',
      own({ id }),
      locked({ id, expires_at: later }),
      after,
      'kept',
    ],
    ['keeps a lock with the same ETag', own({ etag }), locked({ etag, expires_at: later }), during, 'kept'],
    ['reports a lock with another id as lost', own({ id }), locked({ id: 'l2' }), during, 'lost'],
    ['reports a lock with another ETag as lost', own({ etag }), locked({ etag: '"l2"' }), during, 'lost'],
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
    const result = checkLock(lock, found, now);
    expect(result.kind).toBe(kind);
    const there = found.kind === 'locked' ? found.lock : undefined;
    if (result.kind === 'kept') expect(result.lock.expires_at).toBe(there?.expires_at);
    if (result.kind === 'lost')
      expect(result.holder).toBe(Date.parse(there?.expires_at ?? '') > now ? there : undefined);
  });

  test('keeps the known details from the ledger and from the list', () => {
    const listed = { id, owner: 'build-bot', acquired_at: at, fence: 7, expires_at: later };
    expect(checkLock(own({ id, etag }), locked(listed), during)).toEqual({
      path,
      kind: 'kept',
      lock: { type: 'exclusive', etag, ...listed },
    });
  });

  test('takes only the end of an ambiguous lock from the list', () => {
    const result = checkLock(own({}), locked({ id, etag, owner: 'grace', fence: 7, expires_at: later }), during);
    expect(result).toMatchObject({ kind: 'kept', lock: { type: 'exclusive', expires_at: later } });
    expect(JSON.stringify(result)).not.toMatch(/l1|grace/);
  });
});

describe('the report of a check', () => {
  const lock = { id: 'l1', expires_at: end };
  const holder = knownLock('b', { origin: 'https://ci.example.com/runs/7', acquired_at: iso(5 * minute) });
  const kept: CheckResult = { path: lockPath('a'), kind: 'kept', lock };
  const taken: CheckResult = { path: lockPath('b'), kind: 'lost', lock, holder };
  const gone: CheckResult = { path: lockPath('c'), kind: 'lost', lock, holder: undefined };
  const unknown: CheckResult = { path: lockPath('d'), kind: 'unknown', reason: 'The service did not answer.' };
  const report = (results: readonly CheckResult[], gap?: string) =>
    checkReport({ ...place, results, gap }, during, asItIs);

  test.each([
    ['one kept lock', [kept], 'This job still holds 1 of 1 lock in game.', 'kept'],
    ['kept locks', [kept, kept], 'This job still holds 2 of 2 locks in game.', 'kept'],
    ['a lost lock', [gone], 'This job still holds 0 of 1 lock in game, 1 lost.', 'lost'],
    [
      'lost, kept and unknown locks',
      [kept, taken, unknown],
      'This job still holds 1 of 3 locks in game, 1 lost, 1 unknown.',
      'lost',
    ],
    ['unknown and kept locks', [kept, unknown], 'This job still holds 1 of 2 locks in game, 1 unknown.', undefined],
    ['an empty list', [], 'This job still holds 0 of 0 locks in game.', 'kept'],
  ] as const)('summarizes %s', (_, results, sentence, status) => {
    const outcome = report(results);
    expect(outcome.sentence).toBe(sentence);
    expect(outcome.outputs.status).toBe(status);
    expect(outcome.failures.length > 0).toBe(status !== 'kept');
    // If nothing is lost but something is unknown, the outputs stay empty.
    if (status === undefined) expect(outcome.outputs).toEqual({});
    else expect(outcome.outputs.count).toBe(String(results.filter(({ kind }) => kind === 'kept').length));
  });

  test('has a reason and the current holder for each lost lock, and groups unknown locks by reason', () => {
    const others = ['e', 'f'].map((name): CheckResult => ({ ...unknown, path: lockPath(name) }));
    expect(report([kept, taken, gone, unknown, ...others]).failures).toEqual([
      'This job lost its lock on b. Someone released it before it expired. b is held by grace until 13:00 UTC (in 30 min), locked in https://ci.example.com/runs/7, since 12:05 UTC (25 min ago).',
      'This job lost its lock on c. Someone released it before it expired. Nobody holds the path now.',
      'Could not determine whether this job still holds d, e, f. The service did not answer.',
    ]);
  });

  test('says when a lock was lost, if that is known', () => {
    const lost = { path, kind: 'lost', lock, holder: undefined } as const;
    const [reason] = checkReport({ ...place, results: [lost], gap: undefined }, after, asItIs).failures;
    expect(reason).toContain('It expired at 13:00 UTC (5 min ago); a longer `ttl` would have prevented that.');
    expect(report([{ ...lost, lock: {} }]).failures).toEqual([
      'This job lost its lock on Content/Hero.uasset. Nobody holds the path now.',
    ]);
  });

  test('fails if part of the ledger is missing, and has outputs only if a lock is lost', () => {
    const gap = 'Part of the ledger cannot be read.';
    expect(report([kept], gap)).toMatchObject({ outputs: {}, failures: [gap] });
    expect(report([kept, gone], gap)).toMatchObject({ outputs: { status: 'lost', count: '1' } });
  });
});
