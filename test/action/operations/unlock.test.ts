import { describe, expect, test } from 'vitest';
import { resolveFromLedger, unlockResult } from '../../../src/action/operations/unlock.ts';
import type { JobLocks } from '../../../src/locks/ledger/history.ts';
import type { ReleaseResult } from '../../../src/locks/session.ts';
import { hero as path } from '../../client/test-client.ts';
import { grantOf, start } from '../../locks/samples.ts';

describe('the target of an unlocked path', () => {
  const grant = grantOf(path);
  const empty: JobLocks = {
    held: new Map(),
    hasEnded: () => false,
    planned: new Set(),
    damaged: false,
  };
  const holding = (mayBeReleased: boolean): JobLocks => ({
    ...empty,
    held: new Map([[path, { grant, mayBeReleased }]]),
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
        grant,
      };
      expect(resolveFromLedger(resolved, holding(false))).toEqual({ ...own, mayBeReleased: false });
      expect(resolveFromLedger(resolved, holding(true))).toEqual({ ...own, mayBeReleased: true });
      expect(resolveFromLedger(resolved, { ...holding(false), damaged: true })).toEqual({
        ...own,
        mayBeReleased: true,
      });
    },
  );

  const unknown = { kind: 'own', grant: { path, lock: {} }, mayBeReleased: true };

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

describe('the result of a release', () => {
  const resultOf = (result: ReleaseResult, mayBeReleased = false) =>
    unlockResult(result, { grant: { path, lock: {} }, mayBeReleased }, { force: false, isNamed: true, now: start });

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
});
