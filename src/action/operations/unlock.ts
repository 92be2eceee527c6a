import type { ServiceError, Within, WorkspaceId } from '../../client/client.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import { type Context, defaultLimits } from '../context.ts';
import type { UnlockTask } from '../inputs/load.ts';
import { inParallel } from '../locks/in-parallel.ts';
import { type LookupResult, listOnPaths, listTogether, lookupIn } from '../locks/lookup.ts';
import { isProven, type ReleaseTarget, releaseLock } from '../locks/release.ts';
import type { Outcome } from '../outcome.ts';
import { cautionText, othersText, resultText, type UnlockResult, unlockOutcome } from './unlock-report.ts';
import { type UnlockTarget, unlockTargets } from './unlock-targets.ts';

/** Saying who holds what is left alone is a courtesy that must not take long. */
const courtesyMs = 10_000;

type Holder = Extract<UnlockResult, { kind: 'refused' }>['holder'];

const isOfKind =
  <Kind extends UnlockTarget['kind']>(kind: Kind) =>
  (target: UnlockTarget): target is Extract<UnlockTarget, { kind: Kind }> =>
    target.kind === kind;

const pathsOf = (targets: readonly UnlockTarget[]): readonly LockPath[] => targets.map(({ path }) => path);

/** A 403 without a missing scope is about the lock: it is somebody else's. */
const refusesThisLock = ({ failure }: ServiceError): boolean =>
  failure.kind === 'refused' && failure.status === 403 && failure.missingScope === undefined;

/** Who holds what is not this job's to release; nothing of a pattern where that cannot be seen. */
async function lookAtOthers(
  { client, clock }: Context,
  workspace: WorkspaceId,
  targets: readonly UnlockTarget[],
  limits: Within,
): Promise<readonly UnlockResult[]> {
  const within = { ...limits, deadline: Math.min(limits.deadline, clock() + courtesyMs) };

  async function lookAtNamed(): Promise<readonly UnlockResult[]> {
    const paths = pathsOf(targets.filter(isOfKind('not-ours')));
    const lookup = await lookupIn(listOnPaths(client, workspace, paths, within));
    return paths.map((path) => {
      const found = lookup(path);
      if (found.kind === 'locked') return { path, kind: 'held', holder: found.lock, asked: 'by-name' };
      return { path, kind: found.kind === 'absent' ? 'absent' : 'not-ours' };
    });
  }

  async function lookAtMatched(): Promise<readonly UnlockResult[]> {
    const paths = pathsOf(targets.filter(isOfKind('matched')));
    if (paths.length === 0) return [];
    const lookup = await lookupIn(listTogether(client, workspace, paths, within));
    return paths.flatMap((path) => {
      const found = lookup(path);
      return found.kind === 'locked' ? [{ path, kind: 'held', holder: found.lock, asked: 'by-pattern' }] : [];
    });
  }

  return (await Promise.all([lookAtNamed(), lookAtMatched()])).flat();
}

/** Releases every lock, whatever becomes of the others, and fails afterwards if one was lost or refused. */
export async function unlock(context: Context, task: UnlockTask): Promise<Outcome> {
  const { client, log, connection } = context;
  const { workspace, force } = task;
  const targets = await unlockTargets(context, task);
  const within = defaultLimits(context);
  const results: UnlockResult[] = [];

  const release = (path: LockPath, target: ReleaseTarget) =>
    releaseLock(context, { service: connection.baseUrl, workspace, path, target, force }, within);

  function failed(path: LockPath, error: ServiceError, holder: Holder, advice = ''): UnlockResult {
    if (!force && refusesThisLock(error)) return { path, kind: 'refused', holder, requestId: error.requestId };
    return { path, kind: 'failed', why: `${error.message}${advice}` };
  }

  async function releaseOwn(target: Extract<UnlockTarget, { kind: 'lock' }>): Promise<UnlockResult> {
    const { path, lock, doubtful, asked } = target;
    const result = await release(path, { kind: 'own', lock, doubtful });
    switch (result.kind) {
      case 'failed':
        return failed(path, result.error, undefined);
      case 'unclear':
        return { path, kind: 'unclear', why: result.error.message };
      case 'left-alone':
        log.warn(
          `The lock on ${path} now may be somebody else's, because nothing shows that it is the one you mean: it is left alone.`,
        );
        return { path, kind: 'left-alone' };
      case 'released':
      case 'absent':
        return { path, kind: result.kind };
      case 'lost':
        // What this job has released itself is not lost.
        return doubtful ? { path, kind: 'held', holder: result.holder, asked } : { path, ...result };
    }
  }

  async function releaseFound(path: LockPath, found: LookupResult): Promise<UnlockResult> {
    if (found.kind === 'failed') return failed(path, found.error, undefined);
    const lock = found.kind === 'locked' ? found.lock : undefined;
    const result = await release(path, { kind: 'found', found });
    switch (result.kind) {
      case 'released':
      case 'absent':
      case 'left-alone':
        return { path, kind: result.kind };
      case 'lost':
        return { path, kind: 'held', holder: result.holder, asked: 'by-name' };
      case 'unclear':
        return { path, kind: 'unclear', why: result.error.message };
      case 'failed': {
        const sentOnce = lock === undefined || !isProven(lock);
        const advice = ' It was sent only once, because nothing tells the lock from a later one.';
        return failed(path, result.error, lock, sentOnce ? advice : '');
      }
    }
  }

  async function releaseAllFound(): Promise<void> {
    const paths = pathsOf(targets.filter(isOfKind('path')));
    const lookup = await lookupIn(listOnPaths(client, workspace, paths, within));
    await inParallel(paths, async (path) => void results.push(await releaseFound(path, lookup(path))));
  }

  // The job's own locks come first: a slow list must not use up their time.
  await inParallel(targets.filter(isOfKind('lock')), async (target) => void results.push(await releaseOwn(target)));
  const [, others] = await Promise.all([releaseAllFound(), lookAtOthers(context, workspace, targets, within)]);
  results.push(...others);
  results.sort((one, other) => (one.path < other.path ? -1 : 1));

  const now = client.serverNow();
  const caution = cautionText(results, now);
  if (caution !== undefined) log.warn(caution);
  const outcome = unlockOutcome(results, workspace, now);
  log.group(
    outcome.sentence,
    results.map((result) => `${result.path}: ${resultText(result, now)}`),
  );
  const leftAlone = othersText(results, now);
  if (leftAlone !== undefined) log.line(leftAlone);
  return outcome;
}
