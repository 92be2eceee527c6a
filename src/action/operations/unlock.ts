import {
  inParallel,
  type KnownLock,
  listOnPaths,
  lookupIn,
  type ServiceError,
  type WorkspaceId,
  withRequest,
} from '../../client/client.ts';
import { byPath, type LockPath } from '../../interface/lock-path.ts';
import type { JobLocks } from '../../locks/ledger/history.ts';
import { type OwnLock, ownLockOf } from '../../locks/ownership.ts';
import { hasIdentity, type ReleaseResult, type ReleaseTarget, releaseTarget } from '../../locks/release.ts';
import type { HandoffLock } from '../inputs/parse.ts';
import type { TaskOf } from '../inputs/read-task.ts';
import { InputError } from '../inputs/reader.ts';
import { briefLimits, gapText, jobLocksIn, logOtherWorkspaces, warnOfLostLocks } from '../locks/job-locks.ts';
import { type ResolvedPath, resolvePaths } from '../paths/resolve-paths.ts';
import { type Outcome, ofKind } from '../report/outcome.ts';
import { type Context, defaultLimits } from '../step/context.ts';
import { cautionText, type UnlockResult, unlockOutcome } from './unlock-report.ts';

/** Releases every lock, even if some fail, and then fails if one was lost or refused. */
export async function unlock(context: Context, task: TaskOf<'unlock'>): Promise<Outcome> {
  const { client, log, connection } = context;
  const { workspace, selection } = task;
  const service = connection.baseUrl;
  const jobLocks = jobLocksIn(context, workspace);
  const { targets, gap } = await unlockTargets(context, task, jobLocks);
  warnOfLostLocks(context, jobLocks);
  const results = await releaseTargets(context, task, targets);
  const now = client.serverNow();
  const caution = cautionText(results, now);
  if (caution !== undefined) log.warn(caution);
  const about = { service, workspace, selection: selection.kind, gap };
  const { lines, ...outcome } = unlockOutcome(results, about, now);
  log.group(outcome.sentence, lines);
  return outcome;
}

async function releaseTargets(
  context: Context,
  { workspace, force }: TaskOf<'unlock'>,
  targets: readonly UnlockTarget[],
): Promise<readonly UnlockResult[]> {
  const { client, clock, log, connection, runner } = context;
  const within = defaultLimits(context);
  const results: UnlockResult[] = [];
  // The job's own locks come first: a slow list must not use up their time.
  await inParallel(ofKind(targets, 'lock'), ({ path, lock, mayBeReleased, via }) =>
    release(path, { kind: 'own', lock, mayBeReleased }, via),
  );
  await Promise.all([releaseFound(), lookUpOthers()]);
  return results.sort(byPath);

  async function release(path: LockPath, target: ReleaseTarget, via: ResolvedPath['kind']): Promise<void> {
    const request = { service: connection.baseUrl, workspace, path, target, force };
    const result = await releaseTarget(context, request, within);
    if (result.kind === 'ambiguous') {
      log.warn(
        `The lock on ${path} was left alone: it cannot be verified to be the one that you passed, and may belong to someone else.`,
      );
    }
    results.push(unlockResult(result, path, target, { force, via }));
  }

  async function releaseFound(): Promise<void> {
    const paths = ofKind(targets, 'path').map(({ path }) => path);
    const lookup = await lookupIn(listOnPaths(client, workspace, paths, within));
    await inParallel(paths, async (path) => {
      const found = lookup(path);
      if (!force && found.kind === 'locked' && isOfAnotherRun(found.lock, runner.origin)) {
        results.push({ path, kind: 'held', holder: found.lock, via: 'named' });
      } else if (found.kind === 'failed') results.push(failedResult(path, found.error, { force }));
      else await release(path, { kind: 'found', found }, 'named');
    });
  }

  /** The holders of locks that this job may not release. For a pattern, paths without a known holder are left out. */
  async function lookUpOthers(): Promise<void> {
    const others = targets.filter(({ kind }) => kind === 'not-ours' || kind === 'matched');
    const paths = others.map(({ path }) => path);
    const lookup = await lookupIn(listOnPaths(client, workspace, paths, briefLimits(within, clock)));
    for (const { path, kind } of others) {
      const found = lookup(path);
      const via = kind === 'matched' ? 'matched' : 'named';
      if (found.kind === 'locked') results.push({ path, kind: 'held', holder: found.lock, via });
      else if (via === 'named') results.push({ path, kind: found.kind === 'absent' ? 'absent' : 'not-ours' });
    }
  }
}

/** Another attempt of the same run is not another run. */
const isOfAnotherRun = ({ origin }: KnownLock, own: string | undefined): boolean =>
  origin !== undefined && own !== undefined && withoutAttempt(origin) !== withoutAttempt(own);

const withoutAttempt = (run: string): string => run.replace(/\/attempts\/\d+$/, '');

/** The lock that an unlock means by a path. */
type UnlockTarget = { readonly path: LockPath } & (
  | {
      readonly kind: 'lock';
      readonly lock: OwnLock;
      /** This job may already have released the lock. */
      readonly mayBeReleased: boolean;
      readonly via: ResolvedPath['kind'];
    }
  /** The path is named, and the job never planned to lock it or sets `force`: any lock found on it. */
  | { readonly kind: 'path' }
  /** The job planned to lock the path, and holds no lock on it: the current lock is another job's. */
  | { readonly kind: 'not-ours' }
  /** A pattern matches the path, and the job has no lock on it: patterns release only locks of the job. */
  | { readonly kind: 'matched' }
);

interface UnlockTargets {
  readonly targets: readonly UnlockTarget[];
  /** The reason why there may be more locks. */
  readonly gap?: string | undefined;
}

/** Resolves the inputs to targets, before the first request. */
async function unlockTargets(context: Context, task: TaskOf<'unlock'>, jobLocks: JobLocks): Promise<UnlockTargets> {
  const { runner, log } = context;
  const { selection, workspace, force } = task;
  if (selection.kind === 'locks') return { targets: selection.locks.map(fromHandoff) };
  if (selection.kind === 'job') return locksOfJob(context, workspace, jobLocks);
  const { held } = jobLocks;
  const isLocked = (path: LockPath): boolean => held.has(path);
  const lockedPaths = [...held.keys()];
  const { paths, warning } = await resolvePaths(selection.paths, { ...runner, lockedPaths, isLocked });
  if (warning !== undefined) log.warn(warning);
  // With `force`, the holder does not matter.
  return {
    targets: paths.map((each) => (force ? { kind: 'path', path: each.path } : resolveFromLedger(each, jobLocks))),
  };
}

export const fromHandoff = ({ path, ...lock }: HandoffLock): UnlockTarget => ({
  kind: 'lock',
  path,
  lock,
  mayBeReleased: false,
  via: 'named',
});

/** All locks of the job. Missing inputs and an empty `locks` output of another job look the same to the step. */
function locksOfJob({ ledger, log }: Context, workspace: WorkspaceId, jobLocks: JobLocks): UnlockTargets {
  const { held, planned, otherWorkspaces, damaged } = jobLocks;
  const gap = damaged ? gapText(ledger, 'released', '`path`, `locks` or `locks-file`') : undefined;
  if (planned.size === 0 && held.size === 0) {
    const none = `No step of this job has locked anything in ${workspace}, so \`unlock\` must name what to release: with \`path\`, \`locks\` or \`locks-file\`. If it passes the output \`locks\` of another job, that output is empty.`;
    throw new InputError([`Input \`path\` is missing. ${gap ?? none}`]);
  }
  logOtherWorkspaces(log, otherWorkspaces, 'kept');
  log.line(`\`path\`, \`locks\` and \`locks-file\` are empty: releasing all locks of this job in ${workspace}.`);
  return { targets: [...held.keys()].map((path) => resolveFromLedger({ kind: 'matched', path }, jobLocks)), gap };
}

/** The lock of this job on the path, according to the ledger. */
export function resolveFromLedger({ kind, path }: ResolvedPath, { held, planned, damaged }: JobLocks): UnlockTarget {
  const lock = held.get(path);
  if (lock !== undefined) {
    const { grant, releaseStarted } = lock;
    return { kind: 'lock', path, lock: ownLockOf(grant), mayBeReleased: releaseStarted || damaged, via: kind };
  }
  if (kind === 'matched') return { kind: 'matched', path };
  if (planned.has(path)) return { kind: 'not-ours', path };
  // The missing part of the ledger may be about this path.
  return damaged ? { kind: 'lock', path, lock: {}, mayBeReleased: true, via: 'named' } : { kind: 'path', path };
}

function unlockResult(
  result: ReleaseResult,
  path: LockPath,
  target: ReleaseTarget,
  { force, via }: { readonly force: boolean; readonly via: ResolvedPath['kind'] },
): UnlockResult {
  switch (result.kind) {
    case 'released':
    case 'absent':
    case 'ambiguous':
      return { path, kind: result.kind };
    case 'other': {
      const { holder } = result;
      // A lock that this job may have released itself is not lost.
      const isLost = target.kind === 'own' && !target.mayBeReleased;
      return isLost ? { path, kind: 'lost', holder } : { path, kind: 'held', holder, via };
    }
    case 'unanswered':
      return { path, kind: 'unanswered', reason: result.error.message };
    case 'failed': {
      if (target.kind === 'own') return failedResult(path, result.error, { force });
      const holder = target.found.kind === 'locked' ? target.found.lock : undefined;
      const isSentOnce = holder === undefined || !hasIdentity(holder);
      return failedResult(path, result.error, { force, holder, isSentOnce });
    }
  }
}

function failedResult(
  path: LockPath,
  error: ServiceError,
  more: { readonly force: boolean; readonly holder?: KnownLock | undefined; readonly isSentOnce?: boolean },
): UnlockResult {
  const { reason, advice, request } = error;
  if (!more.force && refusesThisLock(error)) return { path, kind: 'refused', holder: more.holder, request };
  const sentOnceText = more.isSentOnce
    ? ' It was sent only once, because the service gave no id or ETag to identify the lock.'
    : '';
  return { path, kind: 'failed', reason: withRequest(reason + sentOnceText + advice, request) };
}

/** A 403 without a missing scope is about the lock: someone else holds it. */
const refusesThisLock = ({ failure }: ServiceError): boolean =>
  failure.kind === 'refused' && failure.status === 403 && failure.missingScope === undefined;
