import { knowsNoRoute } from '../client/service-error.ts';
import { responseClockMs, sleep, steadyClock } from '../client/time.ts';
import { milliseconds, type Ttl } from '../interface/duration.ts';
import { clockTime, formatTime } from '../interface/format.ts';
import type { LockPath } from '../interface/lock-path.ts';
import { endLease } from '../locks/end-lease.ts';
import type { Entry } from '../locks/ledger/entry.ts';
import { openHistory } from '../locks/ledger/history.ts';
import { heldText, lostRenewalText, unansweredText } from '../locks/messages.ts';
import { cleanupLimits, rollBack } from '../locks/release.ts';
import { renewLocks } from '../locks/renewal/renew-locks.ts';
import { createSchedule } from '../locks/renewal/schedule.ts';
import type { RemoteService } from './connect.ts';

export type CommandSession = ReturnType<typeof createCommandSession>;

/** Enough for a last attempt, however soon the locks expire. */
const minReleaseMs = 2_000;

/** A session with its ledger in memory, because a command has no later steps. */
export function createCommandSession(remote: RemoteService, ttl: Ttl, note?: string) {
  const { client, service, workspace, interrupted, report } = remote;
  const ledger = openMemoryLedger();
  const step = crypto.randomUUID();
  const time = { clock: steadyClock, sleep, random: Math.random };
  const terms = { service, workspace, step, type: 'exclusive', ttl, note };
  const settling = { ...time, client, record: ledger.record, signal: interrupted };

  /** Releases all locks that were not lost. Reports those that could not be released, or were lost since. */
  async function release(maxMs: number) {
    const acquired = ledger.held();
    const now = client.serverNow();
    const lastEnd = Math.max(...acquired.map(({ grant }) => Date.parse(grant.lock.expires_at)));
    // An expired lock needs no release.
    const timeMs = Math.min(maxMs, Math.max(lastEnd - now, minReleaseMs));
    const limits = cleanupLimits(steadyClock, timeMs, interrupted);
    let hasLost = false;
    const left = await rollBack(settling, acquired, limits, (path, holder) => {
      hasLost = true;
      const now = holder === 'nobody' ? `${path} is free` : heldText(path, holder, client.serverNow());
      report(`The lock on ${path} was lost before its release: ${now}.`);
    });
    for (const { grant, error } of left) {
      const end = clockTime(Date.parse(grant.lock.expires_at), now);
      const reason = error?.message ?? 'The current lock may belong to another job.';
      report(`Could not release the lock on ${grant.path}: ${reason} It expires at ${end}.`);
    }
    return { left: left.length, hasLost };
  }

  return {
    step,
    ledger,
    context: { ...settling, terms, log: { line: report } },
    /** Releases locks, ends leases, and reports unanswered requests. */
    async releaseAll(maxMs: number): Promise<{ readonly isReleased: boolean; readonly hasLost: boolean }> {
      const { hasLost, ...released } = await release(maxMs);
      let { left } = released;
      const { leases, held, unanswered } = ledger.read();
      const granted = new Set(held.map(({ grant }) => grant.lock.lease));
      const limits = cleanupLimits(steadyClock, maxMs, interrupted);
      for (const intent of leases.filter(({ lease }) => !granted.has(lease))) {
        const end = await endLease(settling, intent, limits);
        // A service that knows only the interface has granted no lease.
        if (end.kind === 'ended' || (knowsNoRoute(end.error) && !client.isOurs())) continue;
        left += 1;
        report(`Locks may have been acquired (${intent.path}): ${end.error.message}`);
      }
      for (const intent of unanswered) report(unansweredText(intent));
      return { isReleased: left + unanswered.length === 0, hasLost };
    },
  };
}

/** An option of the command, as users write it. */
export const asFlag = (option: string): string => `--${option}`;

const pollMs = 500;

/** A steady clock stands still while the machine is suspended. Time servers adjust the other by less than this. */
const minSuspendedMs = 5_000;

function openMemoryLedger() {
  const unread: Entry[] = [];
  const history = openHistory();
  let onEntry: () => void = () => undefined;
  function record(...entries: readonly Entry[]): void {
    history.add(entries);
    unread.push(...entries);
    onEntry();
  }

  return {
    record,
    follow: (): readonly Entry[] => unread.splice(0),
    read: history.read,
    /** The locks that were not lost. */
    held: () => history.read().held.filter(({ loss }) => loss === undefined),
    watch(look: () => void): () => void {
      onEntry = () => queueMicrotask(look);
      const timer = setInterval(look, pollMs);
      return () => clearInterval(timer);
    },
  };
}

interface KeepTimes {
  readonly requestTimeoutMs: number;
  /** A lock that could not be renewed counts as lost this long before it expires: the command needs time to stop. */
  readonly marginMs: number;
  /** When the first lock was granted, by the clock of this machine. */
  readonly grantedAt: number;
  readonly canRenew: boolean;
  /** The lock whose first renewal had no response. */
  readonly unanswered?: LockPath | undefined;
}

/**
 * Renews the locks in the ledger, and checks whether they last. Calls `onLost` once, with the reason and the time until
 * the first lock expires; a lock that is already lost has no such time. Returns a function that ends the renewal.
 */
export function keepLocks(
  { context: { client, clock, random, sleep, terms }, ledger, step }: CommandSession,
  { requestTimeoutMs, marginMs, grantedAt, canRenew, unanswered }: KeepTimes,
  onLost: (reason: string, remainingMs: number) => void,
): () => Promise<void> {
  const { service, workspace, ttl } = terms;
  // A pause that outlasts the renewal would keep the process alive.
  const ended = new AbortController();
  let resumed = new AbortController();
  const context = {
    client,
    clock,
    random,
    ...ledger,
    sleep: (ms: number, signal = ended.signal) => sleep(ms, AbortSignal.any([signal, resumed.signal])),
    isWorkerGone: () => false,
    onStart: () => undefined,
  };
  let renewalError: unknown;
  const grants = ledger.held().map(({ grant }) => grant);
  const schedule = createSchedule(context, { ttl, requestTimeoutMs, ageMs: clock() - grantedAt });
  const job = { service, workspace, step, ttl };
  const renew = () => renewLocks({ ...context, ...job, grants, unanswered, schedule });
  const renewal = (canRenew ? renew() : Promise.resolve()).catch((error: unknown) => {
    renewalError = error;
  });
  let lost = false;
  const ttlMs = milliseconds(ttl);
  const checkEveryMs = Math.min(pollMs, ttlMs / 20);
  // Responses have the time in whole seconds, so the lock may expire up to this much earlier than they say.
  const slackMs = Math.min(responseClockMs, ttlMs / 8);
  // With a short ttl, the command has less time to stop, because a renewal needs time for its response.
  const reservedMs = Math.min(marginMs + slackMs + checkEveryMs, ttlMs / 4);

  const driftMs = (): number => Date.now() - clock();
  let lastDriftMs = driftMs();

  function checkLocks(): void {
    const drift = driftMs();
    // The locks may have expired in the meantime, which an immediate renewal shows.
    if (drift - lastDriftMs > minSuspendedMs) {
      resumed.abort();
      resumed = new AbortController();
    }
    lastDriftMs = drift;
    const { held } = ledger.read();
    const now = client.serverNow();
    let remainingMs = Number.POSITIVE_INFINITY;
    const reasons = held.flatMap(({ grant, loss, renewalError: failure }) => {
      if (loss !== undefined) return [lostRenewalText(loss, now)];
      const lastsMs = schedule.remainingMs(grant);
      if (lastsMs > reservedMs) return [];
      remainingMs = Math.min(remainingMs, lastsMs - slackMs);
      const reason = failure ?? (renewalError === undefined ? '' : String(renewalError));
      const end = formatTime(now + lastsMs, now);
      return [`The lock on ${grant.path} could not be renewed, and ends at ${end}. ${reason}`.trimEnd()];
    });
    const [first] = reasons;
    if (lost || first === undefined) return;
    lost = true;
    onLost(first, remainingMs);
  }

  const timer = setInterval(checkLocks, checkEveryMs);
  return async () => {
    clearInterval(timer);
    ledger.record({ kind: 'step-ended', step, at: new Date(client.serverNow()).toISOString() });
    await renewal;
    ended.abort();
    checkLocks();
  };
}
