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

  test('is the identified lock of the job if the job holds it', () => {
    const target = (mayBeReleased: boolean) => ({ path, own: { grant, mayBeReleased } });
    expect(resolveFromLedger(path, holding(false))).toEqual(target(false));
    expect(resolveFromLedger(path, holding(true))).toEqual(target(true));
    expect(resolveFromLedger(path, { ...holding(false), gap: 'A part is missing.' })).toEqual(target(true));
  });

  test.each<[string, JobLocks, object]>([
    [
      'is the lock of someone else if the job asked for the path but does not hold it',
      { ...empty, planned: new Set([path]) },
      { path, isForeign: true },
    ],
    ['is the current lock on the path if the job never asked for it', empty, { path, isForeign: false }],
    [
      'may be the lock of someone else if it may be missing from a damaged ledger',
      { ...empty, gap: 'A part is missing.' },
      { path, isForeign: true },
    ],
  ])('%s', (_, jobLocks, target) => {
    expect(resolveFromLedger(path, jobLocks)).toEqual(target);
  });
});

describe('the result of a release', () => {
  const resultOf = (result: ReleaseResult, mayBeReleased = false) =>
    unlockResult(result, { grant: { path, lock: {} }, mayBeReleased }, { force: false, now: start });

  test('is a warning without advice for a lock that nothing identifies: `force` would not help', () => {
    const text = expect.stringContaining('cannot be verified to be the one that you passed');
    expect(resultOf({ kind: 'ambiguous' })).toEqual({ path, result: 'left alone', warning: { text } });
  });

  test('is a loss only if the job cannot itself have released the lock', () => {
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
