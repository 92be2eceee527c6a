import { inParallel } from '../../client/in-parallel.ts';
import type { KnownLock } from '../../client/known-lock.ts';
import { isUnreadable, type LookupResult, lookUp } from '../../client/lists.ts';
import { type ServiceError, withRequest } from '../../client/service-error.ts';
import { pluralize } from '../../interface/format.ts';
import { byPath, type LockPath } from '../../interface/lock-path.ts';
import { endWholeLease } from '../../locks/end-lease.ts';
import { heldText } from '../../locks/messages.ts';
import type { OurLock } from '../../locks/ownership.ts';
import { createRelease, type ReleaseResult } from '../../locks/release.ts';
import { InputError } from '../inputs/read.ts';
import type { TaskOf } from '../inputs/task.ts';
import { resolvePaths } from '../paths/resolve-paths.ts';
import type { Outcome } from '../report/outcome.ts';
import { releaseResult } from '../report/release-result.ts';
import { type PathResult, resultsOutcome } from '../report/results.ts';
import { type Context, defaultLimits } from '../step/context.ts';
import { jobLocksIn } from './job-locks.ts';

/** Releases every lock, even if some fail, and then fails if one was lost or refused. */
export async function unlock(context: Context, task: TaskOf<'unlock'>): Promise<Outcome> {
  const { workspace } = task;
  const { targets, gap } = await unlockTargets(context, task);
  const results = await releaseTargets(context, task, targets);
  const released = results.filter(({ result }) => result === 'released').map(({ path }) => path);
  const begin = `Released ${pluralize(released.length, 'lock')} in ${workspace}`;
  return {
    ...resultsOutcome(results, 'released', begin, context.client.serverNow(), gap),
    outputs: { status: statusOf(results), released: JSON.stringify(released) },
  };
}

/**
 * One status for all paths, by the first rule that applies: a lock was lost; a lock was released; a path is, or may be,
 * still locked; no path was locked.
 */
function statusOf(results: readonly PathResult[]): 'lost' | 'released' | 'held' | 'absent' {
  const words = new Set(results.map(({ result }) => result));
  if (words.has('lost')) return 'lost';
  if (words.has('released')) return 'released';
  return results.every(({ result }) => result === 'not locked' || result === 'already gone') ? 'absent' : 'held';
}

async function releaseTargets(
  context: Context,
  { workspace, force }: TaskOf<'unlock'>,
  targets: readonly UnlockTarget[],
): Promise<readonly PathResult[]> {
  const { client, connection, runner } = context;
  const service = connection.baseUrl;
  const within = defaultLimits(context);
  const releaseTarget = createRelease(context, within);

  async function release(own: OurLock, found?: Found): Promise<PathResult> {
    const result = await releaseTarget({ service, workspace, ...own, found, force });
    return unlockResult(result, own, { found, force, now: client.serverNow() });
  }

  async function releaseOwn(lease: string | undefined, some: readonly OurLock[]) {
    const endOf = lease && (await endWholeLease(context, { service, workspace, lease }, some, within));
    const releaseOne = async (own: OurLock): Promise<PathResult> => {
      if (!endOf) return release(own);
      const { lock, end } = endOf(own);
      return unlockResult(end, lock, { force, now: client.serverNow() });
    };
    return Promise.all(some.map(releaseOne));
  }

  async function releaseFound({ path, isForeign }: UnlockTarget): Promise<PathResult> {
    const together = find(path);
    // The list of many paths may be incomplete, so the lock may belong to another run.
    const isLeftOut = together.kind === 'unknown' && others.length > 1 && !isForeign;
    const one = isLeftOut ? (await lookUp(client, workspace, [path], within))(path) : together;
    const now = client.serverNow();
    if (one.kind === 'locked' && !force && (isForeign || isOfAnotherRun(one.lock, runner.origin))) {
      return heldResult(path, one.lock, now);
    }
    if (one.kind === 'failed' && !(isUnreadable(one.error) && (isForeign || force))) {
      return failedResult(path, one.error, false, { force, now });
    }
    if (isForeign && one.kind === 'absent') return { path, result: 'not locked' };
    if (isForeign) {
      const text = `This job has no record of a lock on ${path}, and its holder cannot be determined: it was left alone.`;
      return { path, result: 'left alone', ...notOurs(text) };
    }
    const own = { grant: { path, lock: one.kind === 'locked' ? one.lock : {} }, mayBeReleased: true };
    return release(own, one.kind === 'failed' ? { kind: 'unknown', reason: one.error.message } : one);
  }

  // The job's own locks come first, so that a slow list does not use up their time.
  const ours = targets.flatMap(({ own }) => own ?? []);
  const byLease = Map.groupBy(ours, ({ grant }) => grant.lock.lease);
  const released = await inParallel([...byLease], (group) => releaseOwn(...group));
  const others = targets.filter(({ own }) => own === undefined);
  const paths = others.map(({ path }) => path);
  const find = await lookUp(client, workspace, paths, within);
  const found = await inParallel(others, releaseFound);
  return [...released.flat(), ...found].sort(byPath);
}

/** Another attempt of the same run counts as the same run. */
const isOfAnotherRun = ({ origin }: KnownLock, own: string | undefined): boolean =>
  origin !== undefined && own !== undefined && withoutAttempt(origin) !== withoutAttempt(own);

const withoutAttempt = (run: string): string => run.replace(/\/attempts\/\d+$/, '');

interface UnlockTarget {
  readonly path: LockPath;
  /** A lock of this job, or one that was passed. If undefined, the current lock on the path is looked up. */
  readonly own?: OurLock;
  /** The lock on the path may belong to another job, and is not released. */
  readonly isForeign?: boolean;
}

interface UnlockTargets {
  readonly targets: readonly UnlockTarget[];
  /** Why there may be more targets: a damaged ledger may lack locks that a pattern or no input means. */
  readonly gap?: string | undefined;
}

/** Resolves the inputs to targets, before the first request. */
async function unlockTargets(context: Context, task: TaskOf<'unlock'>): Promise<UnlockTargets> {
  const { workspace, path: lines, locks: passed = task['locks-file'], force } = task;
  const jobLocks = jobLocksIn(context, workspace);
  const { held, planned, gap, find, hasEnded } = jobLocks;
  if (lines.length > 0) {
    const { paths, hasPattern } = await resolvePaths(lines, { ...context, glob: task.glob, held });
    // With `force`, the holder does not matter. Otherwise, a pattern means only locks of this job.
    if (force) return { targets: [...paths.keys()].map((path) => ({ path })) };
    const meant = [...paths].filter(([path, kind]) => kind === 'named' || held.has(path));
    const targets = meant.map(([path]) => resolveFromLedger(path, jobLocks));
    return { targets, gap: hasPattern ? gap : undefined };
  }
  if (passed !== undefined) {
    const targets = passed.map(({ grant }) => {
      const { path, lock } = grant;
      const named = { ...lock, path };
      // The ledger has its current ETag.
      if (find(named) !== undefined) return resolveFromLedger(path, jobLocks);
      return { path, own: { grant, mayBeReleased: hasEnded(named) } };
    });
    return { targets };
  }
  // The step cannot distinguish missing inputs from an empty `locks` output of another job.
  if (planned.size === 0 && held.size === 0) {
    const none = `No step of this job has locked anything in ${workspace}, so \`unlock\` must name what to release: with \`path\`, \`locks\` or \`locks-file\`. If it passes the output \`locks\` of another job, that output is empty.`;
    throw new InputError([`Input \`path\` is missing. ${gap ?? none}`]);
  }
  return { targets: [...held.keys()].map((path) => resolveFromLedger(path, jobLocks)), gap };
}

type JobLocks = ReturnType<typeof jobLocksIn>;

/** The target that the path stands for, according to the ledger. */
export function resolveFromLedger(path: LockPath, { held, planned, gap }: JobLocks): UnlockTarget {
  const damaged = gap !== undefined;
  const lock = held.get(path);
  if (lock !== undefined) return { path, own: { ...lock, mayBeReleased: lock.mayBeReleased || damaged } };
  return { path, isForeign: damaged || planned.has(path) };
}

type Found = Exclude<LookupResult, { readonly kind: 'failed' }>;

interface Unlocking {
  /** The lookup that found the lock, if it is not one of this job's. */
  readonly found?: Found | undefined;
  readonly force: boolean;
  readonly now: number;
}

/** The result for a lock of this job, or for one that was found. */
export function unlockResult(result: ReleaseResult, own: OurLock, { found, force, now }: Unlocking): PathResult {
  const { path } = own.grant;
  if (result.kind === 'failed') return failedResult(path, result.error, result.mayBeDone, { found, force, now });
  if (result.kind === 'other' && found !== undefined) return heldResult(path, result.holder, now, force);
  // A lock that may have been released before is not missed.
  const isExpected = own.mayBeReleased && own.loss === undefined;
  if (result.kind === 'absent' && isExpected) return { path, result: 'not locked' };
  // A lock that is gone is lost only if that is on record: it may have been meant to end with its ttl.
  const ours = result.kind === 'absent' ? { ...own, renewalError: undefined } : own;
  return releaseResult(ours, result, 'This job may already have released its own.', now);
}

function heldResult(path: LockPath, holder: KnownLock | undefined, now: number, force = false): PathResult {
  const text = `${heldText(path, holder, now)}. This lock was left alone:`;
  const notes = force
    ? { warning: { text: `${text} it is not the lock that this step found.` } }
    : notOurs(`${text} the ledger of this job does not name it.`);
  return { path, result: 'left alone', holder: holder ?? {}, ...notes };
}

const notOurs = (text: string): Pick<PathResult, 'warning'> => {
  const advice = 'To release a lock anyway, pass the output `locks` of the step that locked it, or set `force: true`.';
  return { warning: { text, advice } };
};

function failedResult(
  path: LockPath,
  { reason, advice, request, isAboutHolder }: ServiceError,
  mayBeDone: boolean,
  { found, force, now }: Unlocking,
): PathResult {
  const holder = found?.kind === 'locked' ? found.lock : undefined;
  if (!force && isAboutHolder) {
    const refusal = `${heldText(path, holder, now)}, and the service does not let this token release that lock. To release it anyway, set \`force: true\` with a token that has the scope \`locks:admin\`.`;
    return { path, result: 'not released', holder: holder ?? {}, failure: withRequest(refusal, request) };
  }
  const [result, what] = mayBeDone
    ? (['may still be locked', 'may not have been'] as const)
    : (['not released', 'was not'] as const);
  return { path, result, failure: `The lock on ${path} ${what} released. ${withRequest(reason + advice, request)}` };
}
