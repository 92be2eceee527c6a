import {
  type CallLimits,
  inParallel,
  type KnownLock,
  type LookupResult,
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
import { ownLockOf } from '../../locks/ownership.ts';
import { type ReleaseResult, type ReleaseTarget, releaseTarget } from '../../locks/release.ts';
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
  /** Says that nothing identifies the lock: `force` would not help. */
  readonly doubt?: string;
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
  for (const { doubt } of results) if (doubt !== undefined) log.warn(doubt);
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
function cautionText(results: readonly UnlockResult[]): string | undefined {
  const named = results.filter(({ caution }) => caution !== undefined);
  const [them, text] =
    named.length > 1
      ? [
          'them',
          `This job has no lock on ${formatNumber(named.length)} of the paths, and left their current locks alone: ${joinFirst(named.map(({ path }) => path))}.`,
        ]
      : ['it', named[0]?.caution];
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
  const { client, clock, connection, runner } = context;
  const within = defaultLimits(context);
  const results: UnlockResult[] = [];
  const [own, found, foreign] = [ofKind(targets, 'own'), ofKind(targets, 'found'), ofKind(targets, 'foreign')];

  async function release(path: LockPath, target: ReleaseTarget, isNamed: boolean): Promise<void> {
    const request = { service: connection.baseUrl, workspace, path, target, force };
    const result = await releaseTarget(context, request, within);
    results.push(unlockResult(result, path, target, { force, isNamed, now: client.serverNow() }));
  }

  const lookUp = (some: readonly UnlockTarget[], limits: CallLimits) =>
    lookupIn(
      listOnPaths(
        client,
        workspace,
        some.map(({ path }) => path),
        limits,
      ),
    );

  async function releaseFound(target: UnlockTarget, together: LookupResult): Promise<void> {
    const { path, isNamed } = target;
    // The list of many paths may be incomplete. The lock may then be of another run.
    const isLeftOut = together.kind === 'unknown' && found.length > 1;
    const one = isLeftOut ? (await lookUp([target], within))(path) : together;
    const now = client.serverNow();
    if (one.kind === 'locked' && !force && isOfAnotherRun(one.lock, runner.origin)) {
      results.push(heldResult(path, one.lock, isNamed, now));
    } else if (one.kind === 'failed') results.push(failedResult(path, one.error, { force, now }));
    else await release(path, { kind: 'found', found: one }, isNamed);
  }

  /** For a pattern, paths without a known holder are left out. */
  function reportForeign({ path, isNamed }: UnlockTarget, one: LookupResult): void {
    if (one.kind === 'locked') results.push(heldResult(path, one.lock, isNamed, client.serverNow()));
    else if (isNamed) results.push(one.kind === 'absent' ? { path, result: 'not locked' } : notOurs(path));
  }

  // The job's own locks come first: a slow list must not use up their time.
  await inParallel(own, ({ path, isNamed, ...target }) => release(path, target, isNamed));
  await Promise.all([
    lookUp(found, within).then((lookup) => inParallel(found, (target) => releaseFound(target, lookup(target.path)))),
    // Only information: a slow list must not delay the step for long.
    lookUp(foreign, { ...within, deadline: clock() + maxLookupMs }).then((lookup) => {
      for (const target of foreign) reportForeign(target, lookup(target.path));
    }),
  ]);
  return results.sort(byPath);
}

/** Another attempt of the same run is not another run. */
const isOfAnotherRun = ({ origin }: KnownLock, own: string | undefined): boolean =>
  origin !== undefined && own !== undefined && withoutAttempt(origin) !== withoutAttempt(own);

const withoutAttempt = (run: string): string => run.replace(/\/attempts\/\d+$/, '');

/** The lock that an unlock means by a path, which is named, or matched by a pattern. */
type UnlockTarget = { readonly path: LockPath; readonly isNamed: boolean } & (
  | Extract<ReleaseTarget, { readonly kind: 'own' }>
  /** The job never planned to lock the path, or sets `force`: any lock found on it. */
  | { readonly kind: 'found' }
  /** The job has no lock on it: the current lock is another job's. Patterns release only locks of the job. */
  | { readonly kind: 'foreign' }
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
  if (selection.kind === 'locks') {
    return {
      targets: selection.locks.map(({ path, ...lock }) => {
        return { kind: 'own', path, lock, mayBeReleased: false, isNamed: true };
      }),
    };
  }
  if (selection.kind === 'job') return locksOfJob(context, workspace, jobLocks);
  const { held } = jobLocks;
  const isLocked = (path: LockPath): boolean => held.has(path);
  const lockedPaths = [...held.keys()];
  const { paths, warning } = await resolvePaths(selection.paths, { ...runner, lockedPaths, isLocked });
  if (warning !== undefined) log.warn(warning);
  // With `force`, the holder does not matter.
  return {
    targets: paths.map((each) =>
      force ? { kind: 'found', path: each.path, isNamed: true } : resolveFromLedger(each, jobLocks),
    ),
  };
}

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
  const isNamed = kind === 'named';
  const lock = held.get(path);
  if (lock !== undefined) {
    const { grant, releaseStarted } = lock;
    return { kind: 'own', path, isNamed, lock: ownLockOf(grant), mayBeReleased: releaseStarted || damaged };
  }
  if (!isNamed || planned.has(path)) return { kind: 'foreign', path, isNamed };
  // The missing part of the ledger may be about this path.
  return damaged ? { kind: 'own', path, isNamed, lock: {}, mayBeReleased: true } : { kind: 'found', path, isNamed };
}

export function unlockResult(
  result: ReleaseResult,
  path: LockPath,
  target: ReleaseTarget,
  { force, isNamed, now }: { readonly force: boolean; readonly isNamed: boolean; readonly now: number },
): UnlockResult {
  switch (result.kind) {
    case 'released':
      return { path, result: 'released' };
    case 'absent':
      return { path, result: 'not locked' };
    case 'ambiguous':
      return { path, result: 'left alone', doubt: ambiguousText(path) };
    case 'other': {
      const { holder } = result;
      // A lock that this job may have released itself is not lost.
      if (target.kind !== 'own' || target.mayBeReleased) return heldResult(path, holder, isNamed, now);
      const failure = `${heldText(path, holder, now)}: this job lost its lock, and left the current one alone.`;
      return { path, result: 'lost', ...heldBy(holder), failure };
    }
    case 'failed': {
      const holder = target.kind === 'found' && target.found.kind === 'locked' ? target.found.lock : undefined;
      return failedResult(path, result.error, { force, now, mayBeDone: result.mayBeDone }, holder);
    }
  }
}

const heldResult = (path: LockPath, holder: KnownLock | undefined, isNamed: boolean, now: number): UnlockResult => {
  const caution = `${heldText(path, holder, now)}, and not by this job: it was left alone.`;
  return { path, result: 'left alone', ...heldBy(holder), ...(isNamed && { caution }) };
};

const ambiguousText = (path: LockPath): string =>
  `The lock on ${path} was left alone: it cannot be verified to be the one that you passed, and may belong to someone else.`;

const notOurs = (path: LockPath): UnlockResult => ({
  ...{ path, result: 'left alone' },
  caution: `This job has no lock on ${path}, and its holder cannot be determined: it was left alone.`,
});

function failedResult(
  path: LockPath,
  { reason, advice, request, failure }: ServiceError,
  { force, now, mayBeDone = false }: { readonly force: boolean; readonly now: number; readonly mayBeDone?: boolean },
  holder?: KnownLock,
): UnlockResult {
  // A 403 without a missing scope is about the lock: someone else holds it.
  if (!force && failure.kind === 'refused' && failure.status === 403 && failure.missingScope === undefined) {
    const refusal = `${heldText(path, holder, now)}, and the service does not let this token release that lock. To release it anyway, set \`force: true\` with a token that has the scope \`locks:admin\`.`;
    return { path, result: 'not released', ...heldBy(holder), failure: withRequest(refusal, request) };
  }
  const [result, what] = mayBeDone
    ? (['may still be locked', 'may not have been'] as const)
    : (['not released', 'was not'] as const);
  return { path, result, failure: `The lock on ${path} ${what} released. ${withRequest(reason + advice, request)}` };
}
