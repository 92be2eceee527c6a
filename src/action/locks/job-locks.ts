import type { WorkspaceId } from '../../client/client.ts';
import { listOnPaths, lookupIn } from '../../client/lookup.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { JobLocks } from '../../locks/ledger/history.ts';
import { lostRenewalText } from '../../locks/messages.ts';
import { type AlreadyHeld, ownLockOf, standingOf } from '../../locks/ownership.ts';
import { type Context, defaultLimits } from '../step/context.ts';

/** If the list takes longer than this, the step requests the locks anyway. */
const maxLookAtHeldMs = 10_000;

/**
 * The locks that earlier steps of this job hold on the paths. The ledger lists them, and the service confirms that they
 * still exist: a lock that expired or was released by force does not stop the step from locking the path.
 */
export async function findAlreadyHeld(
  context: Pick<Context, 'client' | 'clock' | 'signal' | 'connection'>,
  { held, stepNames }: JobLocks,
  workspace: WorkspaceId,
  paths: readonly LockPath[],
): Promise<readonly AlreadyHeld[]> {
  const { client, clock } = context;
  const candidates = paths.filter((path) => held.has(path));
  if (candidates.length === 0) return [];
  const { deadline, signal } = defaultLimits(context);
  const within = { signal, deadline: Math.min(deadline, clock() + maxLookAtHeldMs) };
  const find = await lookupIn(listOnPaths(client, workspace, candidates, within));
  return candidates.flatMap((path) => {
    const lock = held.get(path);
    const found = find(path);
    if (lock === undefined) return [];
    const { grant, releaseStarted } = lock;
    const standing = standingOf(ownLockOf(grant), found, {
      serverNow: client.serverNow(),
      mayBeReleased: releaseStarted,
    });
    if (standing !== 'ours' && standing !== 'assumed') return [];
    const listed = found.kind === 'locked' ? found.lock : undefined;
    return {
      path,
      owner: listed?.owner ?? grant.lock.owner,
      expiresAt: Date.parse(listed?.expires_at ?? grant.lock.expires_at),
      stepName: stepNames.get(grant.step),
    };
  });
}

/** Warns about each lock of the job that could not be renewed: when it was lost, and to whom. */
export function warnOfLostLocks({ client, log }: Context, { lost }: JobLocks): void {
  for (const loss of lost) log.warn(lostRenewalText(loss, undefined, client.serverNow()));
}
