import type { AcquiredLock } from '../client/known-lock.ts';
import type { PoolSelection } from '../client/leases.ts';
import type { QueueWait, Urgency } from '../client/queue.ts';
import type { CallLimits } from '../client/request.ts';
import { isTransient, knowsNoRoute, retryAfterOf } from '../client/service-error.ts';
import { lastAttemptMs } from '../client/time.ts';
import { type Duration, formatDuration, formatSpan, milliseconds } from '../interface/duration.ts';
import { type LockPath, maxLeasePaths, parseHeldPath } from '../interface/lock-path.ts';
import { type Grant, grantedLock, type Intent } from './ledger/entry.ts';
import { type Blocked, blockedText } from './messages.ts';
import { type AcquireRound, acquirePathByPath, type PathContext, type PathGoal } from './path-by-path.ts';
import { cleanupLimits, endLease, type Left, rollBackMs } from './rollback.ts';

interface AcquireGoal extends PathGoal {
  /** Its items are acquired instead of paths. */
  readonly pool?: PoolSelection | undefined;
}

interface AcquireContext extends PathContext {
  /** The limits if `wait` is zero. */
  readonly withoutWait: CallLimits;
  /** Whether waiting cannot help, because a parallel step of the same job holds a path that this one needs. */
  readonly isInVain?: ((blocked: Blocked) => Promise<boolean>) | undefined;
}

export interface WaitOptions {
  readonly wait: Duration;
  readonly urgency: Urgency;
}

export type Acquisition = AcquireRound & {
  readonly waitedMs: number;
  /** Unanswered requests. They may have been granted. */
  readonly unanswered: readonly Intent[];
};

/** A service holds a request back for no longer, and proxies cut connections that are idle for a minute. */
const maxWaitSeconds = 30;

/** A faster response to a request that waits suggests that the service has not waited, or is stopping. */
const quickMs = 1_000;

/**
 * After this many waits without effect, a step only polls: a service, or its gateway, may not let requests wait, although
 * it says so. A service that is stopping answers all of them with their places, so a response without one counts more.
 */
const maxVain = 10;
const vainWithoutPlace = 4;

/** Lets a step notice within 300 ms that the service is back. */
const minReconnectMs = 100;
const maxReconnectMs = 200;

/**
 * Acquires all locks, or none, and waits for them until one deadline, which covers everything. Where the service has a
 * line, a request waits in it; elsewhere the step asks again.
 */
export async function acquireLocks(
  context: AcquireContext,
  goal: AcquireGoal,
  { wait, urgency }: WaitOptions,
): Promise<Acquisition> {
  const { client, clock, signal, log, withoutWait, isInVain = async () => false } = context;
  const startedAt = clock();
  const deadline = startedAt + milliseconds(wait);
  const pathByPath = acquirePathByPath(context, goal);
  const lease = acquireLease(context, goal);
  const pauses = createPauses(context, deadline);
  let way = lease ?? pathByPath;
  let lastBlocked: Blocked | undefined;
  let reservedMs = lastAttemptMs(0);
  let isFirst = true;

  for (;;) {
    const sentAt = clock();
    // The first request takes a place in line, and says at once who holds what.
    const seconds = pauses.waitSeconds();
    const round = await way.attempt(wait.seconds > 0 ? { seconds, urgency } : undefined, {
      // The first attempt gets at least the time of a step without a wait, minus the time for a rollback.
      deadline: isFirst ? Math.max(deadline, withoutWait.deadline - rollBackMs) : deadline,
      signal,
      ...(lastBlocked && { maxBackoffMs: maxReconnectMs }),
    });
    if (round.kind === 'unsupported') {
      way = pathByPath;
      continue;
    }
    if (round.kind === 'held') lastBlocked = round.blocked;
    if (round.kind === 'held' && lease !== undefined && way === pathByPath && client.isOurs()) {
      // Only a gateway had answered: the lease may have been granted, and block the step itself.
      way = lease;
      continue;
    }
    const tookMs = clock() - sentAt;
    if (seconds === 0) reservedMs = lastAttemptMs(tookMs);
    const waitedMs = isFirst ? 0 : clock() - startedAt;
    isFirst = false;
    const isOver = signal.aborted || deadline - clock() <= reservedMs;
    if (!mayRetry(round) || isOver || (round.kind === 'held' && (await isInVain(round.blocked)))) {
      // A cancelled attempt has used the little time that is left.
      const isSettled = round.kind === 'acquired' || round.kind === 'cancelled';
      // Until anything has answered as a service, only a gateway may have refused the lease: the post-step ends it.
      const isRefused =
        way === pathByPath && (client.isOurs() || (round.kind !== 'failed' && round.kind !== 'cancelled'));
      const ofLease = isRefused && lease !== undefined ? await lease.endRefused() : [];
      const left = [...round.left, ...(isSettled ? [] : await way.end()), ...ofLease];
      const common = { left, waitedMs, unanswered: pathByPath.unanswered() };
      // The end of the wait cut off the last attempt: the obstacle before it says more.
      const isCutOff = round.kind === 'failed' && round.error.failure.kind === 'deadline';
      if (isCutOff && lastBlocked) return { kind: 'held', blocked: lastBlocked, ...common };
      return { ...round, ...common };
    }
    const reason =
      round.kind === 'held' ? `${blockedText(round.blocked, client.serverNow(), true)}.` : round.error.message;
    log.line(`${reason} Waiting, ${formatSpan((deadline - clock()) / 1_000)} left.`);
    await pauses.after(round, seconds, tookMs, reservedMs);
  }
}

type Unsuccessful = Extract<AcquireRound, { kind: 'held' | 'failed' }>;

const mayRetry = (round: AcquireRound): round is Unsuccessful =>
  round.kind === 'held' || (round.kind === 'failed' && isTransient(round.error));

/** How long the next request waits in line, and the pause before it. */
function createPauses({ clock, sleep, random, signal }: AcquireContext, deadline: number) {
  let hasLine = false;
  let vain = 0;
  let polls = 0;

  function waitSeconds(): number {
    if (!hasLine || vain > maxVain) return 0;
    return Math.max(0, Math.min(maxWaitSeconds, Math.floor((deadline - clock()) / 1_000)));
  }

  const pause = (ms: number, reservedMs: number): Promise<void> =>
    sleep(Math.min(ms, deadline - reservedMs - clock()), signal);

  const reconnect = (reservedMs: number, atLeastMs = 0): Promise<void> =>
    pause(Math.max(atLeastMs, minReconnectMs + random() * (maxReconnectMs - minReconnectMs)), reservedMs);

  return {
    waitSeconds,
    /** `seconds` is the wait that the attempt asked for, and `reservedMs` the time to keep for the last one. */
    async after(round: Unsuccessful, seconds: number, tookMs: number, reservedMs: number): Promise<void> {
      const [conflict] = round.kind === 'held' ? round.blocked.conflicts : [];
      const hasTimedOut = round.kind === 'failed' && round.error.failure.kind === 'timeout';
      const isVain = seconds > 0 && (tookMs < quickMs || hasTimedOut);
      if (isVain) vain += conflict?.queue === undefined ? vainWithoutPlace : 1;
      else if (seconds > 0 && conflict !== undefined) vain = 0;
      hasLine = conflict?.hasWaited === true;
      if (round.kind === 'failed') return reconnect(reservedMs, retryAfterOf(round.error.failure));
      if (waitSeconds() === 0) {
        polls += 1;
        return pause(pauseMs(polls, soonestRetryMs(round.blocked), random), reservedMs);
      }
      if (isVain) await reconnect(reservedMs);
    },
  };
}

const firstPauseMs = 1_000;
const maxPauseMs = 10_000;
const growth = 1.5;

/** Randomized, because the service may have sent the same retry time to all clients of a path. */
function pauseMs(polls: number, retryAfterMs = 0, random: () => number): number {
  const backoff = Math.min(maxPauseMs, firstPauseMs * growth ** (polls - 1));
  return Math.max(backoff / 2, retryAfterMs) + (random() * Math.max(backoff, retryAfterMs)) / 2;
}

/** The wait until the first of the paths may be free. */
function soonestRetryMs({ conflicts }: Blocked): number | undefined {
  const asked = conflicts.map(({ error }) => retryAfterOf(error.failure)).filter((ms) => ms !== undefined);
  return asked.length === 0 ? undefined : Math.min(...asked);
}

/**
 * Acquires several locks as one lease, which has the id of the step: its post-step knows it without a ledger, too.
 * Undefined for a single lock, and for more than a lease can have.
 */
function acquireLease(context: PathContext, { paths, pool, count }: AcquireGoal) {
  const { client, record, clock, signal, log, terms } = context;
  const { service, workspace, step, type, ttl } = terms;
  const isSet = paths.length > 1 && paths.length <= maxLeasePaths;
  const path = pool !== undefined ? poolPath(pool.name) : isSet ? paths[0] : undefined;
  if (path === undefined) return undefined;
  const startedAt = clock();
  const request = { workspace, lease: step, paths, pool, path, count, type, ttl };
  const job = { service, workspace, step };
  const entry = { ...job, lease: step };
  const isPool = pool !== undefined;
  const intent = { kind: 'lease', ...entry, path, isPool, type, ttl: formatDuration(ttl) } as const;
  /** `open`: it has a place in line, or may have been granted. `over`: it is kept, or was ended. */
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
    if (put.kind === 'failed' && knowsNoRoute(put.error) && !client.isOurs()) return { kind: 'unsupported' };
    const grantedAt = clock();
    const grants = put.kind === 'held' ? grantsOf(put.locks) : [];
    if (grants.length > 0) record(...grants);
    if (signal.aborted) return { kind: 'cancelled', left: await end() };
    if (put.kind === 'failed') return { ...put, left: [] };
    if (put.kind === 'blocked') {
      const of = isPool ? undefined : paths.length;
      return { kind: 'held', blocked: { conflicts: put.conflicts, count, of }, left: [] };
    }
    const [lost] = put.lost;
    if (lost === undefined) {
      state = 'over';
      return { kind: 'acquired', grants, items: put.items, grantedAt, left: [] };
    }
    return { kind: 'too-short', expired: { path: lost.path, expires_at: now() }, left: await end() };
  }

  function grantsOf(locks: readonly AcquiredLock[]): readonly Grant[] {
    const common = { waitedMs: Math.round(clock() - startedAt), at: now() };
    // A key can be sent in a header, and a path may have any letters.
    return locks.map((lock, index) => {
      const key = `${step}/lease/${index + 1}`;
      return { kind: 'granted', ...job, path: lock.path, key, lock: grantedLock(lock), ...common };
    });
  }

  /** Also ends what a late request would be granted. If that fails, the end of the job does it. */
  async function end(): Promise<readonly Left[]> {
    const before = state;
    state = 'over';
    if (before === 'refused') record({ kind: 'lease-ended', ...entry, at: now() });
    if (before !== 'open') return [];
    const ended = await endLease(context, entry, cleanupLimits(clock, rollBackMs, signal));
    if (ended.kind === 'ended') return [];
    log.line(`The locks may have been granted, and could not be released yet: ${ended.error.message}`);
    return [{ error: ended.error }];
  }

  /** For a lease that a service without marks has refused: only a gateway may have done so, after it was granted. */
  async function endRefused(): Promise<readonly Left[]> {
    if (client.isOurs()) state = 'open';
    return state === 'refused' || client.isOurs() ? end() : [];
  }

  return { attempt, end, endRefused };
}

/** Stands for the paths of a pool, which only the service knows. It refuses a name that cannot be in a path. */
function poolPath(name: string): LockPath {
  const path = parseHeldPath(`pools/${name}`);
  return path.ok ? path.value : poolPath(`x${Buffer.from(name).toString('hex').slice(0, 100)}`);
}
