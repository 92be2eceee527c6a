import { type Client, inParallel, type KnownLock } from '../../client/client.ts';
import type { Ttl } from '../../interface/ttl.ts';
import type { LockContext } from '../context.ts';
import type { Grant, Loss } from '../ledger/entry.ts';
import type { JobLock } from '../ledger/history.ts';
import { type FollowContext, followLocks, type RenewalEndReason } from './follow-locks.ts';
import type { Lifetimes } from './lifetimes.ts';
import { createSchedule } from './schedule.ts';

interface RenewalContext extends FollowContext, Pick<LockContext, 'random' | 'record'> {
  readonly client: Pick<Client, 'renewLock' | 'releaseLock' | 'renewLease'>;
  readonly serverNow: () => number;
  /** Called once, if there are locks to renew at the start. */
  readonly onStart: () => void;
  /** Calls `look` at each change of the ledger, and periodically. Returns a function that stops that. */
  readonly watch: (look: () => void) => () => void;
}

interface Renewing {
  readonly service: string;
  readonly workspace: string;
  readonly step: string;
  readonly ttl: Ttl;
  readonly requestTimeoutMs: number;
  /** The locks at the start: the ledger may be gone. */
  readonly grants: readonly Grant[];
  readonly lifetimes: Lifetimes;
}

/** Renews the locks of a step according to the ledger, until the job ends or no lock is left. */
export async function renewLocks(context: RenewalContext, renewing: Renewing): Promise<RenewalEndReason> {
  const { sleep, onStart, watch } = context;
  const followed = followLocks(context, renewing.step, renewing.grants);
  const schedule = createSchedule(context, renewing.ttl, renewing.requestTimeoutMs, renewing.lifetimes);
  const renewRound = createRound(context, renewing, followed, schedule);
  const stopWatching = watch(followed.look);
  try {
    followed.look();
    if (followed.end() === undefined) onStart();
    for (;;) {
      const end = followed.end();
      if (end !== undefined) return end;
      const grants = followed.locks().map(({ grant }) => grant);
      await sleep(schedule.msUntilNextRound(grants), followed.ending);
      followed.look();
      if (followed.end() === undefined) await renewRound();
      followed.look();
    }
  } finally {
    stopWatching();
  }
}

type Followed = ReturnType<typeof followLocks>;
type Schedule = ReturnType<typeof createSchedule>;

/** Renews each lock once, and records the results in the ledger. */
function createRound(context: RenewalContext, renewing: Renewing, followed: Followed, schedule: Schedule) {
  const { record, serverNow } = context;
  const { service, workspace, step } = renewing;
  const job = { service, workspace, step };
  let isFailing = false;

  return async (): Promise<void> => {
    const expiries: string[] = [];
    const except: string[] = [];
    let failure: string | undefined;
    followed.setInRound(true);
    const byLease = Map.groupBy(followed.locks(), ({ grant }) => grant.lock.lease);
    for (const [lease, locks] of byLease) {
      if (lease === undefined || followed.ending.aborted) continue;
      const result = await renewLeaseOf(context, renewing, followed, schedule, { lease, locks });
      if (result.expiresAt !== undefined) expiries.push(result.expiresAt);
      except.push(...result.except);
      failure ??= result.failure;
    }
    await inParallel(
      byLease.get(undefined) ?? [],
      async (one) => {
        const lock = followed.current(one);
        // A step has released the lock since the round started.
        if (lock === undefined) return;
        schedule.dueNow(lock.grant);
        const result = await renewOne(context, renewing, followed, schedule, lock);
        if (result.kind === 'renewed') expiries.push(result.expiresAt);
        else if (result.kind !== 'released') except.push(lock.grant.path);
        if (result.kind !== 'failed') return;
        failure ??= result.reason;
        if (result.answered) schedule.dueLater(lock.grant);
      },
      () => !followed.ending.aborted,
    );
    followed.setInRound(false);
    const at = new Date(serverNow()).toISOString();
    const [first] = expiries.toSorted();
    if (first !== undefined) {
      record({ kind: 'renewed', ...job, at, expires_at: first, ...(except.length > 0 && { except }) });
    }
    // Recorded once, and again after a `renewed` line, which supersedes it.
    if (failure !== undefined && (!isFailing || first !== undefined) && !followed.ending.aborted) {
      record({ kind: 'unrenewed', ...job, at, reason: failure });
    }
    isFailing = failure !== undefined;
  };
}

interface RenewedLease {
  readonly expiresAt?: string;
  /** The paths that were not renewed. */
  readonly except: readonly string[];
  readonly failure?: string;
}

/** Renews all locks of a lease with one request. */
async function renewLeaseOf(
  { client, record, serverNow }: RenewalContext,
  { ttl, lifetimes }: Renewing,
  followed: Followed,
  schedule: Schedule,
  { lease, locks }: { readonly lease: string; readonly locks: readonly JobLock[] },
): Promise<RenewedLease> {
  const held = locks.flatMap((lock) => followed.current(lock) ?? []);
  const [first] = held;
  if (first === undefined) return { except: [] };
  for (const { grant } of held) schedule.dueNow(grant);
  const { workspace } = first.grant;
  const limits = { deadline: schedule.deadlineOf(first.grant), signal: followed.cutOff };
  const renewal = await client.renewLease({ workspace, lease }, ttl, limits);
  followed.readNewEntries();
  const still = held.flatMap((lock) => followed.current(lock) ?? []);
  if (renewal.kind === 'refused' || renewal.kind === 'failed') {
    if (renewal.kind === 'refused') for (const { grant } of still) schedule.dueLater(grant);
    return { except: still.map(({ grant }) => grant.path), failure: renewal.error.message };
  }
  const lost = new Map(renewal.lost.map((one) => [one.path, one]));
  const isLost = ({ grant }: JobLock): boolean => renewal.kind === 'ended' || lost.has(grant.path);
  for (const { grant } of still.filter(isLost)) {
    record(lossOf(grant, lost.get(grant.path)?.holder, serverNow()));
  }
  const except = still.filter(isLost).map(({ grant }) => grant.path);
  if (renewal.kind === 'ended') return { except };
  for (const { grant } of still.filter((lock) => !isLost(lock))) {
    lifetimes.renewed(grant, renewal.expiresAt);
    schedule.dueLater(grant);
  }
  return { except, expiresAt: renewal.expiresAt };
}

type RenewedLock =
  | { readonly kind: 'renewed'; readonly expiresAt: string }
  | { readonly kind: 'lost' }
  /** A step has started to release the lock meanwhile. */
  | { readonly kind: 'released' }
  /** `answered`: the service refused, and would refuse again. */
  | { readonly kind: 'failed'; readonly reason: string; readonly answered: boolean };

async function renewOne(
  { client, record, serverNow }: RenewalContext,
  { ttl, lifetimes }: Renewing,
  followed: Followed,
  schedule: Schedule,
  held: JobLock,
): Promise<RenewedLock> {
  const { grant } = held;
  const { workspace, path, lock } = grant;
  const limits = () => ({ deadline: schedule.deadlineOf(grant), signal: followed.cutOff });
  function lost(holder?: KnownLock): RenewedLock {
    record(lossOf(grant, holder, serverNow()));
    return { kind: 'lost' };
  }

  const idempotencyKey = crypto.randomUUID();
  const request = { workspace, path, type: lock.type, ttl, idempotencyKey, proof: lock };
  const renewal = await client.renewLock(request, limits());
  if (renewal.kind === 'replaced') {
    // Our own lock had expired, or a step has just released it: nothing uses the new lock.
    await client.releaseLock({ workspace, path, proof: renewal.lock }, limits());
  }
  // A release meanwhile explains the response, and its line in the ledger must not be followed by a grant.
  followed.readNewEntries();
  if (followed.current(held) === undefined) return { kind: 'released' };
  switch (renewal.kind) {
    case 'renewed': {
      const { etag, id: lockId, expires_at: expiresAt } = renewal.lock;
      lifetimes.renewed(grant, expiresAt);
      schedule.dueLater(grant);
      if (etag !== lock.etag || lockId !== lock.id) {
        const at = new Date(serverNow()).toISOString();
        record({ ...grant, at, lock: { ...lock, id: lockId, etag, expires_at: expiresAt } });
      }
      return { kind: 'renewed', expiresAt };
    }
    case 'lost':
      return lost(renewal.holder);
    case 'replaced':
      return lost();
    case 'refused':
    case 'failed':
      return { kind: 'failed', reason: renewal.error.message, answered: renewal.kind === 'refused' };
  }
}

/** The line for a lock that could not be renewed, with its new holder if the service names one. */
export function lossOf(
  { service, workspace, step, path, key }: Grant,
  holder: KnownLock | undefined,
  now: number,
): Loss {
  const { owner, origin, acquired_at, expires_at } = holder ?? {};
  return {
    kind: 'lost',
    ...{ service, workspace, step, path, key, at: new Date(now).toISOString() },
    holder: holder && { owner, origin, acquired_at, expires_at },
  };
}
