import type { Client, Within } from '../../client/client.ts';
import type { Ttl } from '../../interface/ttl.ts';
import type { Context } from '../context.ts';
import { type Entry, type Grant, type Loss, parsedAddress } from '../ledger/entry.ts';
import { type HeldLock, openHistory } from '../ledger/history.ts';
import { inParallel } from '../locks/in-parallel.ts';
import { isProven } from '../locks/release.ts';

/** Why locks are not renewed any more. */
export type EndOfRenewal = 'stopped' | 'nothing-left' | 'worker-gone' | 'ledger-gone' | 'too-old';

interface RenewalContext extends Pick<Context, 'clock' | 'sleep' | 'random' | 'record'> {
  readonly client: Pick<Client, 'renewLock' | 'releaseLock'>;
  /** By the clock of the service. */
  readonly serverNow: () => number;
  /** What was added to the ledger since the last call; throws when it is gone. */
  readonly follow: () => readonly Entry[];
  readonly isWorkerGone: () => boolean;
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
  | { readonly kind: 'failed'; readonly why: string };

const maxAgeMs = 5 * 24 * 3_600_000;

/** What is on its way when the job ends is waited for, so that no renewal comes after the release. */
const graceMs = 2_000;

/** A renewal after the end of a lock is asked for all the same: only its answer tells that the lock is lost. */
const minAttemptMs = 1_000;

const maxPauseMs = 5_000;

/** When a lock is renewed next: a third of its lifetime is over, or a little less, so that not all come at once. */
const partLeft = (random: () => number): number => 2 / 3 + random() / 12;

const never = new AbortController().signal;

const nextHolder = ({ owner, origin, acquired_at, expires_at }: NonNullable<Loss['holder']>): Loss['holder'] => ({
  owner,
  origin,
  acquired_at,
  expires_at,
});

/** Renews the locks that a step holds by the ledger, until the job is over or nothing is left to renew. */
export async function renewLocks(context: RenewalContext, renewing: Renewing): Promise<EndOfRenewal> {
  const { client, clock, sleep, random, record, serverNow, follow, isWorkerGone, watch } = context;
  const { service, workspace, step, ttl, requestTimeoutMs } = renewing;
  const job = { service, workspace, step };
  const ttlMs = ttl.seconds * 1_000;
  const began = clock();
  const history = openHistory();
  /** What is to be renewed, by the keys of the requests that were granted. */
  let left: ReadonlyMap<string, HeldLock> = new Map();
  let stopped = false;
  let ledgerGone = false;
  const ending = new AbortController();
  const cutOff = new AbortController();
  let end: EndOfRenewal | undefined;
  /** By key, when a lock that was renewed ends, and how long it lives: a service may grant less than was asked for. */
  const renewals = new Map<string, { readonly endsAt: number; readonly lifetimeMs: number }>();
  let inTrouble = false;
  const at = (): string => new Date(serverNow()).toISOString();

  const canBeRenewed = ({ grant, releaseBegun, loss }: HeldLock): boolean =>
    grant.step === step && !releaseBegun && loss === undefined && isProven(grant.lock);

  function whyToEnd(): EndOfRenewal | undefined {
    if (ledgerGone) return 'ledger-gone';
    if (stopped) return 'stopped';
    if (isWorkerGone()) return 'worker-gone';
    if (left.size === 0) return 'nothing-left';
    return clock() - began > maxAgeMs ? 'too-old' : undefined;
  }

  function look(): void {
    if (end !== undefined) return;
    try {
      // What this process has written itself changes nothing of what is left: with thousands of locks, to look for it
      // each time would be most of its work.
      const news = follow().filter(({ kind }) => kind !== 'renewed' && kind !== 'unrenewed');
      if (news.length > 0) {
        history.add(news);
        const { held, stopped: steps } = history.read();
        left = new Map(held.filter(canBeRenewed).map((lock) => [lock.grant.key, lock]));
        stopped = steps.has(step);
      }
    } catch {
      ledgerGone = true;
    }
    end = whyToEnd();
    if (end === undefined) return;
    ending.abort();
    // Without a worker there is nobody to release anything: each renewal would only keep others waiting.
    if (end === 'worker-gone') cutOff.abort();
    else void sleep(graceMs, never).then(() => cutOff.abort());
  }

  const msLeft = ({ key, lock }: Grant): number =>
    (renewals.get(key)?.endsAt ?? Date.parse(lock.expires_at)) - serverNow();

  const lifetimeOf = ({ key, lock, at: grantedAt }: Grant): number =>
    renewals.get(key)?.lifetimeMs ?? Date.parse(lock.expires_at) - Date.parse(grantedAt);

  function limitsOf(grant: Grant): Within {
    const least = Math.max(minAttemptMs, Math.min(requestTimeoutMs, ttlMs / 3));
    return { deadline: clock() + Math.max(least, msLeft(grant) - ttlMs / 20), signal: cutOff.signal };
  }

  async function renew({ grant }: HeldLock): Promise<RenewedLock> {
    const { workspace: id, path } = parsedAddress(grant);
    const { lock } = grant;
    const idempotencyKey = crypto.randomUUID();
    const request = { workspace: id, path, type: lock.type, ttl, idempotencyKey, proof: lock };
    const renewal = await client.renewLock(request, limitsOf(grant));
    switch (renewal.kind) {
      case 'renewed': {
        const { etag, id: lockId, expires_at } = renewal.lock;
        const expiresAt = expires_at ?? new Date(serverNow() + ttlMs).toISOString();
        const endsAt = Date.parse(expiresAt);
        renewals.set(grant.key, { endsAt, lifetimeMs: endsAt - serverNow() });
        if (etag !== lock.etag || lockId !== lock.id) {
          record({ ...grant, at: at(), lock: { ...lock, id: lockId, etag, expires_at: expiresAt } });
        }
        return { kind: 'renewed', expiresAt };
      }
      case 'lost': {
        const holder = renewal.holder && nextHolder(renewal.holder);
        record({ kind: 'lost', ...job, path, key: grant.key, at: at(), holder });
        return { kind: 'lost' };
      }
      case 'replaced':
        // Our own lock had ended, or a step has released it in this moment: the new one is nobody's.
        await client.releaseLock({ workspace: id, path, proof: renewal.lock }, limitsOf(grant));
        return {
          kind: 'failed',
          why: `The service has granted another lock on ${path} instead of renewing the one that was there.`,
        };
      case 'refused':
      case 'failed':
        return { kind: 'failed', why: renewal.error.message };
    }
  }

  async function renewAll(): Promise<void> {
    const ends: string[] = [];
    const except: string[] = [];
    let trouble: string | undefined;
    await inParallel(
      [...left.values()],
      async ({ grant: { key, path } }) => {
        const lock = left.get(key);
        // A step has released it since the round began.
        if (lock === undefined) return;
        const result = await renew(lock);
        if (result.kind === 'renewed') ends.push(result.expiresAt);
        else except.push(path);
        if (result.kind === 'failed') trouble ??= result.why;
      },
      () => !ending.signal.aborted,
    );
    const [first] = ends.toSorted();
    if (first !== undefined) {
      record({ kind: 'renewed', ...job, at: at(), expires_at: first, ...(except.length > 0 && { except }) });
    }
    // Once is enough, unless the line above says that all is well.
    if (trouble !== undefined && (!inTrouble || first !== undefined) && !ending.signal.aborted) {
      record({ kind: 'unrenewed', ...job, at: at(), why: trouble });
    }
    inTrouble = trouble !== undefined;
  }

  /** So that those with a short lifetime, or with trouble, do not ask again and again without a pause. */
  const minPauseMs = (): number => {
    const most = inTrouble ? Math.min(maxPauseMs, ttlMs / 10) : Math.min(maxPauseMs, ttlMs / 20);
    return most * (0.5 + random() / 2);
  };

  const stopWatching = watch(look);
  try {
    look();
    while (end === undefined) {
      const part = partLeft(random);
      const waits = [...left.values()].map(({ grant }) => msLeft(grant) - lifetimeOf(grant) * part);
      await sleep(Math.max(Math.min(...waits), minPauseMs()), ending.signal);
      look();
      if (end === undefined) await renewAll();
      look();
    }
    return end;
  } finally {
    stopWatching();
  }
}
