import {
  type CallLimits,
  type Conflict,
  clockSlackMs,
  isTransient,
  type KnownLock,
  type QueueWait,
  type ServiceError,
} from '../client/client.ts';
import { formatDuration } from '../interface/duration.ts';
import type { LockPath } from '../interface/lock-path.ts';
import type { LockTerms } from './context.ts';
import { type Grant, type GrantedLock, grantedLock, type Intent, parsedTtl } from './ledger/entry.ts';
import { ownLockOf } from './ownership.ts';
import { type ReleaseContext, type ReleaseResult, releaseTarget } from './release.ts';

export type SessionAcquireResult =
  /** `grantedAt`: the earliest time at which it can have been granted, by the clock of this machine. */
  | { readonly kind: 'acquired'; readonly grant: Grant; readonly grantedAt: number }
  | ({ readonly kind: 'held' } & Conflict)
  | { readonly kind: 'failed'; readonly error: ServiceError }
  | {
      /** The lock may have been granted: repeat the request with the same intent. */
      readonly kind: 'unanswered';
      readonly error: ServiceError;
      /** The path is held: by someone else, or by this step through the unanswered request. */
      readonly conflict: Conflict | undefined;
    };

interface SessionContext extends ReleaseContext {
  /** The run URL; undefined outside a workflow. */
  readonly origin: string | undefined;
}

export type LockSession = ReturnType<typeof createLockSession>;

/** Acquires and releases single locks. Records each intent in the ledger before its request, and then the result. */
export function createLockSession(context: SessionContext) {
  const { client, clock, record, origin } = context;
  const startedAt = clock();
  /** The keys of this process, with the time at which each was first sent; undefined if it has not arrived. */
  const sentAt = new Map<string, number | undefined>();
  /** Grants, by key, whose release failed but may have been done: another job may already hold the path. */
  const maybeReleased = new Set<string>();
  let byService = false;
  const now = (): string => new Date(client.serverNow()).toISOString();

  /** Time of the first request, by the clock of the service; NaN if unknown. */
  function firstSentAt({ key, at, byService }: Intent): number {
    const here = sentAt.get(key);
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
    const first = sentAt.get(key) ?? clock();
    const ageMs = client.serverNow() - Date.parse(acquired_at ?? '');
    return Number.isNaN(ageMs) ? first : Math.max(first, clock() - Math.max(0, ageMs));
  }

  return {
    intend(path: LockPath, { service, workspace, step, type, ttl }: LockTerms): Intent {
      const key = `${step}/${sentAt.size + 1}`;
      const intent: Intent = {
        ...{ kind: 'intent', service, workspace, path, step, key, type },
        ...{ ttl: formatDuration(ttl), at: now(), byService },
      };
      sentAt.set(key, undefined);
      record(intent);
      return intent;
    },

    /** Requests the lock of an intent. An unanswered request can be repeated with the same intent. */
    async acquire(intent: Intent, within: CallLimits, line?: QueueWait): Promise<SessionAcquireResult> {
      const { service, workspace, path, step, key, type } = intent;
      // Another process may have sent the key of an intent in the ledger before.
      const isRepeated = !sentAt.has(key) || sentAt.get(key) !== undefined;
      if (!isRepeated) sentAt.set(key, clock());
      const acquisition = await client.acquireLock(
        {
          ...{ workspace, path, type, ttl: parsedTtl(intent), idempotencyKey: key, line },
          firstSentAt: isRepeated ? firstSentAt(intent) : undefined,
        },
        within,
      );
      byService ||= acquisition.kind === 'acquired' || acquisition.kind === 'held';
      const ended = { service, workspace, path, key };
      const entry = { ...ended, step };
      switch (acquisition.kind) {
        case 'acquired': {
          const lock = grantedLock(acquisition.lock);
          const waitedMs = Math.round(clock() - startedAt);
          const grant: Grant = { kind: 'granted', ...entry, waitedMs, lock, at: now() };
          record(grant);
          const waits = line !== undefined && line.seconds > 0;
          return { kind: 'acquired', grant, grantedAt: waits ? clock() : earliestGrant(key, lock) };
        }
        case 'held': {
          const { mayBeOurs, ...conflict } = acquisition;
          const { holder, error } = conflict;
          // A service without idempotency keys treats a repeated request as a new one, and refuses it because of the
          // first.
          if (mayBeOurs && canBeOurs(holder, intent)) return { kind: 'unanswered', error, conflict };
          record({ kind: 'ended', ...ended, at: now() });
          return conflict;
        }
        case 'unanswered':
          return { kind: 'unanswered', error: acquisition.error, conflict: undefined };
        case 'failed':
          // Repeated with the same intent, or an outage would fill the ledger.
          if (line !== undefined && isTransient(acquisition.error)) {
            sentAt.set(key, undefined);
            return { kind: 'unanswered', error: acquisition.error, conflict: undefined };
          }
          record({ kind: 'ended', ...ended, at: now() });
          return acquisition;
      }
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
      if (result.kind === 'failed' && result.mayBeDone) maybeReleased.add(grant.key);
      return result;
    },
  };
}
