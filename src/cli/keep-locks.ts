import { responseClockMs } from '../client/client.ts';
import { milliseconds } from '../interface/duration.ts';
import { formatTime } from '../interface/format.ts';
import { lostRenewalText } from '../locks/messages.ts';
import { createLifetimes } from '../locks/renewal/lifetimes.ts';
import { renewLocks } from '../locks/renewal/renew-locks.ts';
import type { CommandSession } from './session.ts';

const pollMs = 500;

interface KeepTimes {
  readonly requestTimeoutMs: number;
  /** A lock that was not renewed counts as lost before it expires: the command gets this time to stop, if possible. */
  readonly marginMs: number;
}

/**
 * Renews the locks in the ledger, and watches whether they last. Calls `onLost` once, with the reason and the time until
 * the first lock expires; a lock that is already lost has no such time. Returns a function that ends the renewal.
 */
export function keepLocks(
  { context: { client, clock, random, sleep, session, terms }, ledger, step }: CommandSession,
  { requestTimeoutMs, marginMs }: KeepTimes,
  onLost: (reason: string, remainingMs: number) => void,
): () => Promise<void> {
  const { service, workspace, ttl } = terms;
  // A pause that outlasts the renewal would keep the process alive.
  const ended = new AbortController();
  const context = {
    ...{ client, clock, random, ...ledger },
    serverNow: client.serverNow,
    sleep: (ms: number, signal = ended.signal) => sleep(ms, signal),
    isWorkerGone: () => false,
    onStart: () => undefined,
  };
  let renewalError: unknown;
  const grants = ledger.held();
  const lifetimes = createLifetimes(context, ttl, Math.max(0, ...grants.map(session.ageMs)));
  const job = { service, workspace, step, ttl, requestTimeoutMs };
  const renewal = renewLocks(context, { ...job, grants, lifetimes }).catch((error: unknown) => {
    renewalError = error;
  });
  let lost = false;
  const ttlMs = milliseconds(ttl);
  const checkEveryMs = Math.min(pollMs, ttlMs / 20);
  // A response has the time of the service in whole seconds: the lock may end that much earlier than it says.
  const slackMs = Math.min(responseClockMs, ttlMs / 8);
  // With a short ttl, the command has less time to stop, because a renewal needs time for its response.
  const reservedMs = Math.min(marginMs + slackMs + checkEveryMs, ttlMs / 4);

  function checkLocks(): void {
    const { held, renewalError: failures } = ledger.read();
    const now = client.serverNow();
    let remainingMs = Number.POSITIVE_INFINITY;
    const reasons = held.flatMap(({ grant, loss }) => {
      if (loss !== undefined) return [lostRenewalText(loss, undefined, now)];
      const lastsMs = lifetimes.remainingMs(grant);
      if (lastsMs > reservedMs) return [];
      remainingMs = Math.min(remainingMs, lastsMs - slackMs);
      const reason = failures.get(step) ?? (renewalError === undefined ? '' : String(renewalError));
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
    ledger.record({ kind: 'stop-renewing', step, at: new Date(client.serverNow()).toISOString() });
    await renewal;
    ended.abort();
    checkLocks();
  };
}
