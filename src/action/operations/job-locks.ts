import { listOnPaths, lookupIn, type WorkspaceId } from '../../client/client.ts';
import { joinFirst } from '../../interface/format.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import { type JobLocks, readJobLocks } from '../../locks/ledger/history.ts';
import { cancelledText, lostRenewalText } from '../../locks/messages.ts';
import { type AlreadyHeld, ownLockOf, ownLockState } from '../../locks/ownership.ts';
import { isGone } from '../renewal/processes.ts';
import { type Context, defaultLimits } from '../step/context.ts';

/** The locks that the job holds in a workspace now, without those that a parallel step is still acquiring. */
export const jobLocksIn = (
  { ledger, connection }: Pick<Context, 'ledger' | 'connection'>,
  workspace: WorkspaceId,
): JobLocks => readJobLocks(ledger, connection.baseUrl, workspace, (main) => !isGone(main));

export const maxLookupMs = 10_000;

/**
 * The locks that other steps of this job hold on the paths. The ledger lists them, and the service confirms that they
 * still exist: a lock that expired or was released by force does not stop the step from locking the path.
 */
export async function findAlreadyHeld(
  context: Pick<Context, 'client' | 'clock' | 'signal' | 'connection'>,
  { held, stepNames }: JobLocks,
  workspace: WorkspaceId,
  paths: readonly LockPath[],
  step: string,
): Promise<readonly AlreadyHeld[]> {
  const { client, clock } = context;
  const candidates = paths.flatMap((path) => held.get(path) ?? []).filter(({ grant }) => grant.step !== step);
  if (candidates.length === 0) return [];
  // The step can do without the answer.
  const within = { ...defaultLimits(context), deadline: clock() + maxLookupMs };
  const heldPaths = candidates.map(({ grant }) => grant.path);
  const find = await lookupIn(listOnPaths(client, workspace, heldPaths, within));
  return candidates.flatMap(({ grant, releaseStarted }) => {
    const { path } = grant;
    const found = find(path);
    const now = { serverNow: client.serverNow(), mayBeReleased: releaseStarted };
    const state = ownLockState(ownLockOf(grant), found, now);
    if (state !== 'ours' && state !== 'assumed') return [];
    const listed = found.kind === 'locked' ? found.lock : undefined;
    return {
      path,
      owner: listed?.owner ?? grant.lock.owner,
      expiresAt: Date.parse(listed?.expires_at ?? grant.lock.expires_at),
      stepName: stepNames.get(grant.step),
    };
  });
}

/** Warns about each lock of the job that could not be renewed, and about a run that this did not cancel. */
export function warnOfLostLocks({ client, log }: Context, { lost, cancellations }: JobLocks): void {
  for (const loss of lost) log.warn(lostRenewalText(loss, undefined, client.serverNow()));
  for (const cancelled of cancellations) log.warn(cancelledText(cancelled));
}

/** Says that a step for all locks of the job leaves those in other workspaces alone. */
export function logOtherWorkspaces(log: Context['log'], workspaces: readonly string[], state: string): void {
  if (workspaces.length === 0) return;
  log.line(`The locks of this job in ${joinFirst(workspaces)} are ${state}: each workspace needs its own step.`);
}

/** The reason why the job may have more locks, if its ledger is damaged. */
export const gapText = ({ file }: Context['ledger'], action: string, inputs: string): string =>
  `Part of the ledger in ${file} cannot be read, so this job may have locks that were not ${action}. Name them with ${inputs}.`;
