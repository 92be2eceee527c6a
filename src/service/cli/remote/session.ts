import { sleep, steadyClock } from '../../../client/client.ts';
import { type Duration, formatDuration } from '../../../interface/duration.ts';
import { clockTime } from '../../../interface/format.ts';
import type { Ttl } from '../../../interface/ttl.ts';
import type { AcquireAllResult } from '../../../locks/acquire.ts';
import { cleanupLimits } from '../../../locks/cleanup-limits.ts';
import type { Entry, Grant } from '../../../locks/ledger/entry.ts';
import { openHistory } from '../../../locks/ledger/history.ts';
import { blockedText, pastMoment, unansweredText } from '../../../locks/messages.ts';
import { remainingRollback, rollBack } from '../../../locks/path-by-path.ts';
import { createLockSession } from '../../../locks/session.ts';
import type { RemoteService } from './remote-command.ts';

export type CommandSession = ReturnType<typeof createCommandSession>;

/** Enough for a last attempt, however soon the locks expire. */
const minReleaseMs = 2_000;

/** A session whose ledger is in memory, because a command has no later steps. */
export function createCommandSession({ client, service, workspace, interrupted, report }: RemoteService, ttl: Ttl) {
  const ledger = openMemoryLedger();
  const step = crypto.randomUUID();
  const time = { clock: steadyClock, sleep, random: Math.random };
  const session = createLockSession({ ...time, client, record: ledger.record, step, origin: undefined });
  const terms = { service, workspace, type: 'exclusive', ttl };

  /** Releases all locks that were not lost. Reports those that stay, and returns their number. */
  async function release(maxMs: number): Promise<number> {
    const acquired = ledger.held();
    const now = client.serverNow();
    const lastEnd = Math.max(...acquired.map(({ lock }) => Date.parse(lock.expires_at)));
    // A lock that has expired needs no release.
    const timeMs = Math.min(maxMs, Math.max(lastEnd - now, minReleaseMs));
    const limits = cleanupLimits(steadyClock, timeMs, interrupted);
    const rollback = await rollBack(session, { acquired, unanswered: [] }, limits).finally(limits.stop);
    const left = remainingRollback(rollback);
    for (const { grant, error } of left) {
      const end = clockTime(Date.parse(grant.lock.expires_at), now);
      report(`Could not release the lock on ${grant.path}: ${error.message} It expires at ${end}.`);
    }
    return left.length;
  }

  /** Ends leases that may have been granted without a response. Reports those that may stay, and returns their number. */
  async function endUnanswered(maxMs: number): Promise<number> {
    const { leases, held } = ledger.read();
    const granted = new Set(held.map(({ grant }) => grant.lock.lease));
    const limits = cleanupLimits(steadyClock, maxMs, interrupted);
    try {
      let left = 0;
      for (const intent of leases.filter(({ lease }) => !granted.has(lease))) {
        const end = await session.endLease(intent, limits);
        if (end.kind === 'ended') continue;
        left += 1;
        report(`The locks on ${intent.path} and the other paths may have been granted: ${end.error.message}`);
      }
      return left;
    } finally {
      limits.stop();
    }
  }

  return {
    step,
    ledger,
    context: { ...time, client, session, terms, signal: interrupted, log: { line: report } },
    release,
    /** Also reports locks that unanswered requests may have left, and includes them in the number. */
    async releaseAfterFailure(maxMs: number): Promise<number> {
      const left = (await release(maxMs)) + (await endUnanswered(maxMs));
      const { unanswered } = ledger.read();
      for (const intent of unanswered) report(unansweredText(intent));
      return left + unanswered.length;
    },
  };
}

export function notAcquiredText({ round }: AcquireAllResult, wait: Duration, now: number): string {
  switch (round.kind) {
    case 'held': {
      const advice =
        wait.seconds > 0
          ? `Waited ${formatDuration(wait)}. Increase --wait to wait longer.`
          : 'To wait for it, add --wait 15m.';
      return `${blockedText(round.blocked, now, true)}. ${advice}`;
    }
    case 'failed':
      return round.error.message;
    case 'too-short':
      return `The lock on ${round.expired.path} expired at ${pastMoment(Date.parse(round.expired.expires_at), now)}, before all paths were locked. Increase --ttl.`;
    case 'acquired':
    case 'cancelled':
      return 'Interrupted.';
  }
}

const pollMs = 500;

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
    held: (): readonly Grant[] => history.read().held.flatMap(({ grant, loss }) => (loss === undefined ? [grant] : [])),
    watch(look: () => void): () => void {
      onEntry = () => queueMicrotask(look);
      const timer = setInterval(look, pollMs);
      return () => clearInterval(timer);
    },
  };
}
