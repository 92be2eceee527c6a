import {
  type AcquiredLock,
  type Client,
  isTransient,
  type KnownLock,
  type Priority,
  ServiceError,
  urgencies,
} from '../client/client.ts';
import { CommandError } from '../command/command.ts';
import { type Duration, formatDuration, milliseconds } from '../interface/duration.ts';
import { timeCell } from '../interface/format.ts';
import type { LockPath } from '../interface/lock-path.ts';
import { outdatedText } from '../interface/outdated.ts';
import type { Ttl } from '../interface/ttl.ts';
import { acquireLocks } from '../locks/acquire.ts';
import { rollBackMs } from '../locks/rollback.ts';
import { checkLocks } from './check.ts';
import { checkedOutVersions, headBranch, pathProblems } from './checkout.ts';
import type { RemoteService } from './remote-command.ts';
import { createCommandSession, notAcquiredText } from './session.ts';

interface TakeRequest {
  readonly paths: readonly LockPath[];
  /** The branch of the checkout if undefined. */
  readonly branch: string | undefined;
  readonly ttl: Ttl;
  readonly note: string | null | undefined;
  readonly wait: Duration | undefined;
  readonly priority: Priority;
  /** The paths are meant as written, whatever the checkout has. */
  readonly literal: boolean;
}

/** Locks all paths or none, and waits up to `wait` for paths that others hold. */
export async function takeLocks(connect: (branch?: string) => Promise<RemoteService>, given: TakeRequest) {
  const { paths: named, ttl, note, wait = { seconds: 0 }, priority, branch = headBranch() } = given;
  const request = { ...given, branch };
  const remote = await connect(branch);
  const { client, acquired } = createPersonClient(remote.client, note ?? undefined);
  const { context, releaseAfterFailure } = createCommandSession({ ...remote, client }, ttl);
  const asked = [...new Set(named)].toSorted();
  if (!request.literal) refuseMistakenPaths(asked);
  const own = await ownLocks(remote, request, asked);
  const paths = asked.filter((path) => !own.has(path));
  const reported = new Set<string>();
  try {
    await refuseOutdated(remote, request, reported);
    const result = await acquireLocks(
      { ...context, withoutWait: remote.within() },
      { paths, count: paths.length },
      { wait, urgency: urgencies[priority] },
    );
    if (result.round.kind !== 'acquired') throw new CommandError(notAcquiredText(result, wait, client.serverNow()));
    // The holder may have pushed new versions during the wait.
    if (result.waitedMs > 0) await refuseOutdated(remote, request, reported).catch(keepUncompared);
    return asked.flatMap((path) => own.get(path) ?? acquired.get(path) ?? []);
  } catch (error) {
    const isReleased = await releaseAfterFailure(rollBackMs);
    throw error instanceof CommandError && isReleased
      ? new CommandError(`${error.message} Nothing was locked.`)
      : error;
  }

  /** A lock that took long to get is worth more than the comparison. */
  function keepUncompared(error: unknown): void {
    if (!(error instanceof ServiceError && isTransient(error))) throw error;
    remote.report(`The files could not be compared again. ${error.message}`);
  }
}

function refuseMistakenPaths(paths: readonly LockPath[]): void {
  const problems = pathProblems(paths);
  if (problems.length > 0)
    throw new CommandError(
      `${problems.join('\n')}\nNothing was locked. To lock the paths as written, add --literal.`,
      2,
    );
}

/** Locks that the person has already, and that last long enough. */
async function ownLocks(remote: RemoteService, { ttl }: TakeRequest, paths: readonly LockPath[]) {
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

/** Compares the files of the checkout with the branches, and reports each outdated file once. */
async function refuseOutdated(
  { client, workspace, within, report }: RemoteService,
  { paths, branch }: TakeRequest,
  reported: Set<string>,
): Promise<void> {
  const versions = checkedOutVersions(paths);
  if (versions.size === 0) return;
  const checked = await client.checkPaths({ workspace, paths, branch, versions }, within());
  if (checked.kind === 'unsupported' || checked.outdated.length === 0) return;
  const isRefused = checked.latest === 'refuse';
  for (const outdated of checked.outdated) {
    const text = outdatedText(outdated, branch);
    // With a warning, the service reports the others together with the locks.
    if (reported.has(text) || !(isRefused || outdated.behind !== undefined)) continue;
    report(text);
    reported.add(text);
  }
  if (isRefused) {
    const { length } = checked.outdated;
    throw new CommandError(`${length} of ${paths.length} paths ${length === 1 ? 'is' : 'are'} outdated.`);
  }
}

/** Adds what belongs to a lock of a person, and keeps the locks as the service returned them. */
function createPersonClient(client: Client, note: string | undefined) {
  const acquired = new Map<LockPath, AcquiredLock>();
  const acquireLock: Client['acquireLock'] = async (request, within) => {
    const result = await client.acquireLock({ ...request, note }, within);
    if (result.kind === 'acquired') acquired.set(request.path, result.lock);
    return result;
  };
  return { client: { ...client, acquireLock }, acquired };
}
