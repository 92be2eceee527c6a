import {
  type CallLimits,
  isTransient,
  type LeaseRequest,
  retryAfterOfError,
  type ServiceError,
} from '../client/client.ts';
import { formatDuration, formatSpan, milliseconds } from '../interface/duration.ts';
import type { LockPath } from '../interface/lock-path.ts';
import { type AcquireAllResult, type AcquireContext, acquireLocks, type WaitOptions } from './acquire.ts';
import { cleanupLimits } from './cleanup-limits.ts';
import { type Grant, grantedLock } from './ledger/entry.ts';
import type { RecordAll } from './ledger/ledger.ts';
import { type Blocked, blockedText } from './messages.ts';
import { pauseMs, soonestRetryMs } from './pause.ts';
import { rollBackMs } from './roll-back.ts';
import type { AcquireGoal, RoundResult } from './round.ts';

interface LeaseGoal extends Pick<LeaseRequest, 'from' | 'count'> {
  /** The paths to choose from. */
  readonly paths: readonly [LockPath, ...LockPath[]];
}

interface LeaseContext extends AcquireContext {
  readonly step: string;
  readonly recordAll: RecordAll;
}

/** A service holds a request back for no longer. */
const maxWaitSeconds = 30;

/** A faster response to a request that waits suggests that the service is stopping. */
const quickMs = 1_000;

/** Lets a step notice within 300 ms that the service is back. */
const minReconnectMs = 100;
const maxReconnectMs = 200;

/** A service takes no more paths with one lease. */
const maxLeasePaths = 20_000;

/** Acquires the locks as one lease. A single lock, and those of a service that knows only the interface, path by path. */
export async function acquireTogether(
  context: LeaseContext,
  goal: Omit<LeaseGoal, 'paths'> & AcquireGoal,
  waiting: WaitOptions,
  knowsOnlyInterface: () => boolean,
): Promise<AcquireAllResult> {
  const [first, ...more] = goal.paths;
  const isSet = (more.length > 0 || goal.from.kind === 'pool') && more.length < maxLeasePaths;
  const lease = first !== undefined && isSet ? { ...goal, paths: [first, ...more] as const } : undefined;
  const leased = lease && !knowsOnlyInterface() ? await acquireLease(context, lease, waiting) : undefined;
  if (leased !== undefined) return leased;
  /** Only a gateway had answered: the lease may have been granted, and block the step itself. */
  const hasLeases = (): boolean => lease !== undefined && !knowsOnlyInterface();
  const isInVain = async (): Promise<boolean> => hasLeases() || (await context.isInVain?.()) === true;
  const result = await acquireLocks({ ...context, isInVain }, goal, waiting);
  if (lease === undefined || result.round.kind !== 'held' || !hasLeases()) return result;
  return (await acquireLease(context, lease, waiting)) ?? result;
}

/**
 * Acquires all locks as one lease, or none, and waits for its turn. Undefined if the service knows only the interface.
 */
async function acquireLease(
  context: LeaseContext,
  goal: LeaseGoal,
  { wait, urgency }: WaitOptions,
): Promise<AcquireAllResult | undefined> {
  const { client, clock, sleep, random, signal, log, terms, withoutWait, step, session, recordAll } = context;
  const { isInVain = async () => false } = context;
  const { service, workspace, type, ttl } = terms;
  const startedAt = clock();
  const deadline = startedAt + milliseconds(wait);
  // Known to the post-step, even if the ledger is gone.
  const lease = step;
  const job = { service, workspace, step };
  const now = (): string => new Date(client.serverNow()).toISOString();
  const [path] = goal.paths;
  recordAll([{ kind: 'lease', ...job, lease, path, type, ttl: formatDuration(ttl), at: now() }]);
  let lastBlocked: Blocked | undefined;

  for (let number = 0; ; number += 1) {
    const sentAt = clock();
    // The first request takes a place in line, and says at once who holds what.
    const seconds = number === 0 ? 0 : Math.max(0, Math.min(maxWaitSeconds, Math.floor((deadline - sentAt) / 1_000)));
    const within: CallLimits = {
      deadline: number === 0 ? Math.max(deadline, withoutWait.deadline - rollBackMs) : deadline,
      signal,
      ...(lastBlocked && { maxBackoffMs: maxReconnectMs }),
    };
    const request = { workspace, lease, from: goal.from, count: goal.count, type, ttl };
    const put = await client.putLease({ ...request, ...(wait.seconds > 0 && { wait: { seconds, urgency } }) }, within);
    const waitedMs = number === 0 ? 0 : clock() - startedAt;
    const ended = (round: RoundResult): AcquireAllResult => ({ round, waitedMs, lastBlocked, unanswered: [] });
    switch (put.kind) {
      case 'unsupported':
        // If a gateway answered, and the service turns out to have leases, the post-step ends this one.
        recordAll([{ kind: 'no-leases', service, at: now() }]);
        return undefined;
      case 'held': {
        const grants = put.locks.map((lock): Grant => {
          const key = `${lease}/${lock.path}`;
          const isCompared = put.isCompared || undefined;
          const grant = { path: lock.path, key, waitedMs: Math.round(waitedMs), lock: grantedLock(lock), isCompared };
          return { kind: 'granted', ...job, ...grant, at: now() };
        });
        recordAll(grants);
        session.noteGrants(grants);
        const [lost] = put.lost;
        if (lost !== undefined && !signal.aborted) {
          await giveBack('cancelled');
          return ended({ kind: 'too-short', expired: { path: lost.path, expires_at: now() }, rollback });
        }
        return signal.aborted ? ended(await giveBack('cancelled')) : ended({ kind: 'acquired', grants, rollback });
      }
      case 'blocked':
        lastBlocked = { conflicts: put.conflicts, count: goal.count, of: goal.paths.length };
        if (signal.aborted) return ended(await giveBack('cancelled'));
        if (deadline - clock() < quickMs || (await isInVain())) {
          // Without a wait, nothing stays of a refused request.
          if (wait.seconds > 0 || put.mayBeDone) await giveBack('cancelled');
          else recordEnd();
          return ended({ kind: 'held', blocked: lastBlocked, rollback });
        }
        logWait(`${blockedText(lastBlocked, client.serverNow(), true)}.`);
        if (seconds > 0 && !put.conflicts[0].hasWaited) {
          // The service has too many clients that wait, or knows no waiting.
          const ms = pauseMs(number, soonestRetryMs(lastBlocked), random);
          await sleep(Math.min(ms, deadline - clock()), signal);
        } else if (seconds > 0 && clock() - sentAt < quickMs) await pause(0);
        break;
      case 'failed': {
        const { error } = put;
        if (signal.aborted) return ended(await giveBack('cancelled'));
        if (number === 0 && !put.mayBeDone && !isTransient(error)) {
          recordEnd();
          return ended({ kind: 'failed', error, rollback });
        }
        if (!isTransient(error) || deadline - clock() < quickMs) return ended(await giveBack(error));
        logWait(error.message);
        await pause(retryAfterOfError(error) ?? 0);
      }
    }
  }

  function recordEnd(): void {
    recordAll([{ kind: 'lease-ended', ...job, lease, at: now() }]);
  }

  function logWait(reason: string): void {
    log.line(`${reason} Waiting, ${formatSpan((deadline - clock()) / 1_000)} left.`);
  }

  function pause(atLeastMs: number): Promise<void> {
    const ms = Math.max(atLeastMs, minReconnectMs + random() * (maxReconnectMs - minReconnectMs));
    return sleep(Math.min(ms, deadline - clock()), signal);
  }

  /** Ends the lease, also if its request may be granted later. If that fails, the post-step does it. */
  async function giveBack(why: 'cancelled' | ServiceError): Promise<RoundResult> {
    const limits = cleanupLimits(clock, rollBackMs, signal);
    const end = await session.endLease({ service, workspace, lease }, limits).finally(limits.stop);
    if (end.kind !== 'ended')
      log.line(`The locks may have been granted, and could not be given back yet: ${end.error.message}`);
    return why === 'cancelled' ? { kind: 'cancelled', rollback } : { kind: 'failed', error: why, rollback };
  }
}

const rollback = { releases: [], unanswered: [] };
