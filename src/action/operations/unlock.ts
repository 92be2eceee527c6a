import type { ServiceError, Within, WorkspaceId } from '../../client/client.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { UnlockTask } from '../inputs/task.ts';
import { createRecorder } from '../ledger/recorder.ts';
import { inParallel } from '../locks/in-parallel.ts';
import { listOnPaths, listTogether } from '../locks/listed-locks.ts';
import type { MeantLock } from '../locks/meant-lock.ts';
import type { OwnLock } from '../locks/ownership.ts';
import { type Found, findIn, isProven, releaseFound } from '../locks/release-found.ts';
import { releaseOne } from '../locks/release-one.ts';
import type { Outcome } from '../outcome.ts';
import { ordinaryLimits, type Parts } from './parts.ts';
import { cautionOf, othersText, resultText, type UnlockResult, unlockOutcome } from './unlock-result.ts';

/** To see who holds what is left alone is a courtesy: nobody waits long for it. */
const courtesyMs = 10_000;

type Proof = Pick<OwnLock, 'id' | 'etag'>;
type Holder = Extract<UnlockResult, { kind: 'refused' }>['holder'];

const isMeant =
  <Kind extends MeantLock['kind']>(kind: Kind) =>
  (meant: MeantLock): meant is Extract<MeantLock, { kind: Kind }> =>
    meant.kind === kind;

const pathsOf = (meant: readonly MeantLock[]): readonly LockPath[] => meant.map(({ path }) => path);

/** A 403 that misses no scope is about the lock: it is somebody else's. */
const refusesThisLock = ({ failure }: ServiceError): boolean =>
  failure.kind === 'refused' && failure.status === 403 && failure.missingScope === undefined;

/** Who holds what is not this job's to release; nothing of a pattern where that cannot be seen. */
async function lookAtOthers(
  { client, clock }: Parts,
  workspace: WorkspaceId,
  toRelease: readonly MeantLock[],
  ordinary: Within,
): Promise<readonly UnlockResult[]> {
  const within = { ...ordinary, deadline: Math.min(ordinary.deadline, clock() + courtesyMs) };

  async function lookAtWanted(): Promise<readonly UnlockResult[]> {
    const paths = pathsOf(toRelease.filter(isMeant('not-ours')));
    const find = await findIn(listOnPaths(client, workspace, paths, within));
    return paths.map((path) => {
      const found = find(path);
      if (found.kind === 'locked') return { path, kind: 'held', holder: found.lock, asked: 'by-name' };
      return { path, kind: found.kind === 'absent' ? 'absent' : 'not-ours' };
    });
  }

  async function lookAtMatched(): Promise<readonly UnlockResult[]> {
    const paths = pathsOf(toRelease.filter(isMeant('matched')));
    if (paths.length === 0) return [];
    const find = await findIn(listTogether(client, workspace, paths, within));
    return paths.flatMap((path) => {
      const found = find(path);
      return found.kind === 'locked' ? [{ path, kind: 'held', holder: found.lock, asked: 'by-pattern' }] : [];
    });
  }

  return (await Promise.all([lookAtWanted(), lookAtMatched()])).flat();
}

/** Releases all of them, whatever becomes of each, and fails afterwards when one was lost or refused. */
export async function unlock(
  parts: Parts,
  { workspace, force }: UnlockTask,
  toRelease: readonly MeantLock[],
  service: string,
): Promise<Outcome> {
  const { client, log } = parts;
  const within = ordinaryLimits(parts);
  const record = createRecorder(parts.ledger, log);
  const results: UnlockResult[] = [];

  const now = (): string => new Date(client.serverNow()).toISOString();
  const recordReleasing = (path: LockPath, { id, etag }: Proof): void =>
    record({ kind: 'releasing', service, workspace, path, id, etag, at: now() });
  const recordEnded = (path: LockPath, { id, etag }: Proof, how: 'released' | 'absent' | 'lost'): void =>
    record({ kind: 'ended', service, workspace, path, id, etag, how, at: now() });

  function failed(path: LockPath, error: ServiceError, holder: Holder, advice = ''): UnlockResult {
    if (!force && refusesThisLock(error)) return { path, kind: 'refused', holder, requestId: error.requestId };
    return { path, kind: 'failed', why: `${error.message}${advice}` };
  }

  async function releaseOwn({ path, lock, doubtful }: Extract<MeantLock, { kind: 'lock' }>): Promise<UnlockResult> {
    recordReleasing(path, lock);
    const release = await releaseOne(parts, { workspace, path, lock, doubtful, force }, within);
    switch (release.kind) {
      case 'failed':
        return failed(path, release.error, undefined);
      case 'left-alone':
        log.warn(
          `Nothing shows that the lock that is on ${path} now is the one that is meant, and it may be somebody else's: it is left alone.`,
        );
        return { path, ...release };
      default:
        recordEnded(path, lock, release.kind);
        return { path, ...release };
    }
  }

  async function releaseNamed(path: LockPath, found: Found): Promise<UnlockResult> {
    if (found.kind === 'failed') return failed(path, found.error, undefined);
    const lock = found.kind === 'locked' ? found.lock : undefined;
    if (found.kind !== 'absent') recordReleasing(path, lock ?? {});
    const release = await releaseFound(parts.client, { workspace, path, found, force }, within);
    switch (release.kind) {
      case 'released':
      case 'absent':
        recordEnded(path, lock ?? {}, release.kind);
        return { path, kind: release.kind };
      case 'lost':
        // What was found has gone, and the lock that is there now came later.
        recordEnded(path, lock ?? {}, 'absent');
        return { path, kind: 'held', holder: release.holder, asked: 'by-name' };
      case 'unclear':
        return { path, kind: 'unclear', why: release.error.message };
      case 'failed': {
        const advice = ' It was sent only once, because nothing tells the lock from a later one.';
        return failed(path, release.error, lock, isProven(found) ? '' : advice);
      }
    }
  }

  async function releaseAllNamed(): Promise<void> {
    const paths = pathsOf(toRelease.filter(isMeant('path')));
    const find = await findIn(listOnPaths(client, workspace, paths, within));
    await inParallel(paths, async (path) => void results.push(await releaseNamed(path, find(path))));
  }

  // What the job holds comes first: a list in trouble must not take the time for it.
  await inParallel(toRelease.filter(isMeant('lock')), async (meant) => void results.push(await releaseOwn(meant)));
  const [, others] = await Promise.all([releaseAllNamed(), lookAtOthers(parts, workspace, toRelease, within)]);
  results.push(...others);
  results.sort((one, other) => (one.path < other.path ? -1 : 1));

  const serverNow = client.serverNow();
  const caution = cautionOf(results, serverNow);
  if (caution !== undefined) log.warn(caution);
  const outcome = unlockOutcome(results, workspace, serverNow);
  log.group(
    outcome.sentence,
    results.map((result) => `${result.path}: ${resultText(result, serverNow)}`),
  );
  const leftAlone = othersText(results, serverNow);
  if (leftAlone !== undefined) log.line(leftAlone);
  return outcome;
}
