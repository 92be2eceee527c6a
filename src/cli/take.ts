import { CommandError } from '../command/command.ts';
import { timeCell } from '../interface/format.ts';
import { byPath, type LockPath } from '../interface/lock-path.ts';
import { acquireLocks, notAcquiredText } from '../locks/acquire.ts';
import { rollBackMs } from '../locks/release.ts';
import type { TakeFlags } from './acquire-flags.ts';
import { checkLocks } from './check.ts';
import { headBranch, pathProblems } from './checkout.ts';
import type { Connect, RemoteService } from './connect.ts';
import { asFlag, createCommandSession } from './session.ts';

type TakeRequest = TakeFlags & { readonly paths: readonly LockPath[] };

/** Locks all paths or none. Waits up to `wait` for paths that others hold. */
export async function takeLocks(connect: Connect, { paths: named, branch, ttl, note, wait, priority }: TakeRequest) {
  const remote = await connect(branch ?? (await headBranch()));
  const { context, releaseAll } = createCommandSession(remote, ttl, note ?? undefined);
  const paths = [...new Set(named)];
  for (const problem of await pathProblems(paths)) remote.report(problem);
  await refuseOwnLocks(remote, paths);
  const goal = { paths, count: paths.length };
  try {
    const result = await acquireLocks({ ...context, withoutWait: remote.within() }, goal, { wait, priority });
    if (result.kind === 'acquired') return result.locks.toSorted(byPath);
    throw new CommandError(notAcquiredText(result, wait, remote.client.serverNow(), asFlag));
  } catch (error) {
    const { isReleased } = await releaseAll(rollBackMs);
    if (!(error instanceof CommandError && isReleased)) throw error;
    throw new CommandError(`${error.message} Nothing was locked.`, error.exitCode);
  }
}

/** Otherwise, people would wait for their own locks. */
async function refuseOwnLocks(remote: RemoteService, paths: readonly LockPath[]): Promise<void> {
  for (const { path, lock, status } of await checkLocks(remote, paths)) {
    if (status !== 'yours') continue;
    throw new CommandError(
      `You already hold the lock on ${path}, until ${timeCell(lock?.expires_at)}. To keep it for longer: workspace-service lock extend ${path} --ttl DURATION. Nothing was locked.`,
    );
  }
}
