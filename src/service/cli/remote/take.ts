import { type AcquiredLock, type Client, type Priority, type ServiceError, urgencies } from '../../../client/client.ts';
import { type Duration, formatDuration } from '../../../interface/duration.ts';
import type { LockPath } from '../../../interface/lock-path.ts';
import { outdatedText } from '../../../interface/outdated.ts';
import type { Ttl } from '../../../interface/ttl.ts';
import { type AcquireLocksResult, acquireLocks } from '../../../locks/acquire.ts';
import { type Blocked, blockedText } from '../../../locks/messages.ts';
import { remainingRollback, rollBackInTime } from '../../../locks/roll-back.ts';
import { CommandError } from '../definition/command.ts';
import { holderText } from '../output/locks.ts';
import { checkedOutVersions } from './checkout.ts';
import { type RemoteService, shown } from './remote-command.ts';
import { openCommandSession } from './session.ts';

interface TakeRequest {
  readonly paths: readonly LockPath[];
  readonly branch: string | undefined;
  readonly ttl: Ttl;
  readonly note: string | undefined;
  /** How long to wait for paths that others hold. */
  readonly wait: Duration;
  readonly priority: Priority;
}

/** Locks all paths or none, and waits up to `wait` for paths that others hold. */
export async function acquireRemoteLocks(
  remote: RemoteService,
  request: TakeRequest,
): Promise<readonly AcquiredLock[]> {
  const { service, workspace, interrupted, within, tell } = remote;
  const { paths: named, ttl, note, wait, priority } = request;
  await refuseOutdated(remote, request);
  const { client, taken } = forPerson(remote.client, note);
  const { session, ledger, time } = openCommandSession(client);
  const terms = { service, workspace, type: 'exclusive', ttl };
  const context = { ...time, client, session, terms, signal: interrupted, log: { line: tell } };
  const paths = [...new Set(named)].toSorted();
  const result = await acquireLocks(
    { ...context, withoutWait: within() },
    { paths, count: paths.length },
    { wait, urgency: urgencies[priority] },
  );
  if (result.round.kind === 'acquired') return paths.flatMap((path) => taken.get(path) ?? []);

  const { held, unanswered } = ledger.read();
  const back = await rollBackInTime(context, { acquired: held.map(({ grant }) => grant), unanswered: [] });
  for (const { grant, error } of remainingRollback(back)) {
    const { path, lock } = grant;
    tell(`${path} could not be released again, and stays locked until ${lock.expires_at}: ${error.message}`);
  }
  for (const { path } of unanswered) {
    tell(
      `It is unknown whether ${path} was locked. If it was, the lock expires ${formatDuration(ttl)} after it was taken.`,
    );
  }
  throw failureOf(result.round, result, wait, client.serverNow());
}

/** Compares the files of the checkout with the branches. */
async function refuseOutdated(
  { client, workspace, within, tell }: RemoteService,
  { paths, branch }: TakeRequest,
): Promise<void> {
  const versions = checkedOutVersions(paths);
  if (versions.size === 0) return;
  const checked = await client.checkPaths({ workspace, paths, branch, versions }, within());
  if (checked.kind === 'unsupported' || checked.outdated.length === 0) return;
  const isRefused = checked.latest === 'refuse';
  for (const outdated of checked.outdated) {
    // With a warning, the service reports the others together with the locks.
    if (isRefused || outdated.behind !== undefined) tell(outdatedText(outdated, branch));
  }
  if (isRefused) {
    const { length } = checked.outdated;
    throw new CommandError(
      `${length} of ${paths.length} paths ${length === 1 ? 'is' : 'are'} outdated. Nothing was locked.`,
    );
  }
}

/** Adds what belongs to a lock of a person, and keeps the locks as the service returned them. */
function forPerson(client: Client, note: string | undefined) {
  const taken = new Map<LockPath, AcquiredLock>();
  const acquireLock: Client['acquireLock'] = async (request, within) => {
    const result = await client.acquireLock({ ...request, note, untilMerged: true }, within);
    if (result.kind === 'acquired') taken.set(request.path, result.lock);
    return result;
  };
  return { client: { ...client, acquireLock }, taken };
}

function failureOf(
  round: Exclude<AcquireLocksResult['round'], { readonly kind: 'acquired' }>,
  { lastBlocked }: AcquireLocksResult,
  wait: Duration,
  now: number,
): CommandError | ServiceError {
  switch (round.kind) {
    case 'held':
      return heldError(round.blocked, wait, now);
    case 'failed':
      // The end of the wait cut off the last attempt.
      return lastBlocked !== undefined && round.error.failure.kind === 'deadline'
        ? heldError(lastBlocked, wait, now)
        : round.error;
    case 'too-short':
      return new CommandError(
        `The lock on ${round.ended.path} expired before all paths were locked. Nothing was locked. Increase --ttl.`,
      );
    case 'cancelled':
      return new CommandError('Interrupted. All locks taken were released again.');
  }
}

function heldError(blocked: Blocked, wait: Duration, now: number): CommandError {
  const [{ path, holder }] = blocked.conflicts;
  const held = holder === undefined ? blockedText(blocked, now) : `${path} is held by ${holderText(shown(holder))}`;
  const advice = wait.seconds > 0 ? 'Increase --wait to wait longer' : 'To wait for it, add --wait 15m';
  return new CommandError(`${held}. Nothing was locked. ${advice}.`);
}
