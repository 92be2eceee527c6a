import { describe, expect, test } from 'vitest';
import type { jobLocksIn } from '../../../src/action/operations/job-locks.ts';
import { resolveFromLedger, unlockResult } from '../../../src/action/operations/unlock.ts';
import type { ReleaseResult } from '../../../src/locks/release.ts';
import { hero as path } from '../../client/test-client.ts';
import { addressOf, end, grantOf, knownLock, start } from '../../locks/samples.ts';

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

  test('is the current lock on the path only if an undamaged ledger shows that the job never asked for it', () => {
    expect(resolveFromLedger(path, empty)).toEqual({ path, isForeign: false });
    for (const unsure of [{ planned: new Set([path]) }, { gap: 'A part is missing.' }]) {
      expect(resolveFromLedger(path, { ...empty, ...unsure })).toEqual({ path, isForeign: true });
    }
  });
});

describe('the result of a release', () => {
  const resultOf = (result: ReleaseResult, mayBeReleased = false) =>
    unlockResult(result, { grant: { path, lock: {} }, mayBeReleased }, { force: false, now: start });

  test('is a warning without advice for a lock that nothing identifies: `force` would not help', () => {
    const text = `Nothing identifies the lock on ${path} as this one: the current lock was left alone, and may belong to someone else.`;
    expect(resultOf({ kind: 'ambiguous' })).toEqual({ path, result: 'left alone', warning: { text } });
  });

  test('is a loss only if the job cannot itself have released the lock', () => {
    const other = { kind: 'other', holder: undefined } as const;
    expect(resultOf(other)).toMatchObject({ result: 'lost', failure: expect.stringContaining('lost its lock') });
    // Without the advice to force a release.
    const warning = {
      text: `${path} is held: that lock was left alone.`,
      advice: 'This job may already have released its own.',
    };
    const leftAlone = { path, result: 'left alone', holder: undefined, warning };
    expect(resultOf(other, true)).toEqual(leftAlone);
    expect(resultOf({ ...other, mayBeDone: true })).toEqual(leftAlone);
  });

  test('is a loss if the renewal was refused, whatever else may have ended the lock since', () => {
    const loss = { kind: 'lost', ...addressOf(path), step: 's', key: path, at: end } as const;
    const own = { grant: { path, lock: {} }, mayBeReleased: true, loss };
    for (const end of [{ kind: 'other', holder: undefined }, { kind: 'released' }, { kind: 'absent' }] as const) {
      const result = unlockResult(end, own, { force: false, now: start });
      expect(result).toMatchObject({ result: 'lost', failure: expect.stringContaining('refused to renew it') });
    }
  });

  test('is a warning for a lock that expired before it was released', () => {
    const own = { grant: grantOf(path), mayBeReleased: false, renewalError: 'The service was down.' };
    const now = Date.parse(own.grant.lock.expires_at) + 1;
    expect(unlockResult({ kind: 'absent' }, own, { force: false, now })).toMatchObject({
      result: 'already gone',
      warning: { text: expect.stringContaining('expired at'), advice: 'Increase `ttl` to cover the job.' },
    });
  });

  test('is a warning with advice for a lock that replaced the one that the step had found', () => {
    const found = { kind: 'locked', lock: knownLock(path) } as const;
    const own = { grant: { path, lock: found.lock }, mayBeReleased: true };
    expect(unlockResult({ kind: 'other', holder: undefined }, own, { found, force: false, now: start })).toMatchObject({
      result: 'left alone',
      warning: {
        text: expect.stringMatching(/is held\. This lock was left alone/),
        advice: expect.stringContaining('`force: true`'),
      },
    });
    // The step has not read the ledger, and `force` is set.
    const text = `${path} is held. This lock was left alone: it is not the lock that this step found.`;
    const forced = unlockResult({ kind: 'other', holder: undefined }, own, { found, force: true, now: start });
    expect(forced).toEqual({ path, result: 'left alone', holder: {}, warning: { text } });
  });
});
