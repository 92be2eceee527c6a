import type { WorkspaceId } from '../../client/access.ts';
import type { Client } from '../../client/client.ts';
import { inParallel } from '../../client/in-parallel.ts';
import { type AcquiredLock, conditionOf, type KnownLock } from '../../client/known-lock.ts';
import type { CallLimits } from '../../client/request.ts';
import type { Ttl } from '../../interface/duration.ts';
import type { LockContext } from '../context.ts';
import type { Entry, Grant, Loss } from '../ledger/entry.ts';
import { type JobLock, openHistory } from '../ledger/history.ts';
import type { Schedule } from './schedule.ts';

/** The locks of a step, and what their renewal needs. */
interface LocksToRenew extends Pick<LockContext, 'clock' | 'sleep' | 'record'> {
  readonly client: Pick<Client, 'renewLock' | 'releaseLock' | 'renewLease' | 'serverNow'>;
  /** Returns some or all of the lines added to the ledger since the last call. */
  readonly follow: () => readonly Entry[];
  readonly isWorkerGone: () => boolean;
  /** Called once, if there are locks to renew at the start. */
  readonly onStart: () => void;
  /** Calls `look` at each change of the ledger, and periodically. Returns a function that stops that. */
  readonly watch: (look: () => void) => () => void;
  readonly service: string;
  readonly workspace: WorkspaceId;
  readonly step: string;
  readonly ttl: Ttl;
  /** The locks at the start: the ledger may be gone. */
  readonly grants: readonly Grant[];
  readonly schedule: Schedule;
}

/** Renews the locks of a step according to the ledger, until the job ends or no lock is left. */
export async function renewLocks(locks: LocksToRenew): Promise<RenewalEndReason> {
  const { sleep, onStart, watch, schedule } = locks;
  const followed = followLocks(locks);
  const renewRound = createRound({ ...locks, followed });
  const stopWatching = watch(followed.look);
  try {
    followed.look();
    if (followed.end() === undefined) onStart();
    for (;;) {
      const end = followed.end();
      if (end !== undefined) return end;
      await sleep(schedule.msUntilNextRound(followed.grants()), followed.ending);
      followed.look();
      if (followed.end() === undefined) await renewRound();
      followed.look();
    }
  } finally {
    stopWatching();
  }
}

export type RenewalEndReason = 'stopped' | 'nothing-left' | 'worker-gone' | 'too-old';

const maxAgeMs = 5 * 24 * 3_600_000;

/** Time limit of pending requests at the end of the job, so that no renewal follows the release. */
const graceMs = 2_000;

/** Tracks the locks of a step that must be renewed, according to the ledger, and the end of the renewal. */
function followLocks({ clock, sleep, follow, isWorkerGone, step, grants }: LocksToRenew) {
  const startedAt = clock();
  const history = openHistory();
  history.add(grants);
  const ending = new AbortController();
  const cutOff = new AbortController();
  let end: RenewalEndReason | undefined;

  const canBeRenewed = ({ grant, mayBeReleased, loss }: JobLock): boolean =>
    grant.step === step && !mayBeReleased && loss === undefined && conditionOf(grant.lock) !== undefined;

  function readNewEntries(): void {
    try {
      for (let entries = follow(); entries.length > 0; entries = follow()) history.add(entries);
    } catch {
      // A ledger that cannot be read now may be readable at the next look. Until then, the known locks are renewed.
    }
  }

  function endReason(): RenewalEndReason | undefined {
    if (history.hasEnded(step)) return 'stopped';
    if (isWorkerGone()) return 'worker-gone';
    if (!history.locks().some(canBeRenewed)) return 'nothing-left';
    return clock() - startedAt > maxAgeMs ? 'too-old' : undefined;
  }

  return {
    /** Aborted when no more renewals may start. */
    ending: ending.signal,
    /** Aborted when pending requests must end as well. */
    cutOff: cutOff.signal,
    grants: (): readonly Grant[] =>
      history
        .locks()
        .filter(canBeRenewed)
        .map(({ grant }) => grant)
        .toArray(),
    end: () => end,
    readNewEntries,
    /** Whether the lock must still be renewed, according to the ledger. */
    isHeld(grant: Grant): boolean {
      const lock = history.find(grant);
      return lock !== undefined && canBeRenewed(lock);
    },
    look(): void {
      // Without locks, pending requests may still have to release one. They end with the job.
      if (end !== undefined && end !== 'nothing-left') return;
      readNewEntries();
      end = endReason() ?? end;
      if (end === undefined) return;
      ending.abort();
      // Without a worker, nothing releases the locks: each renewal would only keep others waiting.
      if (end === 'worker-gone') cutOff.abort();
      else if (end !== 'nothing-left') void sleep(graceMs).then(() => cutOff.abort());
    },
  };
}

interface Round extends LocksToRenew {
  readonly followed: ReturnType<typeof followLocks>;
}

/** The result of one request for a lock, or for all locks of a lease. */
interface Renewed {
  readonly expiresAt?: string;
  /** The paths that were not renewed. */
  readonly except?: readonly string[];
  readonly failure?: string;
  /** The request had no response that counts. */
  readonly isUnanswered?: boolean;
}

/** Renews each lock once, and records the results in the ledger. */
function createRound(round: Round) {
  const { client, clock, record, service, workspace, step, followed, schedule } = round;
  const job = { service, workspace, step };
  let isFailing = false;

  return async (): Promise<void> => {
    const startedAt = clock();
    const grants = followed.grants();
    const results: Renewed[] = [];
    await inParallel(
      [...Map.groupBy(grants, ({ lock, key }) => lock.lease ?? key).values()],
      async (group) => void results.push(await renewTogether(round, group)),
      () => !followed.ending.aborted,
    );
    schedule.roundEnded(startedAt, grants, !results.some(({ isUnanswered }) => isUnanswered));
    const except = results.flatMap((result) => result.except ?? []);
    const failure = results.find((result) => result.failure !== undefined)?.failure;
    const at = new Date(client.serverNow()).toISOString();
    const [first] = results.flatMap(({ expiresAt }) => expiresAt ?? []).toSorted();
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

/** Renews a lock, or all locks of a lease, with one request. */
async function renewTogether(round: Round, grants: readonly Grant[]): Promise<Renewed> {
  const { client, record, workspace, ttl, followed, schedule } = round;
  const first = grants.find(followed.isHeld);
  // A step has released the locks since the round started.
  if (first === undefined) return {};
  const { lease } = first.lock;
  const limits = () => ({ deadline: Math.min(...grants.map(schedule.deadlineOf)), signal: followed.cutOff });
  const renewal: Renewal =
    lease === undefined
      ? await renewOne(round, first, limits)
      : await client.renewLease({ workspace, lease }, ttl, limits());
  // A release meanwhile explains the response, and its line in the ledger must not be followed by a grant.
  followed.readNewEntries();
  const held = grants.filter(followed.isHeld);
  if (renewal.kind === 'refused' || renewal.kind === 'failed') {
    if (held.length === 0) return {};
    const isUnanswered = renewal.kind === 'failed';
    return { except: held.map(({ path }) => path), failure: renewal.error.message, isUnanswered };
  }
  const losses = new Map(renewal.lost.map((one) => [one.path, one]));
  const { lost = [], kept = [] } = Object.groupBy(held, ({ path }) =>
    renewal.kind === 'ended' || losses.has(path) ? 'lost' : 'kept',
  );
  for (const grant of lost) record(lossOf(grant, losses.get(grant.path)?.holder, client.serverNow()));
  const except = lost.map(({ path }) => path);
  if (renewal.kind === 'ended' || kept.length === 0) return { except };
  const { expiresAt, renewed } = renewal;
  for (const grant of kept) {
    schedule.renewed(grant, expiresAt);
    const { id, etag } = renewed ?? grant.lock;
    if (id === grant.lock.id && etag === grant.lock.etag) continue;
    const at = new Date(client.serverNow()).toISOString();
    record({ ...grant, at, lock: { ...grant.lock, id, etag, expires_at: expiresAt } });
  }
  return { except, expiresAt };
}

/** `renewed`: a lock on its own, whose ETag the renewal may have changed. */
type Renewal = Awaited<ReturnType<Client['renewLease']>> & { readonly renewed?: AcquiredLock };

async function renewOne(
  { client, ttl }: Round,
  { workspace, path, lock }: Grant,
  limits: () => CallLimits,
): Promise<Renewal> {
  const idempotencyKey = crypto.randomUUID();
  const request = { workspace, path, type: lock.type, ttl, idempotencyKey, proof: lock };
  const renewal = await client.renewLock(request, limits());
  switch (renewal.kind) {
    case 'renewed':
      return { kind: 'renewed', expiresAt: renewal.lock.expires_at, lost: [], renewed: renewal.lock };
    case 'lost':
      return { kind: 'ended', lost: [{ path, reason: undefined, holder: renewal.holder }] };
    case 'replaced':
      // Our own lock had expired, or a step has just released it: nothing uses the new lock.
      await client.releaseLock({ workspace, path, proof: renewal.lock }, limits());
      return { kind: 'ended', lost: [] };
    case 'refused':
    case 'failed':
      return renewal;
  }
}

/** The line for a lock that could not be renewed, with its new holder if the service names one. */
function lossOf({ service, workspace, step, path, key }: Grant, holder: KnownLock | undefined, now: number): Loss {
  const { owner, origin, acquired_at, expires_at } = holder ?? {};
  return {
    kind: 'lost',
    ...{ service, workspace, step, path, key, at: new Date(now).toISOString() },
    holder: holder && { owner, origin, acquired_at, expires_at },
  };
}
