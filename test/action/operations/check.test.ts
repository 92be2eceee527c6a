import { describe, expect, test } from 'vitest';
import { type CheckResult, checkLock, checkReport, type LockToCheck } from '../../../src/action/operations/check.ts';
import type { KnownLock } from '../../../src/client/client.ts';
import type { LookupResult } from '../../../src/client/lookup.ts';
import { lockPath, hero as path } from '../../client/test-client.ts';
import { asItIs, at, end, errorOf, iso, knownLock, place, start } from '../samples.ts';

const minute = 60_000;
const later = iso(90 * minute);
/** By the middle of the lifetime that the lock was granted, and after its end. */
const [during, after] = [start + 30 * minute, start + 65 * minute];

const own = (lock: LockToCheck['lock'], more: Partial<LockToCheck> = {}): LockToCheck => ({
  path,
  lock: { type: 'exclusive', expires_at: end, ...lock },
  ...more,
});
const locked = (more: Partial<KnownLock> = {}): LookupResult => ({ kind: 'locked', lock: knownLock(path, more) });

describe('a lock', () => {
  const id = 'l1';
  const etag = '"l1"';

  test.each([
    ['with the same id is kept, with its new end', own({ id }), locked({ id, expires_at: later }), during, 'kept'],
    [
      'with the same id is kept past the end it was granted',
      own({ id }),
      locked({ id, expires_at: later }),
      after,
      'kept',
    ],
    ['with the same ETag is kept', own({ etag }), locked({ etag, expires_at: later }), during, 'kept'],
    ['with another id is lost', own({ id }), locked({ id: 'l2' }), during, 'lost'],
    ['with another ETag is lost', own({ etag }), locked({ etag: '"l2"' }), during, 'lost'],
    ['of another owner is lost', own({ owner: 'build-bot' }), locked(), during, 'lost'],
    ['that was taken later is lost', own({ grantedAt: at }), locked({ acquired_at: iso(minute) }), during, 'lost'],
    ['that nothing tells from the one there is kept within its lifetime', own({}), locked(), during, 'kept'],
    ['that nothing tells from the one there is lost past it', own({}), locked({ expires_at: later }), after, 'lost'],
    ['that is not there is lost', own({ id }), { kind: 'absent' }, during, 'lost'],
    ['that is still listed after its end is lost', own({ id }), locked({ id }), after, 'lost'],
    ['whose end nobody knows is not known', own({ expires_at: undefined }), locked(), during, 'unknown'],
    [
      'in a list that is not whole is not known',
      own({ id }),
      { kind: 'unknown', reason: 'It is cut.' },
      during,
      'unknown',
    ],
    [
      'that could not be asked about is not known',
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

  test('that is kept has what is known of it from either side', () => {
    const listed = { id, owner: 'build-bot', acquired_at: at, fence: 7, expires_at: later };
    expect(checkLock(own({ id, etag }), locked(listed), during)).toEqual({
      path,
      kind: 'kept',
      lock: { type: 'exclusive', etag, ...listed },
    });
  });

  test('that is only taken for the one there has nothing of that one but its end', () => {
    const result = checkLock(own({}), locked({ id, etag, owner: 'grace', fence: 7, expires_at: later }), during);
    expect(result).toMatchObject({ kind: 'kept', lock: { type: 'exclusive', expires_at: later } });
    expect(JSON.stringify(result)).not.toMatch(/l1|grace/);
  });
});

describe('a report', () => {
  const lock = { id: 'l1', expires_at: end };
  const holder = knownLock('b', { origin: 'https://ci.example.com/runs/7', acquired_at: iso(5 * minute) });
  const kept: CheckResult = { path: lockPath('a'), kind: 'kept', lock };
  const taken: CheckResult = { path: lockPath('b'), kind: 'lost', lock, holder };
  const gone: CheckResult = { path: lockPath('c'), kind: 'lost', lock, holder: undefined };
  const unknown: CheckResult = { path: lockPath('d'), kind: 'unknown', reason: 'The service did not answer.' };
  const report = (results: readonly CheckResult[], gap?: string) =>
    checkReport({ ...place, results, gap }, during, asItIs);

  test.each([
    ['kept', [kept], 'The lock on a in game is still held, until 2026-03-01 13:00 UTC.', 'kept'],
    ['kept', [kept, kept], 'Both locks in game are still held, until 2026-03-01 13:00 UTC.', 'kept'],
    ['lost', [gone], 'The lock on c in game is lost.', 'lost'],
    ['lost beside others', [kept, taken, gone], '2 of 3 locks in game are lost.', 'lost'],
    [
      'lost beside unknown',
      [kept, taken, unknown],
      '1 of 3 locks in game is lost, and of 1 that is not known.',
      'lost',
    ],
    ['unknown', [unknown], 'It is not known whether the lock on d in game is still held.', undefined],
    ['unknown beside kept', [kept, unknown], 'It is not known whether 1 of 2 locks in game is still held.', undefined],
    ['an empty list', [], 'There is nothing to check in game: the list of locks is empty.', 'kept'],
  ] as const)('of what is %s', (_, results, sentence, status) => {
    const outcome = report(results);
    expect(outcome.sentence).toBe(sentence);
    expect(outcome.outputs.status).toBe(status);
    expect(outcome.failures.length > 0).toBe(status !== 'kept');
    // Nothing is claimed of a job of which something is not known, and nothing is lost.
    if (status === undefined) expect(outcome.outputs).toEqual({});
    else expect(outcome.outputs.count).toBe(String(results.filter(({ kind }) => kind === 'kept').length));
  });

  test('names each lost lock with why, and who has the path now; what is unknown for one reason is named once', () => {
    const others = ['e', 'f'].map((name): CheckResult => ({ ...unknown, path: lockPath(name) }));
    expect(report([kept, taken, gone, unknown, ...others]).failures).toEqual([
      'This job has lost its lock on b. Somebody had released it before its end. b is held by grace until 13:00 UTC (in 30 min), taken by https://ci.example.com/runs/7, since 12:05 UTC (25 min ago).',
      'This job has lost its lock on c. Somebody had released it before its end. Nobody holds the path now.',
      'It is not known whether this job still holds d, e, f. The service did not answer.',
    ]);
  });

  test('says when a lock was lost, as far as that is known', () => {
    const lost = { path, kind: 'lost', lock, holder: undefined } as const;
    const [reason] = checkReport({ ...place, results: [lost], gap: undefined }, after, asItIs).failures;
    expect(reason).toContain('It had ended at 13:00 UTC (5 min ago); a longer `ttl` would have kept it.');
    expect(report([{ ...lost, lock: {} }]).failures).toEqual([
      'This job has lost its lock on Content/Hero.uasset. Nobody holds the path now.',
    ]);
  });

  test('with a gap fails, and claims nothing unless a lock is lost', () => {
    const gap = 'Part of the ledger cannot be read.';
    expect(report([kept], gap)).toMatchObject({ outputs: {}, failures: [gap] });
    expect(report([kept, gone], gap)).toMatchObject({ outputs: { status: 'lost', count: '1' } });
  });
});
