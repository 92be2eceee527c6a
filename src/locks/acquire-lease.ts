import {
  type CallLimits,
  isTransient,
  type LeaseRequest,
  type PutLeaseResult,
  retryAfterOfError,
  type ServiceError,
} from '../client/client.ts';
import { formatDuration, formatSpan, milliseconds } from '../interface/duration.ts';
import { type LockPath, maxLeasePaths } from '../interface/lock-path.ts';
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
  const { client, clock, signal, withoutWait, isInVain = async () => false } = context;
  const startedAt = clock();
  const deadline = startedAt + milliseconds(wait);
  const lease = openLease(context, goal);
  const waits = createPauses(context, deadline);
  let lastBlocked: Blocked | undefined;

  for (let number = 0; ; number += 1) {
    const sentAt = clock();
    // The first request takes a place in line, and says at once who holds what.
    const seconds = number === 0 ? 0 : Math.max(0, Math.min(maxWaitSeconds, Math.floor((deadline - sentAt) / 1_000)));
    const put = await lease.put(wait.seconds > 0 ? { seconds, urgency } : undefined, {
      deadline: number === 0 ? Math.max(deadline, withoutWait.deadline - rollBackMs) : deadline,
      signal,
      ...(lastBlocked && { maxBackoffMs: maxReconnectMs }),
    });
    const waitedMs = number === 0 ? 0 : clock() - startedAt;
    const ended = (round: RoundResult): AcquireAllResult => ({ round, waitedMs, lastBlocked, unanswered: [] });
    const isOver = deadline - clock() < quickMs;
    switch (put.kind) {
      case 'unsupported':
        lease.recordUnsupported();
        return undefined;
      case 'held':
        return ended(await lease.accept(put, waitedMs));
      case 'blocked':
        lastBlocked = { conflicts: put.conflicts, count: goal.count, of: goal.paths.length };
        if (signal.aborted) return ended(await lease.giveBack('cancelled'));
        if (isOver || (await isInVain())) {
          // Without a wait, nothing stays of a refused request.
          if (wait.seconds > 0 || put.mayBeDone) await lease.giveBack('cancelled');
          else lease.recordEnd();
          return ended({ kind: 'held', blocked: lastBlocked, rollback });
        }
        waits.log(`${blockedText(lastBlocked, client.serverNow(), true)}.`);
        // A service with too many waiting clients lets this one wait no longer.
        if (seconds > 0 && !put.conflicts[0].hasWaited) await waits.poll(number, lastBlocked);
        else if (seconds > 0 && clock() - sentAt < quickMs) await waits.reconnect(0);
        break;
      case 'failed': {
        const { error } = put;
        if (signal.aborted) return ended(await lease.giveBack('cancelled'));
        if (number === 0 && !put.mayBeDone && !isTransient(error)) {
          lease.recordEnd();
          return ended({ kind: 'failed', error, rollback });
        }
        if (!isTransient(error) || isOver) return ended(await lease.giveBack(error));
        waits.log(error.message);
        await waits.reconnect(retryAfterOfError(error) ?? 0);
      }
    }
  }
}

/** The lease of a step: its requests, and their records in the ledger. */
function openLease(context: LeaseContext, { from, count, paths: [path] }: LeaseGoal) {
  const { client, clock, signal, log, terms, step, session, recordAll } = context;
  const { service, workspace, type, ttl } = terms;
  // The post-step knows its id, even if the ledger is gone.
  const lease = step;
  const job = { service, workspace, step };
  const now = (): string => new Date(client.serverNow()).toISOString();
  recordAll([{ kind: 'lease', ...job, lease, path, type, ttl: formatDuration(ttl), at: now() }]);

  /** Ends the lease, also if its request may be granted later. If that fails, the end of the job does it. */
  async function giveBack(why: 'cancelled' | ServiceError): Promise<RoundResult> {
    const limits = cleanupLimits(clock, rollBackMs, signal);
    const end = await session.endLease({ service, workspace, lease }, limits).finally(limits.stop);
    if (end.kind !== 'ended') {
      log.line(`The locks may have been granted, and could not be given back yet: ${end.error.message}`);
    }
    return why === 'cancelled' ? { kind: 'cancelled', rollback } : { kind: 'failed', error: why, rollback };
  }

  return {
    put: (wait: LeaseRequest['wait'], within: CallLimits) =>
      client.putLease({ workspace, lease, from, path, count, type, ttl, wait }, within),
    giveBack,

    /** Keeps the granted locks, unless the step has ended, or one of them has. */
    async accept(put: Extract<PutLeaseResult, { kind: 'held' }>, waitedMs: number): Promise<RoundResult> {
      const grants = put.locks.map((lock): Grant => {
        const key = `${lease}/${lock.path}`;
        const isCompared = put.isCompared || undefined;
        const grant = { path: lock.path, key, waitedMs: Math.round(waitedMs), lock: grantedLock(lock), isCompared };
        return { kind: 'granted', ...job, ...grant, at: now() };
      });
      recordAll(grants);
      session.noteGrants(grants);
      if (signal.aborted) return giveBack('cancelled');
      const [lost] = put.lost;
      if (lost === undefined) return { kind: 'acquired', grants, rollback };
      await giveBack('cancelled');
      return { kind: 'too-short', expired: { path: lost.path, expires_at: now() }, rollback };
    },

    /** If only a gateway answered, and the service turns out to have leases, the end of the job ends this one. */
    recordUnsupported: (): void => recordAll([{ kind: 'no-leases', service, at: now() }]),
    recordEnd: (): void => recordAll([{ kind: 'lease-ended', ...job, lease, at: now() }]),
  };
}

/** The pauses between two requests. They end at the deadline. */
function createPauses({ clock, sleep, random, signal, log }: LeaseContext, deadline: number) {
  const pause = (ms: number): Promise<void> => sleep(Math.min(ms, deadline - clock()), signal);
  return {
    log: (reason: string): void => log.line(`${reason} Waiting, ${formatSpan((deadline - clock()) / 1_000)} left.`),
    reconnect: (atLeastMs: number) =>
      pause(Math.max(atLeastMs, minReconnectMs + random() * (maxReconnectMs - minReconnectMs))),
    poll: (number: number, blocked: Blocked) => pause(pauseMs(number, soonestRetryMs(blocked), random)),
  };
}

const rollback = { releases: [], unanswered: [] };
