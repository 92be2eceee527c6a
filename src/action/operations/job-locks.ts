import type { WorkspaceId } from '../../client/access.ts';
import { inParallel } from '../../client/in-parallel.ts';
import { listOnPaths, lookupIn } from '../../client/lists.ts';
import type { CallLimits } from '../../client/request.ts';
import { historyOf, readJobLocks } from '../../locks/ledger/history.ts';
import { cancelledText, lostRenewalText } from '../../locks/messages.ts';
import { type OurLock, ownLockState } from '../../locks/ownership.ts';
import { isGone } from '../renewal/processes.ts';
import type { Context } from '../step/context.ts';

/** The locks that the job holds in a workspace now, except those that a parallel step is still acquiring. */
export const jobLocksIn = ({ ledger, connection }: Context, workspace: WorkspaceId) =>
  readJobLocks(ledger, connection.baseUrl, workspace, (main) => !isGone(main));

/** The state of one of our locks, according to the service. */
export type LookedUp = Awaited<ReturnType<typeof lookUpOurs>>[number];

/** Looks up our locks: one request per lease, and lists for the others. */
export async function lookUpOurs(
  { client }: Pick<Context, 'client'>,
  workspace: WorkspaceId,
  all: readonly OurLock[],
  within: CallLimits,
) {
  const results = await inParallel([...Map.groupBy(all, ({ grant }) => grant.lock.lease)], async ([lease, group]) => {
    const paths = group.map(({ grant }) => grant.path);
    const onPaths = () => listOnPaths(client, workspace, paths, within);
    // The service forgets a lease some days after its end.
    const list = lease === undefined ? onPaths() : client.listLease({ workspace, lease }, within).catch(onPaths);
    const find = await lookupIn(list);
    const serverNow = client.serverNow();
    return group.map((ours) => {
      const found = find(ours.grant.path);
      const mayBeReleased = ours.mayBeReleased || ours.loss !== undefined;
      return {
        ours,
        state: ownLockState({ ...ours, mayBeReleased }, found, serverNow),
        /** The current lock on the path. */
        listed: found.kind === 'locked' ? found.lock : undefined,
        /** Why the service does not say. */
        reason: found.kind === 'failed' ? found.error.message : found.kind === 'unknown' ? found.reason : undefined,
      };
    });
  });
  return results.flat();
}

const maxLookupMs = 10_000;

/**
 * The locks that other steps of this job hold on the paths. Waiting for them is pointless, because only this job can
 * release them. The ledger lists them, except those of running steps such as this one. The service confirms that they
 * still exist: a lock that expired or was force-released does not prevent the step from locking the path.
 */
export async function findAlreadyHeld(
  context: Context,
  workspace: WorkspaceId,
  paths: readonly string[],
): Promise<readonly LookedUp[]> {
  const held: ReadonlyMap<string, OurLock> = jobLocksIn(context, workspace).held;
  const ofOthers = paths.flatMap((path) => held.get(path) ?? []);
  if (ofOthers.length === 0) return [];
  // The step can continue without an answer.
  const within = { deadline: context.clock() + maxLookupMs, signal: context.signal };
  const found = await lookUpOurs(context, workspace, ofOthers, within);
  return found.filter(({ state }) => state === 'ours' || state === 'assumed');
}

/**
 * Warns about each lock of the job that could not be renewed, in any workspace, and about a run that was not cancelled
 * because of that.
 */
export function warnOfLostLocks({ client, log, ledger }: Pick<Context, 'client' | 'log' | 'ledger'>): void {
  const { entries } = ledger.read();
  for (const { loss } of historyOf(entries).held) {
    if (loss !== undefined) log.warn(lostRenewalText(loss, client.serverNow()));
  }
  for (const entry of entries) if (entry.kind === 'run-cancelled') log.warn(cancelledText(entry));
}
