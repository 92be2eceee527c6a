import { type CallLimits, type Client, inParallel } from '../../client/client.ts';
import type { Ttl } from '../../interface/ttl.ts';
import { type Entry, type Grant, type Loss, parsedAddress } from '../ledger/entry.ts';
import { type JobLock, openHistory } from '../ledger/history.ts';
import { hasIdentity } from '../locks/release.ts';
import type { Context } from '../step/context.ts';

/** Why locks are not renewed any more. */
export type RenewalEndReason = 'stopped' | 'nothing-left' | 'worker-gone' | 'ledger-gone' | 'too-old';

interface RenewalContext extends Pick<Context, 'clock' | 'sleep' | 'random' | 'record'> {
  readonly client: Pick<Client, 'renewLock' | 'releaseLock'>;
  /** By the clock of the service. */
  readonly serverNow: () => number;
  /** What was added to the ledger since the last call, or a part of it; throws when it is gone. */
  readonly follow: () => readonly Entry[];
  readonly isWorkerGone: () => boolean;
  /** Called once, if the first look has found locks to renew. */
  readonly onStart: () => void;
  /** Calls back at each change of the ledger, and now and then; returns what ends that. */
  readonly watch: (look: () => void) => () => void;
}

interface Renewing {
  readonly service: string;
  readonly workspace: string;
  readonly step: string;
  readonly ttl: Ttl;
  readonly requestTimeoutMs: number;
}

/** What came of renewing one lock. */
type RenewedLock =
  | { readonly kind: 'renewed'; readonly expiresAt: string }
  | { readonly kind: 'lost' }
  /** A step has begun to release it meanwhile. */
  | { readonly kind: 'released' }
  /** `answered`: the service has said so, and would say it again. */
  | { readonly kind: 'failed'; readonly reason: string; readonly answered: boolean };

const maxAgeMs = 5 * 24 * 3_600_000;

/** What is on its way when the job ends is waited for, so that no renewal comes after the release. */
const graceMs = 2_000;

/** A renewal after the end of a lock is asked for all the same: only its answer tells that the lock is lost. */
const minAttemptMs = 1_000;

const maxPauseMs = 5_000;
const never = new AbortController().signal;

/** Renews the locks that a step holds by the ledger, until the job is over or nothing is left to renew. */
export async function renewLocks(context: RenewalContext, renewing: Renewing): Promise<RenewalEndReason> {
  const { client, clock, sleep, random, record, serverNow, follow, isWorkerGone, onStart, watch } = context;
  const { service, workspace, step, ttl, requestTimeoutMs } = renewing;
  const job = { service, workspace, step };
  const ttlMs = ttl.seconds * 1_000;
  const began = clock();
  const history = openHistory();
  /** What is to be renewed, as of the last look between two rounds. */
  let left: readonly JobLock[] = [];
  let isOld = false;
  let inRound = false;
  let ledgerGone = false;
  const ending = new AbortController();
  const cutOff = new AbortController();
  let end: RenewalEndReason | undefined;
  /** When a lock that was asked for is asked for again, by the keys of the requests that were granted. */
  const dueAt = new Map<string, number>();
  let inTrouble = false;
  const at = (): string => new Date(serverNow()).toISOString();

  const canBeRenewed = ({ grant, releaseStarted, loss }: JobLock): boolean =>
    grant.step === step && !releaseStarted && loss === undefined && hasIdentity(grant.lock);

  function endReason(): RenewalEndReason | undefined {
    if (ledgerGone) return 'ledger-gone';
    if (history.hasStopped(step)) return 'stopped';
    if (isWorkerGone()) return 'worker-gone';
    if (left.length === 0) return 'nothing-left';
    return clock() - began > maxAgeMs ? 'too-old' : undefined;
  }

  function readNews(): void {
    try {
      for (let news = follow(); news.length > 0; news = follow()) {
        history.add(news);
        isOld = true;
      }
    } catch {
      ledgerGone = true;
    }
  }

  /** The lock as the ledger knows it now; undefined where it is not to be renewed any more. */
  function current({ grant }: JobLock): JobLock | undefined {
    const lock = history.find(grant);
    return lock !== undefined && canBeRenewed(lock) ? lock : undefined;
  }

  function look(): void {
    if (end !== undefined) return;
    readNews();
    // A round goes by what it finds, lock by lock.
    if (isOld && !inRound) {
      left = history.read().held.filter(canBeRenewed);
      isOld = false;
    }
    end = endReason();
    if (end === undefined) return;
    ending.abort();
    // Without a worker there is nobody to release anything: each renewal would only keep others waiting.
    if (end === 'worker-gone') cutOff.abort();
    else void sleep(graceMs, never).then(() => cutOff.abort());
  }

  const msLeft = (grant: Grant): number => Date.parse(grant.lock.expires_at) - serverNow();

  function msUntilDue({ grant }: JobLock): number {
    const due = dueAt.get(grant.key);
    if (due !== undefined) return due - clock();
    const lifetime = Date.parse(grant.lock.expires_at) - Date.parse(grant.at);
    return msLeft(grant) - lifetime * (1 - partOver(random));
  }

  function limitsOf(grant: Grant): CallLimits {
    const least = Math.max(minAttemptMs, Math.min(requestTimeoutMs, ttlMs / 3));
    // The pauses between attempts grow: the next round begins with short ones again, while there is time.
    const most = Math.min(msLeft(grant) - ttlMs / 20, ttlMs / 6);
    return { deadline: clock() + Math.max(least, most), signal: cutOff.signal };
  }

  function recordLoss({ key, path }: Grant, holder: Loss['holder']): RenewedLock {
    record({ kind: 'lost', ...job, path, key, at: at(), holder });
    return { kind: 'lost' };
  }

  async function renew(held: JobLock): Promise<RenewedLock> {
    const { grant } = held;
    const { workspace: id, path } = parsedAddress(grant);
    const { lock } = grant;
    const idempotencyKey = crypto.randomUUID();
    const request = { workspace: id, path, type: lock.type, ttl, idempotencyKey, proof: lock };
    const renewal = await client.renewLock(request, limitsOf(grant));
    if (renewal.kind === 'replaced') {
      // Our own lock had ended, or a step has released it in this moment: the new one is nobody's.
      await client.releaseLock({ workspace: id, path, proof: renewal.lock }, limitsOf(grant));
    }
    // A release that came in between explains the answer, and its line in the ledger must not be followed by a grant.
    readNews();
    if (current(held) === undefined) return { kind: 'released' };
    switch (renewal.kind) {
      case 'renewed': {
        const { etag, id: lockId, expires_at } = renewal.lock;
        const expiresAt = expires_at ?? new Date(serverNow() + ttlMs).toISOString();
        dueAt.set(grant.key, clock() + (Date.parse(expiresAt) - serverNow()) * partOver(random));
        if (etag !== lock.etag || lockId !== lock.id) {
          record({ ...grant, at: at(), lock: { ...lock, id: lockId, etag, expires_at: expiresAt } });
        }
        return { kind: 'renewed', expiresAt };
      }
      case 'lost':
        return recordLoss(grant, renewal.holder && nextHolder(renewal.holder));
      case 'replaced':
        return recordLoss(grant, undefined);
      case 'refused':
      case 'failed':
        return { kind: 'failed', reason: renewal.error.message, answered: renewal.kind === 'refused' };
    }
  }

  async function renewAll(): Promise<void> {
    const ends: string[] = [];
    const except: string[] = [];
    let trouble: string | undefined;
    inRound = true;
    await inParallel(
      left,
      async (one) => {
        const lock = current(one);
        // A step has released it since the round began.
        if (lock === undefined) return;
        const { key, path } = lock.grant;
        // Without an answer it is due at once. One refusal must not hurry the renewal of all others.
        dueAt.set(key, clock());
        const result = await renew(lock);
        if (result.kind === 'renewed') ends.push(result.expiresAt);
        else if (result.kind !== 'released') except.push(path);
        if (result.kind !== 'failed') return;
        trouble ??= result.reason;
        if (result.answered) dueAt.set(key, clock() + ttlMs * partOver(random));
      },
      () => !ending.signal.aborted,
    );
    inRound = false;
    const [first] = ends.toSorted();
    if (first !== undefined) {
      record({ kind: 'renewed', ...job, at: at(), expires_at: first, ...(except.length > 0 && { except }) });
    }
    // Once is enough, unless the line above says that all is well.
    if (trouble !== undefined && (!inTrouble || first !== undefined) && !ending.signal.aborted) {
      record({ kind: 'unrenewed', ...job, at: at(), reason: trouble });
    }
    inTrouble = trouble !== undefined;
  }

  /** So that those with a short lifetime, or with trouble, do not ask again and again without a pause. */
  const minPauseMs = (): number => Math.min(maxPauseMs, ttlMs / 20) * (0.5 + random() / 2);

  const stopWatching = watch(look);
  try {
    look();
    if (end === undefined) onStart();
    while (end === undefined) {
      const untilFirst = left.reduce((least, lock) => Math.min(least, msUntilDue(lock)), Number.POSITIVE_INFINITY);
      await sleep(Math.max(untilFirst, minPauseMs()), ending.signal);
      look();
      if (end === undefined) await renewAll();
      look();
    }
    return end;
  } finally {
    stopWatching();
  }
}

/** How long to wait for one answer: what a silent service takes of a lock's time is missing when it is back. */
export const attemptMs = (ttlMs: number): number => Math.max(minAttemptMs, ttlMs / 12);

/** When a lock is renewed next: a third of its lifetime is over, or a little less, so that not all come at once. */
const partOver = (random: () => number): number => 1 / 3 - random() / 12;

const nextHolder = ({ owner, origin, acquired_at, expires_at }: NonNullable<Loss['holder']>): Loss['holder'] => ({
  owner,
  origin,
  acquired_at,
  expires_at,
});
