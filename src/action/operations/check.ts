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
import type { TaskOf } from '../inputs/read-task.ts';
import { findOutdated, outdatedAnnotations } from '../locks/compare.ts';
import { gapText, jobLocksIn, logOtherWorkspaces } from '../locks/job-locks.ts';
import { failed, type Outcome, type Outputs, ofKind } from '../report/outcome.ts';
import { type PathResult, reportResults } from '../report/results.ts';
import { locksPage } from '../report/table.ts';
import { type Context, defaultLimits } from '../step/context.ts';
import { locksOutput } from './locks-output.ts';

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
  const find = await findLocks(context, workspace, locks);
  const now = client.serverNow();
  const results = locks.map((lock) => checkLock(lock, find(lock), now)).sort(byPath);
  const report = { service: connection.baseUrl, workspace, results, gap };
  const { lines, ...outcome } = checkReport(report, now, redact);
  log.group(outcome.sentence, lines);
  const compared = locks.flatMap(({ path, isCompared }) => (isCompared ? path : []));
  const outdated = await findOutdated(context, workspace, compared);
  return { ...outcome, annotations: outdatedAnnotations(context, outdated, true) };
}

/** Looks the locks up with one request for each lease, and with lists for the others. */
async function findLocks(context: Context, workspace: WorkspaceId, locks: readonly LockToCheck[]) {
  const { client } = context;
  const within = defaultLimits(context);
  const lookups = new Map<string | undefined, (path: LockPath) => LookupResult>();
  const byLease = Map.groupBy(locks, ({ lock }) => lock.lease);
  await inParallel([...byLease], async ([lease, group]) => {
    const onPaths = () =>
      listOnPaths(
        client,
        workspace,
        group.map(({ path }) => path),
        within,
      );
    // The service forgets a lease some days after its end.
    const list = lease === undefined ? onPaths() : client.listLease({ workspace, lease }, within).catch(onPaths);
    lookups.set(lease, await lookupIn(list));
  });
  return ({ path, lock }: LockToCheck): LookupResult => lookups.get(lock.lease)?.(path) ?? { kind: 'absent' };
}

export type CheckResult = { readonly path: LockPath } & (
  | { readonly kind: 'kept'; readonly lock: OwnLock }
  | {
      readonly kind: 'lost';
      /** The lock as it was while the job held it. */
      readonly lock: OwnLock;
      readonly loss?: Loss | undefined;
      /** Undefined if nobody holds the path. */
      readonly holder: KnownLock | undefined;
    }
  /** The service does not report enough to decide. */
  | { readonly kind: 'unknown'; readonly reason: string }
);

interface CheckReport {
  readonly service: string;
  readonly workspace: string;
  readonly results: readonly CheckResult[];
  readonly gap: string | undefined;
}

export function checkReport(
  report: CheckReport,
  now: number,
  redact: Redact,
): Outcome & { readonly lines: readonly string[] } {
  const { service, workspace, results, gap } = report;
  const kept = ofKind(results, 'kept').length;
  const begin = `This job still holds ${formatNumber(kept)} of ${pluralize(results.length, 'lock')} in ${workspace}`;
  const about = { main: 'kept', begin, rest: locksPage(service, workspace) } as const;
  const { sentence, ...more } = reportResults(results.map(pathResult), about, now);
  return {
    ...more,
    outputs: outputsOf(report, redact),
    sentence: gap === undefined ? sentence : `${sentence} ${gap}`,
    failures: failuresOf(report, now),
  };
}

export interface LockToCheck {
  readonly path: LockPath;
  readonly lock: OwnLock;
  readonly isCompared?: boolean | undefined;
  readonly loss?: Loss | undefined;
}

/**
 * Decides whether the lock is still held, by the same proof as a release. Without id and ETag, it counts as held until
 * its ttl expires, and as lost after that.
 */
export function checkLock({ path, lock, loss }: LockToCheck, found: LookupResult, serverNow: number): CheckResult {
  if (found.kind === 'failed') return { path, kind: 'unknown', reason: found.error.message };
  if (found.kind === 'unknown') return { path, kind: 'unknown', reason: found.reason };
  const listed = found.kind === 'locked' ? found.lock : undefined;
  switch (ownLockState(lock, found, { serverNow, mayBeReleased: loss !== undefined })) {
    case 'ours':
      return { path, kind: 'kept', lock: keptLock(lock, listed) };
    case 'assumed':
      return { path, kind: 'kept', lock: keptLock(lock, { expires_at: listed?.expires_at }) };
    case 'absent':
      return { path, kind: 'lost', lock, loss, holder: undefined };
    case 'other':
      return { path, kind: 'lost', lock, loss, holder: listed };
    case 'unknown': {
      const isExpiryKnown = loss !== undefined || !Number.isNaN(Date.parse(lock.expires_at ?? ''));
      if (isExpiryKnown) return { path, kind: 'lost', lock, loss, holder: listed };
      const reason =
        'The current lock cannot be verified to be the one that you passed. Pass the output `locks` of a lock step unchanged.';
      return { path, kind: 'unknown', reason };
    }
  }
}

/** The details for the output `locks`: those in the list, or else those that the job knew. */
function keptLock(lock: OwnLock, listed: OwnLock = {}): OwnLock {
  const { type = lock.type, id = lock.id, etag = lock.etag, owner = lock.owner, lease = lock.lease } = listed;
  const { acquired_at = lock.acquired_at, fence = lock.fence, expires_at = lock.expires_at } = listed;
  return { type, id, etag, owner, acquired_at, fence, expires_at, lease };
}

/** There are no outputs if a lock can be neither confirmed nor called lost, unless another one is lost. */
function outputsOf({ results, gap }: CheckReport, redact: Redact): Outputs {
  const isLost = results.some(({ kind }) => kind === 'lost');
  const isUnknown = gap !== undefined || results.some(({ kind }) => kind === 'unknown');
  if (isUnknown && !isLost) return {};
  const kept = ofKind(results, 'kept').map(({ path, lock }) => ({ path, ...lock }));
  const locks = locksOutput(kept, (entries) => lockJson(entries, redact));
  return { status: isLost ? 'lost' : 'kept', count: String(kept.length), locks };
}

function pathResult(result: CheckResult): PathResult {
  const { path } = result;
  switch (result.kind) {
    case 'kept':
      return { path, result: 'kept', until: result.lock.expires_at };
    case 'lost':
      return { path, result: 'lost', holder: result.holder ?? 'nobody', until: result.holder?.expires_at };
    case 'unknown':
      return { path, result: 'unknown' };
  }
}

/** A sentence for each lost path. Paths with the same unknown state share one. */
function failuresOf({ results, gap }: CheckReport, now: number): readonly string[] {
  const unknown = Map.groupBy(ofKind(results, 'unknown'), ({ reason }) => reason);
  return [
    ...ofKind(results, 'lost').map((result) =>
      result.loss === undefined ? lostText(result, now) : lostRenewalText(result.loss, result.holder ?? 'nobody', now),
    ),
    ...[...unknown].map(
      ([reason, paths]) =>
        `Could not determine whether this job still holds ${joinFirst(paths.map(({ path }) => path))}. ${reason}`,
    ),
    ...(gap === undefined ? [] : [gap]),
  ];
}

/** Describes a lost lock of this job: when it was lost, if known, and who holds the path now. */
function lostText({ path, lock, holder }: Extract<CheckResult, { kind: 'lost' }>, now: number): string {
  const endText = howItEnded(Date.parse(lock.expires_at ?? ''), holder, now);
  const current = holder === undefined ? 'Nobody holds the path now' : heldText(path, holder, now, true);
  return `This job lost its lock on ${path}.${endText} ${current}.`;
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
      return { path, lock: ownLockOf(grant), isCompared: grant.isCompared, loss };
    }),
    gap: damaged ? gapText(ledger, 'checked', '`locks` or `locks-file`') : undefined,
  };
}
