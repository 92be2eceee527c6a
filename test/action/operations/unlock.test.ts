import { describe, expect, test } from 'vitest';
import type { jobLocksIn } from '../../../src/action/operations/job-locks.ts';
import { resolveFromLedger, unlockResult } from '../../../src/action/operations/unlock.ts';

import type { ReleaseResult } from '../../../src/locks/release.ts';
import { hero as path } from '../../client/test-client.ts';
import { grantOf, start } from '../../locks/samples.ts';

type JobLocks = ReturnType<typeof jobLocksIn>;

describe('the target of an unlocked path', () => {
  const grant = grantOf(path);
  const empty: JobLocks = {
    held: new Map(),
    find: () => undefined,
    hasEnded: () => false,
    planned: new Set(),
    gap: undefined,
  };
  const holding = (mayBeReleased: boolean): JobLocks => ({
    ...empty,
    held: new Map([[path, { grant, mayBeReleased }]]),
    planned: new Set([path]),
  });

  test.each([true, false])('is the identified lock of the job if the job holds it, named: %s', (isNamed) => {
    const target = (mayBeReleased: boolean) => ({ path, own: { grant, mayBeReleased }, isNamed });
    expect(resolveFromLedger(path, isNamed, holding(false))).toEqual(target(false));
    expect(resolveFromLedger(path, isNamed, holding(true))).toEqual(target(true));
    expect(resolveFromLedger(path, isNamed, { ...holding(false), gap: 'A part is missing.' })).toEqual(target(true));
  });

  test.each<[string, isNamed: boolean, JobLocks, object]>([
    ['is nothing to release if only a pattern matches the path', false, empty, { path, isForeign: true }],
    [
      'is nothing to release if only a pattern matches the path and the ledger is damaged',
      false,
      { ...empty, gap: 'A part is missing.' },
      { path, isForeign: true },
    ],
    [
      'is the lock of someone else if the job asked for the path but does not hold it',
      true,
      { ...empty, planned: new Set([path]) },
      { path, isForeign: true },
    ],
    ['is the current lock on the path if the job never asked for it', true, empty, { path, isForeign: false }],
    [
      'may be the lock of someone else if it may be missing from a damaged ledger',
      true,
      { ...empty, gap: 'A part is missing.' },
      { path, isForeign: true },
    ],
  ])('%s', (_, isNamed, jobLocks, target) => {
    expect(resolveFromLedger(path, isNamed, jobLocks)).toEqual({ isNamed, ...target });
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
      warning: {
        text: expect.stringMatching(/is held\. This lock was left alone/),
        advice: expect.stringContaining('`force: true`'),
      },
    });
  });
});
