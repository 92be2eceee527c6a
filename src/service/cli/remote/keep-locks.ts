import { sleep } from '../../../client/client.ts';
import { milliseconds } from '../../../interface/duration.ts';
import { formatTime } from '../../../interface/words.ts';
import { lostRenewalText } from '../../../locks/messages.ts';
import { renewLocks } from '../../../locks/renewal/renew-locks.ts';
import type { CommandSession } from './session.ts';

const pollMs = 500;

interface KeepTimes {
  readonly requestTimeoutMs: number;
  /** A lock that was not renewed counts as lost this long before it expires, so that the command can stop in time. */
  readonly marginMs: number;
}

/**
 * Renews the locks in the ledger, and watches whether they last. Calls `onLost` once, with the reason. Returns a
 * function that ends the renewal.
 */
export function keepLocks(
  { context: { client, clock, random, terms }, ledger, step }: CommandSession,
  { requestTimeoutMs, marginMs }: KeepTimes,
  onLost: (reason: string) => void,
): () => Promise<void> {
  const { service, workspace, ttl } = terms;
  // A pause that outlasts the renewal would keep the process alive.
  const over = new AbortController();
  const context = {
    ...{ client, clock, random, ...ledger },
    serverNow: client.serverNow,
    sleep: (ms: number, signal = over.signal) => sleep(ms, signal),
    isWorkerGone: () => false,
    onStart: () => undefined,
  };
  let renewalError: unknown;
  const renewal = renewLocks(context, { service, workspace, step, ttl, requestTimeoutMs }).catch((error: unknown) => {
    renewalError = error;
  });
  let lost = false;

  function look(): void {
    const { held, renewalError: failures } = ledger.read();
    const now = client.serverNow();
    const reasons = held.flatMap(({ grant: { path, lock }, loss }) => {
      if (loss !== undefined) return [lostRenewalText(loss, undefined, now)];
      const end = Date.parse(lock.expires_at);
      if (now < end - marginMs) return [];
      const reason = failures.get(step) ?? (renewalError === undefined ? '' : String(renewalError));
      return [`The lock on ${path} could not be renewed, and ends at ${formatTime(end, now)}. ${reason}`.trimEnd()];
    });
    const [first] = reasons;
    if (lost || first === undefined) return;
    lost = true;
    onLost(first);
  }

  const timer = setInterval(look, Math.min(pollMs, milliseconds(ttl) / 10));
  return async () => {
    clearInterval(timer);
    ledger.record({ kind: 'stop-renewing', step, at: new Date(client.serverNow()).toISOString() });
    await renewal;
    over.abort();
    look();
  };
}
