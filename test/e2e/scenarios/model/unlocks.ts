import { expect } from 'vitest';
import type { Lock } from '../../../../src/service/contract/schemas.ts';
import { isReleasing, type Passed, releasedBy } from '../../../support/fault-proxy.ts';
import type { StepResult } from '../../../support/runner/step.ts';
import type { Account, Book } from './book.ts';

/** What an unlock names: a path stands for any current lock on it, a pattern for locks of the job itself. */
export type Naming = 'path' | 'pattern';

export interface Unlocked {
  readonly account: Account;
  readonly paths: readonly string[];
  readonly naming: Naming;
  /** The locks before and after the unlock. */
  readonly before: readonly Lock[];
  readonly after: readonly Lock[];
  /** Its requests. */
  readonly passed: readonly Passed[];
  readonly result: StepResult;
  /** Whether there were no faults, and no actions by others. */
  readonly calm: boolean;
  /** Whether the job sees the run of a lock. */
  readonly showsOrigin: boolean;
}

const onPath = (locks: readonly Lock[], path: string): Lock | undefined => locks.find((lock) => lock.path === path);

const releasedAt = (passed: readonly Passed[]): ReadonlySet<string> => new Set(passed.flatMap(releasedBy));

/** Expected result for a path; undefined if the job may have more or less information than the model. */
type Fate = 'released' | 'absent' | 'lost' | 'held' | 'refused' | undefined;

function fateOf(path: string, { account, naming, before, showsOrigin }: Unlocked, book: Book): Fate {
  if (account.ledgerGone) return undefined;
  const there = onPath(before, path);
  if (account.counted.some((lock) => lock.path === path)) return 'released';
  // A killed step may have got the lock, and may have recorded it in time.
  if (there?.origin === account.origin) return undefined;
  const broken = account.broken.filter((lock) => lock.path === path);
  if (broken.some(({ certain }) => !certain)) return undefined;
  if (broken.length > 0) return there === undefined ? 'absent' : 'lost';
  if (naming === 'pattern' || there === undefined) return 'absent';
  if (account.asked.has(path)) return 'held';
  // Each job of the model is a run of its own, and only `force` releases the lock of another run.
  if (showsOrigin && there.origin !== undefined) return 'held';
  return book.others.get(path)?.who === 'stranger' ? 'refused' : 'released';
}

/** Without faults, the result of an unlock is known. */
function expectFates(unlocked: Unlocked, book: Book): void {
  const { paths, result } = unlocked;
  const fates = paths.map((path) => fateOf(path, unlocked, book));
  const some = (fate: Fate): boolean => fates.includes(fate);
  if (some(undefined)) return;
  const { status, released = '[]' } = result.outputs;
  const reason = `${paths} should be ${fates}: ${JSON.stringify(result.outputs)}\n${result.log}`;
  const toRelease = paths.filter((_, index) => fates[index] === 'released');
  expect(new Set(JSON.parse(released)), reason).toEqual(new Set(toRelease));
  expect(result.conclusion, reason).toBe(some('lost') || some('refused') ? 'failure' : 'success');
  if (some('lost')) expect(status, reason).toBe('lost');
  else if (some('released')) expect(status, reason).toBe('released');
  else if (some('held')) expect(status, reason).toBe('held');
  else if (!some('refused')) expect(status, reason).toBe('absent');
}

/** Whatever went wrong, the reported result must be true. */
function expectTruth({ account, paths, after, before, passed, result, calm }: Unlocked): void {
  const done = releasedAt(passed);
  const { status, released = '[]' } = result.outputs;
  const told: readonly string[] = JSON.parse(released);
  const reason = `${paths}: ${JSON.stringify(result.outputs)}\n${result.log}`;
  expect(paths, reason).toEqual(expect.arrayContaining([...told]));
  for (const path of told) {
    // In faster time, an action between two requests may seem to have happened before the first one.
    const broken = calm ? [] : account.broken.filter((lock) => lock.path === path).map(({ id }) => id);
    expect(done.has(path) || broken.length > 0, reason).toBe(true);
    // A later lock of someone else is left alone.
    const ended = done.has(path) ? [onPath(before, path)?.id] : broken;
    const standing = onPath(after, path)?.id;
    if (standing !== undefined) expect(ended, reason).not.toContain(standing);
  }
  // Without its ledger, the job has no record of these locks.
  const kept = paths.filter((path) => {
    const id = onPath(after, path)?.id;
    return !account.ledgerGone && account.counted.some((lock) => lock.id === id);
  });
  if (status === 'absent') expect(kept, reason).toEqual([]);
  if (status === 'lost') expect(kept.length, reason).toBeLessThan(paths.length);
  if (status === 'released') expect(told.length, reason).toBeGreaterThan(0);
  if (status === 'absent' || status === 'held') expect(told, reason).toEqual([]);
  // With a damaged ledger, a pattern may mean more locks than the job knows.
  const hasGap = result.log.includes('This job may have more locks');
  if (status === 'absent') expect(result.conclusion, reason).toBe(hasGap ? 'failure' : 'success');
  if (status === 'lost') expect(result.conclusion, reason).toBe('failure');
}

/** Whether the job looked up this lock on the path before its first release there. */
function hasSeen(id: string, path: string, passed: readonly Passed[]): boolean {
  const first = passed.findIndex((one) => isReleasing(one) && one.path === path);
  return passed.slice(0, Math.max(first, 0)).some(({ method, response }) => method === 'GET' && response.includes(id));
}

/** Checks the result of an unlock, and records it. Locks that the unlock should not have ended stay in the book. */
export function settleUnlock(unlocked: Unlocked, book: Book): void {
  const { account, paths, naming, before, after, passed, result, calm } = unlocked;
  if (calm) expectFates(unlocked, book);
  expectTruth(unlocked);
  const standing = new Set(after.map(({ id }) => id));
  /** Number of locks that the job had on a path and has not settled: an unlock refers to the last one. */
  const hadOn = (wanted: string): number =>
    [...account.counted, ...account.broken].filter(({ path }) => path === wanted).length;
  const several = new Set(paths.filter((path) => hadOn(path) > 1));
  const done = releasedAt(passed);
  account.counted = account.counted.flatMap((lock) => {
    if (!paths.includes(lock.path)) return [lock];
    return done.has(lock.path) && !standing.has(lock.id) ? [] : [{ ...lock, unlockBegun: true }];
  });
  // The job is now informed about these locks, if it got the outputs.
  account.broken = account.broken.flatMap((lock) => {
    if (!paths.includes(lock.path)) return [lock];
    const isSettled = calm && result.outputs['status'] !== undefined && !several.has(lock.path);
    return isSettled ? [] : [{ ...lock, certain: false, unlocked: true }];
  });
  for (const path of done) {
    const mayMeanAny = naming === 'path' && paths.includes(path) && !account.asked.has(path);
    const there = onPath(before, path);
    if (mayMeanAny && there !== undefined && there.origin !== account.origin && !standing.has(there.id)) {
      book.broke(there);
    }
    const came = book.others.get(path);
    if (mayMeanAny && came !== undefined && !standing.has(came.id) && hasSeen(came.id, path, passed)) {
      book.others.delete(path);
    }
  }
}
