import {
  inParallel,
  type KnownLock,
  type LookupResult,
  listOnPaths,
  lookupIn,
  type WorkspaceId,
} from '../../client/client.ts';
import { formatNumber, joinFirst, pluralize } from '../../interface/format.ts';
import { byPath, type LockPath } from '../../interface/lock-path.ts';
import type { Redact } from '../../interface/redact.ts';
import type { Loss } from '../../locks/ledger/entry.ts';
import { lockJson } from '../../locks/ledger/ledger.ts';
import { heldText, howItEnded, lostRenewalText } from '../../locks/messages.ts';
import { type OwnLock, ownLockOf, ownLockState } from '../../locks/ownership.ts';
import type { TaskOf } from '../inputs/task.ts';
import { failed, type Outcome, type Outputs } from '../report/outcome.ts';
import { locksOutput, locksPage, type PathResult, reportResults } from '../report/results.ts';
import { type Context, defaultLimits } from '../step/context.ts';
import { gapText, jobLocksIn, logOtherWorkspaces } from './job-locks.ts';

interface CheckResult extends PathResult {
  /** The lock, if the job still holds it. */
  readonly kept?: OwnLock;
  /** Describes the loss. */
  readonly failure?: string;
  /** Why the service does not show whether the job still holds the lock. */
  readonly unclear?: string;
}

/** Fails unless every lock is verified to be still held. Changes nothing in the service or the ledger. */
export async function check(context: Context, task: TaskOf<'check'>): Promise<Outcome> {
  const { client, connection, log, redact } = context;
  const { workspace, selection } = task;
  const { locks, gap } = locksToCheck(context, task);
  // An empty list in the input is intentional. A job without any lock has probably lost its ledger.
  if (locks.length === 0 && selection.kind === 'job') {
    const none = `This job holds no lock in ${workspace}, so there is nothing to check. Lock something before this step, or pass locks of another job with \`locks\` or \`locks-file\`.`;
    return failed(gap === undefined ? { count: '0', locks: '[]' } : {}, gap ?? none);
  }
  const results = (await checkLocks(context, workspace, locks)).toSorted(byPath);
  const kept = results.filter(({ result }) => result === 'kept').length;
  const begin = `This job still holds ${formatNumber(kept)} of ${pluralize(results.length, 'lock')} in ${workspace}`;
  const about = { main: 'kept', begin, rest: locksPage(connection.baseUrl, workspace) } as const;
  const { lines, ...report } = reportResults(results, about, client.serverNow());
  const sentence = gap === undefined ? report.sentence : `${report.sentence} ${gap}`;
  log.group(sentence, lines);
  return {
    ...report,
    sentence,
    outputs: outputsOf(results, gap, redact),
    failures: [...failuresOf(results), ...(gap === undefined ? [] : [gap])],
  };
}

/** Looks the locks up with one request for each lease, and with lists for the others. */
async function checkLocks(
  context: Context,
  workspace: WorkspaceId,
  locks: readonly LockToCheck[],
): Promise<readonly CheckResult[]> {
  const { client } = context;
  const within = defaultLimits(context);
  const results: CheckResult[] = [];
  await inParallel([...Map.groupBy(locks, ({ lock }) => lock.lease)], async ([lease, group]) => {
    const paths = group.map(({ path }) => path);
    const onPaths = () => listOnPaths(client, workspace, paths, within);
    // The service forgets a lease some days after its end.
    const list = lease === undefined ? onPaths() : client.listLease({ workspace, lease }, within).catch(onPaths);
    const find = await lookupIn(list);
    results.push(...group.map((lock) => checkLock(lock, find(lock.path), client.serverNow())));
  });
  return results;
}

export interface LockToCheck {
  readonly path: LockPath;
  readonly lock: OwnLock;
  readonly loss?: Loss | undefined;
}

/**
 * Decides whether the lock is still held, by the same proof as a release. Without id and ETag, it counts as held until
 * its ttl expires, and as lost after that.
 */
export function checkLock(own: LockToCheck, found: LookupResult, now: number): CheckResult {
  const { path, lock, loss } = own;
  if (found.kind === 'failed') return { path, result: 'unknown', unclear: found.error.message };
  if (found.kind === 'unknown') return { path, result: 'unknown', unclear: found.reason };
  const listed = found.kind === 'locked' ? found.lock : undefined;
  switch (ownLockState(lock, found, { serverNow: now, mayBeReleased: loss !== undefined })) {
    case 'ours':
      return keptResult(own, listed);
    case 'assumed':
      return keptResult(own, { expires_at: listed?.expires_at });
    case 'absent':
      return lostResult(own, undefined, now);
    case 'other':
      return lostResult(own, listed, now);
    case 'unknown': {
      const isExpiryKnown = loss !== undefined || !Number.isNaN(Date.parse(lock.expires_at ?? ''));
      if (isExpiryKnown) return lostResult(own, listed, now);
      const unclear =
        'The current lock cannot be verified to be the one that you passed. Pass the output `locks` of a lock step unchanged.';
      return { path, result: 'unknown', unclear };
    }
  }
}

/** The details for the output `locks`: those in the list, or else those that the job knew. */
function keptResult({ path, lock }: LockToCheck, listed: OwnLock = {}): CheckResult {
  const { type, id, etag, owner, acquired_at, fence, expires_at, lease } = { ...lock, ...definedIn(listed) };
  const kept = { type, id, etag, owner, acquired_at, fence, expires_at, lease };
  return { path, result: 'kept', until: expires_at, kept };
}

const definedIn = (lock: OwnLock): OwnLock =>
  Object.fromEntries(Object.entries(lock).filter(([, value]) => value !== undefined));

/** Describes a lost lock of this job: when it was lost, if known, and who holds the path now. */
function lostResult({ path, lock, loss }: LockToCheck, holder: KnownLock | undefined, now: number): CheckResult {
  const current = holder === undefined ? 'Nobody holds the path now' : heldText(path, holder, now, true);
  const ended = howItEnded(Date.parse(lock.expires_at ?? ''), holder, now);
  const failure =
    loss === undefined
      ? `This job lost its lock on ${path}.${ended} ${current}.`
      : lostRenewalText(loss, holder ?? 'nobody', now);
  return { path, result: 'lost', holder: holder ?? 'nobody', until: holder?.expires_at, failure };
}

/** There are no outputs if a lock can be neither confirmed nor called lost, unless another one is lost. */
export function outputsOf(results: readonly CheckResult[], gap: string | undefined, redact: Redact): Outputs {
  const isLost = results.some(({ result }) => result === 'lost');
  const isUnknown = gap !== undefined || results.some(({ result }) => result === 'unknown');
  if (isUnknown && !isLost) return {};
  const kept = results.flatMap(({ path, kept: lock }) => (lock === undefined ? [] : { path, ...lock }));
  const locks = locksOutput(kept, (entries) => lockJson(entries, redact));
  return { status: isLost ? 'lost' : 'kept', count: String(kept.length), locks };
}

/** A sentence for each lost path. Paths with the same unknown state share one. */
export function failuresOf(results: readonly CheckResult[]): readonly string[] {
  const byReason = Map.groupBy(results, ({ unclear }) => unclear);
  return [
    ...results.flatMap(({ failure }) => failure ?? []),
    ...[...byReason].flatMap(([reason, unclear]) =>
      reason === undefined
        ? []
        : `Could not determine whether this job still holds ${joinFirst(unclear.map(({ path }) => path))}. ${reason}`,
    ),
  ];
}

/** The locks to check, and the reason why there may be more. */
function locksToCheck(context: Context, { selection, workspace }: TaskOf<'check'>) {
  if (selection.kind !== 'job') {
    const locks = selection.locks.map(({ path, ...lock }): LockToCheck => ({ path, lock }));
    return { locks, gap: undefined };
  }
  const { ledger, log } = context;
  const { held, otherWorkspaces, damaged } = jobLocksIn(context, workspace);
  logOtherWorkspaces(log, otherWorkspaces, 'not checked');
  // The job no longer relies on locks whose release has started.
  const unreleased = [...held].filter(([, { releaseStarted }]) => !releaseStarted);
  return {
    locks: unreleased.map(([path, { grant, loss }]): LockToCheck => {
      return { path, lock: ownLockOf(grant), loss };
    }),
    gap: damaged ? gapText(ledger, 'checked', '`locks` or `locks-file`') : undefined,
  };
}
