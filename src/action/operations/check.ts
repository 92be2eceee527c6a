import type { WorkspaceId } from '../../client/access.ts';
import { newerEtag } from '../../client/known-lock.ts';
import { formatNumber, joinFirst, pluralize } from '../../interface/format.ts';
import { byPath } from '../../interface/lock-path.ts';
import { lossText } from '../../locks/messages.ts';
import type { OurLock, OwnLock } from '../../locks/ownership.ts';
import type { TaskOf } from '../inputs/task.ts';
import { failed, type Outcome, type Outputs } from '../report/outcome.ts';
import { locksOutput, type PathResult, resultsOutcome } from '../report/results.ts';
import { type Context, defaultLimits } from '../step/context.ts';
import { jobLocksIn, type LookedUp, lookUpOurs } from './job-locks.ts';

interface CheckResult extends PathResult {
  /** The lock, if the job still holds it. */
  readonly kept?: OwnLock;
  /** Why it is unknown whether the job still holds the lock. */
  readonly unclear?: string;
}

/** Fails unless it can verify that every lock is still held. Changes nothing in the service or the ledger. */
export async function check(context: Context, task: TaskOf<'check'>): Promise<Outcome> {
  const { client } = context;
  const { workspace, locks: passed = task['locks-file'] } = task;
  const { locks, gap } = locksToCheck(context, workspace, passed);
  // An empty list in the input may be intended, but a job without any lock has probably lost its ledger.
  if (locks.length === 0 && passed === undefined) {
    const none = `This job holds no lock in ${workspace}, so there is nothing to check. Lock something before this step, or pass locks of another job with \`locks\` or \`locks-file\`.`;
    return failed(gap === undefined ? { count: '0', locks: '[]' } : {}, gap ?? none);
  }
  const found = await lookUpOurs(context, workspace, locks, defaultLimits(context));
  const now = client.serverNow();
  const results = found.map((one) => checkResult(one, now));
  const kept = results.filter(({ result }) => result === 'kept').length;
  const begin = `This job still holds ${formatNumber(kept)} of ${pluralize(results.length, 'lock')} in ${workspace}`;
  const outcome = resultsOutcome(results, 'kept', begin, now, gap);
  return {
    ...outcome,
    outputs: outputsOf(results, gap),
    failures: [...outcome.failures, ...unclearTexts(results)],
  };
}

/** The locks to check, and why there may be more. */
function locksToCheck(context: Context, workspace: WorkspaceId, passed: readonly OurLock[] | undefined) {
  const { held, find, gap } = jobLocksIn(context, workspace);
  if (passed !== undefined) {
    const locks = passed.map((one) => find({ ...one.grant.lock, path: one.grant.path }) ?? one);
    return { locks, gap: undefined };
  }
  // The job no longer relies on locks whose release has started.
  return { locks: [...held.values()].filter(({ mayBeReleased }) => !mayBeReleased), gap };
}

/**
 * Whether the lock is still held, with the same proof as for a release. If nothing identifies locks, it counts as held
 * until its ttl expires, and as lost after that.
 */
export function checkResult({ ours, state, listed, reason }: LookedUp, now: number): CheckResult {
  const { path, lock } = ours.grant;
  if (reason !== undefined) return { path, result: 'unknown', unclear: reason };
  if (state === 'ours') return keptResult(ours, listed);
  if (state === 'assumed') {
    if (!isComparable(lock, listed)) {
      const unclear = 'The service lists ids or owners, but gave this job none when it locked the path.';
      return { path, result: 'unknown', unclear };
    }
    return keptResult(ours, { expires_at: listed?.expires_at });
  }
  if (state === 'unknown' && ours.loss === undefined && Number.isNaN(Date.parse(lock.expires_at ?? ''))) {
    const unclear =
      'The current lock cannot be verified to be the one that you passed. Pass the output `locks` of a lock step unchanged.';
    return { path, result: 'unknown', unclear };
  }
  const holder = state === 'absent' || listed === undefined ? 'nobody' : listed;
  return { path, result: 'lost', holder, failure: lossText(ours, holder, now) };
}

/** Whether this job knows everything that identifies the current lock. If not, that may well be someone else's. */
const isComparable = (own: OwnLock, listed: OwnLock = {}): boolean =>
  (['id', 'etag', 'owner'] as const).every((name) => listed[name] === undefined || own[name] !== undefined);

/** The details for the output `locks`: from the list, or otherwise as last known to the job. */
function keptResult({ grant: { path, lock } }: OurLock, listed: OwnLock = {}): CheckResult {
  const known = Object.fromEntries(Object.entries(listed).filter(([, value]) => value !== undefined));
  const { type, id, owner, acquired_at, fence, expires_at: until, lease }: OwnLock = { ...lock, ...known };
  const etag = newerEtag(lock.etag, listed.etag);
  return { path, result: 'kept', until, kept: { type, id, etag, owner, acquired_at, fence, expires_at: until, lease } };
}

/** Paths with the same reason share a sentence. */
export const unclearTexts = (results: readonly CheckResult[]): readonly string[] =>
  [...Map.groupBy(results, ({ unclear }) => unclear)].flatMap(([reason, unclear]) =>
    reason === undefined
      ? []
      : `Could not determine whether this job still holds ${joinFirst(unclear.map(({ path }) => path))}. ${reason}`,
  );

/** There are no outputs if the state of a lock is unknown, unless another lock is lost. */
export function outputsOf(results: readonly CheckResult[], gap: string | undefined): Outputs {
  const isLost = results.some(({ result }) => result === 'lost');
  const isUnknown = gap !== undefined || results.some(({ result }) => result === 'unknown');
  if (isUnknown && !isLost) return {};
  const kept = results
    .flatMap(({ path, kept: lock }) => (lock === undefined ? [] : { path, ...lock }))
    .toSorted(byPath);
  return { status: isLost ? 'lost' : 'kept', count: String(kept.length), locks: locksOutput(kept) };
}
