import {
  inParallel,
  type KnownLock,
  listOnPaths,
  lookupIn,
  type ServiceError,
  type WorkspaceId,
  withRequest,
} from '../../client/client.ts';
import { formatNumber, joinFirst, pluralize } from '../../interface/format.ts';
import { byPath, type LockPath } from '../../interface/lock-path.ts';
import type { JobLocks } from '../../locks/ledger/history.ts';
import { heldText } from '../../locks/messages.ts';
import { type OwnLock, ownLockOf } from '../../locks/ownership.ts';
import { type ReleaseResult, type ReleaseTarget, releaseTarget } from '../../locks/release.ts';
import type { HandoffLock } from '../inputs/parse.ts';
import { InputError } from '../inputs/table.ts';
import type { TaskOf } from '../inputs/task.ts';
import { type ResolvedPath, resolvePaths } from '../paths/resolve-paths.ts';
import { type Outcome, ofKind } from '../report/outcome.ts';
import { heldBy, locksPage, type PathResult, reportResults } from '../report/results.ts';
import { type Context, defaultLimits } from '../step/context.ts';
import { gapText, jobLocksIn, logOtherWorkspaces, maxLookupMs, warnOfLostLocks } from './job-locks.ts';

/** What an unlock did to one path. */
interface UnlockResult extends PathResult {
  /** Why the step fails. */
  readonly failure?: string;
  /** Says that the named path is locked, but not by this job. */
  readonly caution?: string;
}

/** Releases every lock, even if some fail, and then fails if one was lost or refused. */
export async function unlock(context: Context, task: TaskOf<'unlock'>): Promise<Outcome> {
  const { client, log, connection } = context;
  const { workspace, selection } = task;
  const jobLocks = jobLocksIn(context, workspace);
  const { targets, gap } = await unlockTargets(context, task, jobLocks);
  warnOfLostLocks(context, jobLocks);
  const results = await releaseTargets(context, task, targets);
  const caution = cautionText(results);
  if (caution !== undefined) log.warn(caution);
  const released = results.filter(({ result }) => result === 'released').map(({ path }) => path);
  const begin = `Released ${pluralize(released.length, 'lock')} in ${workspace}`;
  const about = { main: 'released', begin, rest: locksPage(connection.baseUrl, workspace) } as const;
  const { lines, ...report } = reportResults(results, about, client.serverNow());
  const sentence = results.length === 0 ? `${begin}: ${nothingTexts[selection.kind]}.` : report.sentence;
  log.group(sentence, lines);
  return {
    ...report,
    sentence,
    outputs: { status: statusOf(results), released: JSON.stringify(released) },
    failures: [...results.flatMap(({ failure }) => failure ?? []), ...(gap === undefined ? [] : [gap])],
  };
}

const nothingTexts = {
  job: 'this job no longer holds a lock there',
  paths: 'this job holds no lock that matches `path`',
  locks: 'the list of locks is empty',
};

/**
 * One status for all paths. The first that applies: a lock was lost; a lock was released; a path is, or may be, still
 * locked; no path was locked.
 */
export function statusOf(results: readonly PathResult[]): 'lost' | 'released' | 'held' | 'absent' {
  const words = new Set(results.map(({ result }) => result));
  if (words.has('lost')) return 'lost';
  if (words.has('released')) return 'released';
  return results.every(({ result }) => result === 'not locked') ? 'absent' : 'held';
}

/** One warning about all named paths that someone else holds. */
export function cautionText(results: readonly UnlockResult[]): string | undefined {
  const named = results.filter(({ caution }) => caution !== undefined);
  const paths = named.map(({ path }) => path);
  const several = `This job has no lock on ${formatNumber(named.length)} of the paths, and left their current locks alone: ${joinFirst(paths)}.`;
  const text = named.length > 1 ? several : named[0]?.caution;
  const them = named.length > 1 ? 'them' : 'it';
  return (
    text &&
    `${text} To release ${them} anyway, pass the output \`locks\` of the step that locked ${them}, or set \`force: true\`.`
  );
}

async function releaseTargets(
  context: Context,
  { workspace, force }: TaskOf<'unlock'>,
  targets: readonly UnlockTarget[],
): Promise<readonly UnlockResult[]> {
  const { client, clock, log, connection, runner } = context;
  const within = defaultLimits(context);
  const results: UnlockResult[] = [];

  async function release(path: LockPath, target: ReleaseTarget, via: ResolvedPath['kind']): Promise<void> {
    const request = { service: connection.baseUrl, workspace, path, target, force };
    const result = await releaseTarget(context, request, within);
    if (result.kind === 'ambiguous') {
      log.warn(
        `The lock on ${path} was left alone: it cannot be verified to be the one that you passed, and may belong to someone else.`,
      );
    }
    results.push(unlockResult(result, path, target, { force, via, now: client.serverNow() }));
  }

  async function releaseFound(): Promise<void> {
    const paths = ofKind(targets, 'path').map(({ path }) => path);
    const lookUp = (some: readonly LockPath[]) => lookupIn(listOnPaths(client, workspace, some, within));
    const lookup = await lookUp(paths);
    await inParallel(paths, async (path) => {
      const together = lookup(path);
      // The list of many paths may be incomplete. The lock may then be of another run.
      const isLeftOut = together.kind === 'unknown' && paths.length > 1;
      const found = isLeftOut ? (await lookUp([path]))(path) : together;
      const now = client.serverNow();
      if (!force && found.kind === 'locked' && isOfAnotherRun(found.lock, runner.origin)) {
        results.push(heldResult(path, found.lock, 'named', now));
      } else if (found.kind === 'failed') results.push(failedResult(path, found.error, { force, now }));
      else await release(path, { kind: 'found', found }, 'named');
    });
  }

  /** The holders of locks that this job may not release. For a pattern, paths without a known holder are left out. */
  async function lookUpOthers(): Promise<void> {
    const others = targets.filter(({ kind }) => kind === 'not-ours' || kind === 'matched');
    const paths = others.map(({ path }) => path);
    const lookup = await lookupIn(
      listOnPaths(client, workspace, paths, { ...within, deadline: clock() + maxLookupMs }),
    );
    for (const { path, kind } of others) {
      const found = lookup(path);
      const via = kind === 'matched' ? 'matched' : 'named';
      if (found.kind === 'locked') results.push(heldResult(path, found.lock, via, client.serverNow()));
      else if (via === 'named') results.push(found.kind === 'absent' ? { path, result: 'not locked' } : notOurs(path));
    }
  }

  // The job's own locks come first: a slow list must not use up their time.
  await inParallel(ofKind(targets, 'lock'), ({ path, lock, mayBeReleased, via }) =>
    release(path, { kind: 'own', lock, mayBeReleased }, via),
  );
  await Promise.all([releaseFound(), lookUpOthers()]);
  return results.sort(byPath);
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

export function unlockResult(
  result: ReleaseResult,
  path: LockPath,
  target: ReleaseTarget,
  { force, via, now }: { readonly force: boolean; readonly via: ResolvedPath['kind']; readonly now: number },
): UnlockResult {
  switch (result.kind) {
    case 'released':
      return { path, result: 'released' };
    case 'absent':
      return { path, result: 'not locked' };
    case 'ambiguous':
      return { path, result: 'left alone' };
    case 'other': {
      const { holder } = result;
      // A lock that this job may have released itself is not lost.
      if (target.kind !== 'own' || target.mayBeReleased) return heldResult(path, holder, via, now);
      const failure = `${heldText(path, holder, now)}: this job lost its lock, and left the current one alone.`;
      return { path, result: 'lost', ...heldBy(holder), failure };
    }
    case 'unanswered': {
      const failure = `The lock on ${path} may not have been released: the request was sent only once, because the service gave no id or ETag to identify it. ${result.error.message}`;
      return { path, result: 'may still be locked', failure };
    }
    case 'failed': {
      const holder = target.kind === 'found' && target.found.kind === 'locked' ? target.found.lock : undefined;
      return failedResult(path, result.error, { force, now }, holder);
    }
  }
}

const heldResult = (
  path: LockPath,
  holder: KnownLock | undefined,
  via: ResolvedPath['kind'],
  now: number,
): UnlockResult => {
  const caution = `${heldText(path, holder, now)}, and not by this job: it was left alone.`;
  return { path, result: 'left alone', ...heldBy(holder), ...(via === 'named' && { caution }) };
};

const notOurs = (path: LockPath): UnlockResult => ({
  ...{ path, result: 'left alone' },
  caution: `This job has no lock on ${path}, and its holder cannot be determined: it was left alone.`,
});

function failedResult(
  path: LockPath,
  { reason, advice, request, failure }: ServiceError,
  { force, now }: { readonly force: boolean; readonly now: number },
  holder?: KnownLock,
): UnlockResult {
  // A 403 without a missing scope is about the lock: someone else holds it.
  if (!force && failure.kind === 'refused' && failure.status === 403 && failure.missingScope === undefined) {
    const refusal = `${heldText(path, holder, now)}, and the service does not let this token release that lock. To release it anyway, set \`force: true\` with a token that has the scope \`locks:admin\`.`;
    return { path, result: 'not released', ...heldBy(holder), failure: withRequest(refusal, request) };
  }
  const text = `The lock on ${path} was not released. ${withRequest(reason + advice, request)}`;
  return { path, result: 'not released', failure: text };
}
