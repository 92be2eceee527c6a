import { describe, expect, test } from 'vitest';
import { resolveFromLedger, statusOf, unlockResult } from '../../../src/action/operations/unlock.ts';
import type { PathResult } from '../../../src/action/report/results.ts';
import type { JobLocks } from '../../../src/locks/ledger/history.ts';
import type { ReleaseResult } from '../../../src/locks/release.ts';
import { hero as path } from '../../client/test-client.ts';
import { at, errorOf, grantOf, refused, start } from '../../locks/samples.ts';

describe('the target of an unlocked path', () => {
  const grant = grantOf(path);
  const empty: JobLocks = {
    held: new Map(),
    lost: [],
    planned: new Set(),
    cancellations: [],
    knowsOnlyInterface: false,
    damaged: false,
  };
  const holding = (releaseStarted: boolean): JobLocks => ({
    ...empty,
    held: new Map([[path, { grant, releaseStarted }]]),
    lost: [],
    planned: new Set([path]),
  });
  const named = { kind: 'named', path } as const;
  const matched = { kind: 'matched', path } as const;

  test.each([named, matched])(
    'is the identified lock of the job if the path is $kind and the job holds it',
    (resolved) => {
      const own = {
        kind: 'own',
        path,
        isNamed: resolved.kind === 'named',
        lock: { ...grant.lock, key: grant.key, grantedAt: at },
      };
      expect(resolveFromLedger(resolved, holding(false))).toEqual({ ...own, mayBeReleased: false });
      expect(resolveFromLedger(resolved, holding(true))).toEqual({ ...own, mayBeReleased: true });
      expect(resolveFromLedger(resolved, { ...holding(false), damaged: true })).toEqual({
        ...own,
        mayBeReleased: true,
      });
    },
  );

  const unknown = { kind: 'own', lock: {}, mayBeReleased: true };

  test.each([
    ['is nothing to release if only a pattern matches the path', matched, empty, { kind: 'foreign' }],
    [
      'is nothing to release if only a pattern matches the path and the ledger is damaged',
      matched,
      { ...empty, damaged: true },
      { kind: 'foreign' },
    ],
    [
      'is the lock of someone else if the job asked for the path but does not hold it',
      named,
      { ...empty, lost: [], planned: new Set([path]) },
      { kind: 'foreign' },
    ],
    ['is the current lock on the path if the job never asked for it', named, empty, { kind: 'found' }],
    ['may be released if the lock may be missing from a damaged ledger', named, { ...empty, damaged: true }, unknown],
  ])('%s', (_, resolved, jobLocks, target) => {
    expect(resolveFromLedger(resolved, jobLocks)).toEqual({ path, isNamed: resolved.kind === 'named', ...target });
  });
});

test.each<[string, readonly PathResult['result'][], string]>([
  ['a lock was lost, whatever else happened', ['not released', 'released', 'lost'], 'lost'],
  ['some locks were released', ['left alone', 'not released', 'released'], 'released'],
  ['a path is held and nothing was released', ['not locked', 'left alone'], 'held'],
  ['a release failed, as the lock may still exist', ['not released'], 'held'],
  ['no path was locked', ['not locked', 'not locked'], 'absent'],
  ['a pattern matches no lock of the job', [], 'absent'],
])('the status says that %s', (_, words, status) => {
  expect(statusOf(words.map((result) => ({ path, result })))).toBe(status);
});

describe('the result of a release', () => {
  const resultOf = (result: ReleaseResult, mayBeReleased = false) =>
    unlockResult(result, path, { kind: 'own', lock: {}, mayBeReleased }, { force: false, isNamed: true, now: start });
  const failed = (status: number) => resultOf({ kind: 'failed', error: errorOf(refused(status)), mayBeDone: false });

  test('is a warning without advice for a lock that nothing identifies: `force` would not help', () => {
    const text = expect.stringContaining('cannot be verified to be the one that you passed');
    expect(resultOf({ kind: 'ambiguous' })).toEqual({ path, result: 'left alone', warning: { text } });
  });

  test('is a loss only if the job cannot have released the lock itself', () => {
    const other = { kind: 'other', holder: undefined } as const;
    expect(resultOf(other)).toMatchObject({ result: 'lost', failure: expect.stringContaining('lost its lock') });
    expect(resultOf(other, true)).toMatchObject({
      result: 'left alone',
      warning: { text: expect.stringMatching(/is held, and/), advice: expect.stringContaining('`force: true`') },
    });
  });

  test('is a failure that explains a refusal in terms of the inputs', () => {
    expect(failed(403)).toMatchObject({
      result: 'not released',
      failure: expect.stringMatching(/is held, and the service does not let this token .* set `force: true` with /),
    });
    expect(failed(500)).toMatchObject({
      result: 'not released',
      failure: expect.stringMatching(/^The lock on Content\/Hero\.uasset was not released\. .*500/),
    });
  });
});
