import { leaseName } from '../client/leases.ts';
import type { Conflicts } from '../client/post-lock.ts';
import type { QueueWait } from '../client/queue.ts';
import type { CallLimits } from '../client/request.ts';
import { knowsNoRoute, ServiceError } from '../client/service-error.ts';
import { lastAttemptMs, machineClock } from '../client/time.ts';
import { type Duration, formatDuration, formatSpan, milliseconds } from '../interface/duration.ts';
import { maxLeasePaths } from '../interface/lock-path.ts';
import { endLease } from './end-lease.ts';
import { grantedLock, lifetimeMs } from './ledger/entry.ts';
import { conflictsText, pastMoment } from './messages.ts';
import { type AcquireContext, type AcquireGoal, type AcquireRound, acquirePathByPath } from './path-by-path.ts';
import { createPauses, type Unsuccessful } from './pauses.ts';
import { cleanupLimits, rollBackMs } from './release.ts';

export interface WaitOptions {
  readonly wait: Duration;
  readonly priority: QueueWait['urgency'];
}

/** The ledger lists any other lock that the step may still hold. */
export type Acquisition = AcquireRound & { readonly waitedMs: number };

/** Why the locks were not acquired, and what to do. `named` formats the name of an option as an input or a flag. */
export function notAcquiredText(
  result: Exclude<Acquisition, { readonly kind: 'acquired' }>,
  wait: Duration,
  now: number,
  named: (option: string) => string,
): string {
  switch (result.kind) {
    case 'held': {
      const { conflicts } = result;
      const object = conflicts.length === 1 ? 'it' : 'one of them';
      const advice =
        wait.seconds === 0
          ? `Set ${named('wait')} to wait for ${object}.`
          : `Waited ${formatDuration(wait)} for ${object}. Increase ${named('wait')} to wait longer.`;
      return `${conflictsText(conflicts, now)}. ${advice}`;
    }
    case 'too-short': {
      const { path, expires_at } = result.expired;
      if (expires_at === undefined)
        return `Someone released the lock on ${path} before all paths were locked. Try again.`;
      return `The lock on ${path} expired at ${pastMoment(Date.parse(expires_at), now)}, before all paths were locked. Increase ${named('ttl')}: it must cover acquiring all locks and the work that needs them.`;
    }
    case 'failed':
      return result.error.message;
    case 'cancelled':
      return 'Interrupted.';
  }
}

/**
 * Acquires all locks or none. One deadline covers everything, including the wait. If the service has a waiting line,
 * requests wait in it; otherwise, the step polls.
 */
export async function acquireLocks(
  context: AcquireContext,
  goal: AcquireGoal,
  { wait, priority: urgency }: WaitOptions,
): Promise<Acquisition> {
  const { client, clock, signal, log, withoutWait, isInVain = async () => false } = context;
  const startedAt = clock();
  const deadline = startedAt + milliseconds(wait);
  const requests = createRequests(context, goal);
  const pauses = createPauses(context, deadline);
  let lastConflicts: Conflicts | undefined;
  let reservedMs = lastAttemptMs(0);

  for (let isFirst = true; ; isFirst = false) {
    const sentAt = clock();
    // The first request takes a place in line, and its response says at once who holds the paths.
    const seconds = pauses.waitSeconds();
    const round = await requests.attempt(wait.seconds > 0 ? { seconds, urgency } : undefined, {
      // The first attempt gets at least the time that it would have without a wait, minus the time for a rollback.
      deadline: isFirst ? Math.max(deadline, withoutWait.deadline - rollBackMs) : deadline,
      signal,
      ...(lastConflicts && { maxBackoffMs: pauses.maxReconnectMs() }),
    });
    if (round.kind === 'held') lastConflicts = round.conflicts;
    const tookMs = clock() - sentAt;
    if (seconds === 0) reservedMs = lastAttemptMs(tookMs);
    const waitedMs = isFirst ? 0 : clock() - startedAt;
    const isOver = signal.aborted || deadline - clock() <= reservedMs;
    if (!mayRetry(round) || isOver || (round.kind === 'held' && (await isInVain(round.conflicts)))) {
      await requests.end(round);
      // The end of the wait cut off the last attempt, so the previous obstacle is more informative.
      const isCutOff = round.kind === 'failed' && round.error.failure.kind === 'deadline';
      if (isCutOff && lastConflicts) return { kind: 'held', conflicts: lastConflicts, waitedMs };
      return { ...round, waitedMs };
    }
    const reason =
      round.kind === 'held' ? `${conflictsText(round.conflicts, client.serverNow())}.` : round.error.message;
    const line = `${reason} Waiting, ${formatSpan((deadline - clock()) / 1_000)} left.`;
    if (pauses.isNews(round)) log.line(line);
    await pauses.after(round, seconds, tookMs, reservedMs);
  }
}

/** Requests the locks as one lease or path by path. The first response shows which of the two the service supports. */
function createRequests(context: AcquireContext, goal: AcquireGoal) {
  const { client } = context;
  const pathByPath = acquirePathByPath(context, goal);
  const lease = createLease(context, goal);
  let isByPath = lease === undefined;

  async function attempt(line: QueueWait | undefined, within: CallLimits): Promise<AcquireRound> {
    const together = isByPath ? undefined : await lease?.attempt(line, within);
    if (together !== undefined && together.kind !== 'unsupported') return together;
    isByPath = true;
    const round = await pathByPath.attempt(line, within);
    // A lease would wait for locks that this step still holds. The next attempt rolls them back first.
    if (lease === undefined || round.kind !== 'held' || !client.isOurs() || pathByPath.mayHold()) return round;
    // Until now, only a gateway had answered. The lease may have been granted, and may block this step itself.
    isByPath = false;
    return attempt(line, within);
  }

  return {
    attempt,
    /** After the last attempt, settles requests whose result is unknown. */
    async end(last: AcquireRound): Promise<void> {
      // A cancelled attempt has already used the little time that is left.
      if (last.kind !== 'cancelled') await pathByPath.end();
      const isAnswered = last.kind === 'cancelled' ? pathByPath.hasAcquired() : last.kind !== 'failed';
      await lease?.end(isByPath ? isAnswered : undefined);
    },
  };
}

/**
 * Acquires several locks as one lease. The lease has the id of the step, so that the post-step can end it even without
 * a ledger. Undefined for a single lock, and for more locks than a lease can have.
 */
function createLease(context: AcquireContext, { paths, pool, count }: AcquireGoal) {
  const { client, record, clock, signal, log, terms } = context;
  const { service, workspace, step, type, ttl, note } = terms;
  const isSet = paths.length > 1 && paths.length <= maxLeasePaths;
  if (pool === undefined && !isSet) return undefined;
  const startedAt = clock();
  const request = { workspace, lease: step, paths, pool, count, type, ttl, note };
  const job = { service, workspace, step };
  const entry = { ...job, lease: step };
  const intent = { kind: 'lease', ...entry, path: leaseName(request), type, ttl: formatDuration(ttl) } as const;
  /** `open`: the lease is in line, or may have been granted. `over`: the step keeps the lease, or has ended it. */
  let state: 'new' | 'refused' | 'open' | 'over' = 'new';
  const now = (): string => new Date(client.serverNow()).toISOString();

  /** `unsupported`: the service knows only the interface, or a gateway answered in its place. */
  async function attempt(
    wait: QueueWait | undefined,
    within: CallLimits,
  ): Promise<AcquireRound | { readonly kind: 'unsupported' }> {
    if (state === 'new') record({ ...intent, at: now() });
    if (state === 'new') state = 'refused';
    const put = await client.putLease({ ...request, wait }, within);
    if (put.kind === 'held' || put.mayBeDone || (put.kind === 'blocked' && wait !== undefined)) state = 'open';
    if (put.kind === 'failed' && knowsNoRoute(put.error) && !client.isOurs()) {
      if (pool === undefined) return { kind: 'unsupported' };
      const reason = `The service has no pools, so no item of ${JSON.stringify(pool.name)} can be locked.`;
      const { call, failure } = put.error;
      return { kind: 'failed', error: new ServiceError(call, { ...failure, reason, advice: '', isTransient: false }) };
    }
    const grantedAt = clock();
    const locks = put.kind === 'held' ? put.locks : [];
    const granted = { kind: 'granted', ...job, waitedMs: Math.round(grantedAt - startedAt), at: now() } as const;
    // Not the path: a key is sent in a header, and a path may contain any letters.
    const keyOf = (index: number): string => `${step}/lease/${index + 1}`;
    const grants = locks.map((lock, index) => {
      const grant = { ...granted, path: lock.path, key: keyOf(index), lock: grantedLock(lock) };
      return { ...grant, lastsUntil: machineClock() + Math.floor(lifetimeMs(grant, ttl)) };
    });
    if (grants.length > 0) record(...grants);
    if (signal.aborted) {
      await end();
      return { kind: 'cancelled' };
    }
    if (put.kind === 'failed') return put;
    if (put.kind === 'blocked') return { kind: 'held', conflicts: put.conflicts };
    const [lost] = put.lost;
    if (lost === undefined) {
      state = 'over';
      return { kind: 'acquired', grants, locks: put.locks, items: put.items, grantedAt };
    }
    await end();
    const expires_at = lost.reason === 'forced' || lost.reason === 'released' ? undefined : now();
    return { kind: 'too-short', expired: { path: lost.path, expires_at } };
  }

  /**
   * Ends the lease, even if its request has not arrived yet. If that fails, the post-step retries. `isAnswered`:
   * whether a service answered after the step switched to requests path by path.
   */
  async function end(isAnswered?: boolean): Promise<void> {
    const isByPath = isAnswered !== undefined;
    // If the service has shown its marks since then, it supports leases, and only a gateway refused this one.
    const mayHold = state === 'open' || (state === 'refused' && isByPath && client.isOurs());
    // Perhaps only a gateway has answered so far. The post-step will find out.
    if (isByPath && !client.isOurs() && (mayHold || !isAnswered)) return;
    if (state === 'refused' && !mayHold) record({ kind: 'lease-ended', ...entry, at: now() });
    state = 'over';
    if (!mayHold) return;
    const ended = await endLease(context, entry, cleanupLimits(clock, rollBackMs, signal));
    if (ended.kind === 'ended') return;
    log.line(`The locks may have been granted, and could not be released yet: ${ended.error.message}`);
  }

  return { attempt, end };
}

const mayRetry = (round: AcquireRound): round is Unsuccessful =>
  round.kind === 'held' || (round.kind === 'failed' && round.error.isTransient);
