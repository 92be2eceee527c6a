import {
  type CallLimits,
  type Conflict,
  clockSlackMs,
  type EndLeaseResult,
  isTransient,
  type KnownLock,
  type LeaseRequest,
  type PutLeaseResult,
  type QueueWait,
  type ServiceError,
  type WorkspaceId,
} from '../client/client.ts';
import { formatDuration } from '../interface/duration.ts';
import type { LockPath } from '../interface/lock-path.ts';
import type { Ttl } from '../interface/ttl.ts';
import { type Grant, type GrantedLock, grantedLock, type Intent, type LeaseIntent, parsedTtl } from './ledger/entry.ts';
import { ownLockOf } from './ownership.ts';
import { type ReleaseContext, type ReleaseResult, releaseTarget } from './release.ts';

export type SessionAcquireResult =
  | { readonly kind: 'acquired'; readonly grant: Grant }
  | ({ readonly kind: 'held' } & Conflict)
  | { readonly kind: 'failed'; readonly error: ServiceError }
  | {
      /** The lock may have been granted: repeat the request with the same intent. */
      readonly kind: 'unanswered';
      readonly error: ServiceError;
      /** The path is held: by someone else, or by this step through the unanswered request. */
      readonly conflict: Conflict | undefined;
    };

type SessionLeaseResult =
  | (Omit<Extract<PutLeaseResult, { kind: 'held' }>, 'locks' | 'isCompared'> & { readonly grants: readonly Grant[] })
  | Exclude<PutLeaseResult, { kind: 'held' }>;

export interface LockTerms {
  readonly service: string;
  readonly workspace: WorkspaceId;
  readonly type: string;
  readonly ttl: Ttl;
}

interface SessionContext extends ReleaseContext {
  readonly clock: () => number;
  /** The id of the step in the ledger. */
  readonly step: string;
  /** The run URL; undefined outside a workflow. */
  readonly origin: string | undefined;
}

export type LockSession = ReturnType<typeof createLockSession>;

/** Acquires and releases locks. Records each intent in the ledger before its request, and then the result. */
export function createLockSession(context: SessionContext) {
  const { client, clock, record, step, origin } = context;
  /** Times at which this process first requested a path or the lease, first used a key, and was granted a key. */
  const requestedAt = new Map<string, number>();
  const keyUsedAt = new Map<string, number>();
  const grantedAt = new Map<string, number>();
  /** Grants, by key, whose release failed but may have been done: another job may already hold the path. */
  const maybeReleased = new Set<string>();
  const unsent = new Set<Intent>();
  let intents = 0;
  let byService = false;
  const now = (): string => new Date(client.serverNow()).toISOString();

  const waitedMs = (what: string): number => Math.round(clock() - (requestedAt.get(what) ?? clock()));

  /** Time of the first request, by the clock of the service; NaN if unknown. */
  function firstSentAt({ key, at, byService }: Intent): number {
    const here = keyUsedAt.get(key);
    if (here !== undefined) return client.serverNow() - (clock() - here);
    return byService ? Date.parse(at) : Number.NaN;
  }

  /** Whether the current lock may be the result of our own request, by its origin and time. */
  function canBeOurs(holder: KnownLock | undefined, intent: Intent): boolean {
    if (holder?.origin !== undefined && origin !== undefined && holder.origin !== origin) return false;
    // The comparison is false if one of the times is unknown.
    return !(Date.parse(holder?.acquired_at ?? '') < firstSentAt(intent) - clockSlackMs);
  }

  /** A repeated request may return a lock that was granted to the first one. `acquired_at` shows whether it does. */
  function earliestGrant(key: string, { acquired_at }: GrantedLock): number {
    const first = keyUsedAt.get(key) ?? clock();
    const ageMs = client.serverNow() - Date.parse(acquired_at ?? '');
    return Number.isNaN(ageMs) ? first : Math.max(first, clock() - Math.max(0, ageMs));
  }

  return {
    /** The longest time for which the lock may have been held. */
    ageMs: ({ key }: Grant): number => clock() - (grantedAt.get(key) ?? clock()),

    intend(path: LockPath, { service, workspace, type, ttl }: LockTerms): Intent {
      intents += 1;
      // The part before the slash names the place in line.
      const key = `${step}/${intents}`;
      const terms = { type, ttl: formatDuration(ttl) };
      const intent: Intent = { kind: 'intent', service, workspace, path, step, key, ...terms, at: now(), byService };
      unsent.add(intent);
      record(intent);
      return intent;
    },

    /** Requests the lock of an intent. An unanswered request can be repeated with the same intent. */
    async acquire(intent: Intent, within: CallLimits, line?: QueueWait): Promise<SessionAcquireResult> {
      const { service, workspace, path, key, type } = intent;
      // Another process may have sent the key of an intent in the ledger before.
      const isRepeated = !unsent.delete(intent);
      if (!isRepeated) keyUsedAt.set(key, clock());
      if (!requestedAt.has(path)) requestedAt.set(path, clock());
      const acquisition = await client.acquireLock(
        {
          ...{ workspace, path, type, ttl: parsedTtl(intent), idempotencyKey: key, line },
          firstSentAt: isRepeated ? firstSentAt(intent) : undefined,
        },
        within,
      );
      byService ||= acquisition.kind === 'acquired' || acquisition.kind === 'held';
      const entry = { service, workspace, path, step, key };
      switch (acquisition.kind) {
        case 'acquired': {
          const lock = grantedLock(acquisition.lock);
          const isCompared = acquisition.isCompared || undefined;
          const grant: Grant = { kind: 'granted', ...entry, waitedMs: waitedMs(path), lock, isCompared, at: now() };
          const waits = line !== undefined && line.seconds > 0;
          grantedAt.set(key, waits ? clock() : earliestGrant(key, lock));
          record(grant);
          return { kind: 'acquired', grant };
        }
        case 'held': {
          const { mayBeOurs, ...conflict } = acquisition;
          const { holder, error } = conflict;
          // A service without idempotency keys treats a repeated request as a new one, and refuses it because of the
          // first.
          if (mayBeOurs && canBeOurs(holder, intent)) return { kind: 'unanswered', error, conflict };
          record({ kind: 'denied', ...entry, at: now() });
          return conflict;
        }
        case 'unanswered':
          return { kind: 'unanswered', error: acquisition.error, conflict: undefined };
        case 'failed':
          // Repeated with the same intent, or an outage would fill the ledger.
          if (line !== undefined && isTransient(acquisition.error)) {
            // The key has not arrived.
            unsent.add(intent);
            return { kind: 'unanswered', error: acquisition.error, conflict: undefined };
          }
          record({ kind: 'denied', ...entry, at: now() });
          return acquisition;
      }
    },

    /** Requests the lease of the step. It has the id of the step, which its post-step knows without a ledger, too. */
    async acquireLease(
      { path, from, count, wait }: Pick<LeaseRequest, 'path' | 'from' | 'count' | 'wait'>,
      { service, workspace, type, ttl }: LockTerms,
      within: CallLimits,
    ): Promise<SessionLeaseResult> {
      const job = { service, workspace, step };
      if (!requestedAt.has(step)) {
        requestedAt.set(step, clock());
        record({ kind: 'lease', ...job, lease: step, path, type, ttl: formatDuration(ttl), at: now() });
      }
      const put = await client.putLease({ workspace, lease: step, from, path, count, type, ttl, wait }, within);
      if (put.kind === 'unsupported') record({ kind: 'no-leases', service, at: now() });
      if (put.kind !== 'held') return put;
      const common = { waitedMs: waitedMs(step), isCompared: put.isCompared || undefined, at: now() };
      const grants = put.locks.map((lock): Grant => {
        const key = `${step}/${lock.path}`;
        grantedAt.set(key, clock());
        return { kind: 'granted', ...job, path: lock.path, key, lock: grantedLock(lock), ...common };
      });
      record(...grants);
      return { kind: 'held', grants, lost: put.lost };
    },

    /** The service has refused the lease: there is nothing to end. */
    recordRefusedLease({ service, workspace }: LockTerms): void {
      record({ kind: 'lease-ended', service, workspace, step, lease: step, at: now() });
    },

    /** Ends a lease, also one that would be granted later. May be repeated. */
    async endLease(
      { service, workspace, lease = step }: Pick<LeaseIntent, 'service' | 'workspace'> & { readonly lease?: string },
      within: CallLimits,
    ): Promise<EndLeaseResult> {
      const end = await client.endLease({ workspace, lease }, within);
      if (end.kind === 'ended') record({ kind: 'lease-ended', service, workspace, step, lease, at: now() });
      return end;
    },

    async release(
      grant: Grant,
      within: CallLimits,
      { mayBeReleased = false }: { readonly mayBeReleased?: boolean } = {},
    ): Promise<ReleaseResult> {
      const { service, workspace, path } = grant;
      const target = {
        kind: 'own',
        lock: ownLockOf(grant),
        mayBeReleased: mayBeReleased || maybeReleased.has(grant.key),
      } as const;
      const result = await releaseTarget(context, { service, workspace, path, target }, within);
      if (result.kind === 'unanswered' || (result.kind === 'failed' && result.mayBeDone)) maybeReleased.add(grant.key);
      return result;
    },
  };
}
