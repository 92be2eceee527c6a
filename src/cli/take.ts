import type { Client } from '../client/client.ts';
import type { AcquiredLock, KnownLock } from '../client/known-lock.ts';
import { CommandError } from '../command/command.ts';
import { formatDuration, milliseconds, type Ttl } from '../interface/duration.ts';
import { timeCell } from '../interface/format.ts';
import type { LockPath } from '../interface/lock-path.ts';
import { acquireLocks, notAcquiredText } from '../locks/acquire.ts';
import { rollBackMs } from '../locks/rollback.ts';
import type { TakeFlags } from './acquire-flags.ts';
import { checkLocks } from './check.ts';
import { headBranch, pathProblems } from './checkout.ts';
import type { Connect, RemoteService } from './connect.ts';
import { asFlag, createCommandSession } from './session.ts';

type TakeRequest = TakeFlags & { readonly paths: readonly LockPath[] };

/** Locks all paths or none, and waits up to `wait` for paths that others hold. */
export async function takeLocks(
  connect: Connect,
  { paths: named, branch, ttl, note, wait, priority: urgency }: TakeRequest,
) {
  const remote = await connect(branch ?? headBranch());
  const acquired = new Map<LockPath, AcquiredLock>();
  const client: Client = {
    ...remote.client,
    // Both add the note of the person, and keep the locks as the service returned them.
    async acquireLock(request, within) {
      const result = await remote.client.acquireLock({ ...request, note: note ?? undefined }, within);
      if (result.kind === 'acquired') acquired.set(request.path, result.lock);
      return result;
    },
    async putLease(request, within) {
      const result = await remote.client.putLease({ ...request, note: note ?? undefined }, within);
      if (result.kind === 'held') for (const lock of result.locks) acquired.set(lock.path, lock);
      return result;
    },
  };
  const { context, releaseAfterFailure } = createCommandSession({ ...remote, client }, ttl);
  const asked = [...new Set(named)].toSorted();
  for (const problem of pathProblems(asked)) remote.report(problem);
  const own = await ownLocks(remote, ttl, asked);
  const paths = asked.filter((path) => !own.has(path));
  const goal = { paths, count: paths.length };
  try {
    const result = await acquireLocks({ ...context, withoutWait: remote.within() }, goal, { wait, urgency });
    if (result.kind === 'acquired') return asked.flatMap((path) => own.get(path) ?? acquired.get(path) ?? []);
    throw new CommandError(notAcquiredText(result, wait, client.serverNow(), asFlag));
  } catch (error) {
    const isReleased = await releaseAfterFailure(rollBackMs);
    if (!(error instanceof CommandError && isReleased)) throw error;
    throw new CommandError(`${error.message} Nothing was locked.`, error.exitCode);
  }
}

/** Locks that the person has already, and that last long enough. */
async function ownLocks(remote: RemoteService, ttl: Ttl, paths: readonly LockPath[]) {
  const own = new Map<LockPath, KnownLock>();
  for (const { path, lock, status } of await checkLocks(remote, paths)) {
    if (status !== 'yours' || lock === undefined) continue;
    const end = Date.parse(lock.expires_at ?? '');
    if (end < remote.client.serverNow() + milliseconds(ttl))
      throw new CommandError(
        `You hold the lock on ${path} already, until ${timeCell(lock.expires_at)}. To keep it for longer: workspace-service lock extend ${path} --ttl ${formatDuration(ttl)}. Nothing was locked.`,
      );
    remote.report(`You hold the lock on ${path} already.`);
    own.set(path, lock);
  }
  return own;
}
