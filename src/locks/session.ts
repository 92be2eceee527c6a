import {
  type CallLimits,
  type Conflict,
  clockSlackMs,
  type EndLeaseResult,
  isTransient,
  type KnownLock,
  type QueueWait,
  type ServiceError,
  type WorkspaceId,
} from '../client/client.ts';
import { formatDuration } from '../interface/duration.ts';
import type { LockPath } from '../interface/lock-path.ts';
import type { Ttl } from '../interface/ttl.ts';
import { type Grant, grantedLock, type Intent, type LeaseIntent, parsedTtl } from './ledger/entry.ts';
import { ownLockOf } from './ownership.ts';
import { type ReleaseContext, type ReleaseResult, releaseTarget } from './release.ts';

export type SessionAcquireResult =
  | { readonly kind: 'acquired'; readonly grant: Grant }
  | ({ readonly kind: 'held' } & Conflict)
  | { readonly kind: 'failed'; readonly error: ServiceError }
  | {
      /** The lock may have been granted: repeat the request with the same intent. */
      readonly kind: 'unanswered';
      readonly intent: Intent;
      readonly error: ServiceError;
      /** The path is held: by someone else, or by this step through the unanswered request. */
      readonly conflict: Conflict | undefined;
    };

export interface LockTerms {
  readonly service: string;
  readonly workspace: WorkspaceId;
  readonly type: string;
  readonly ttl: Ttl;
}

interface SessionContext extends ReleaseContext {
  /** The id of the step in the ledger. */
  readonly step: string;
  /** The run URL; undefined outside a workflow. */
  readonly origin: string | undefined;
}

export type LockSession = ReturnType<typeof createLockSession>;

/** Acquires and releases single locks. Records each intent in the ledger before its request, and then the result. */
export function createLockSession(context: SessionContext) {
  const { client, clock, record, step, origin } = context;
  /** Times at which this process first requested a path, and first used a key. */
  const pathRequestedAt = new Map<string, number>();
  const keyUsedAt = new Map<string, number>();
  /** Times at which grants arrived, by key. */
  const grantedAt = new Map<string, number>();
  const unsent = new Set<Intent>();
  /** Grants, by key, whose release failed but may have been done: another job may already hold the path. */
  const maybeReleased = new Set<string>();
  /** The lock that blocked the last request for each path, by id. */
  const heldBy = new Map<string, string>();
  let intents = 0;
  let serviceAnswered = false;
  const now = (): string => new Date(client.serverNow()).toISOString();

  /** Time of the request, by the clock of the service; NaN if unknown. */
  function requestedAt({ key, at, byService }: Intent): number {
    const here = keyUsedAt.get(key);
    if (here !== undefined) return client.serverNow() - (clock() - here);
    return byService ? Date.parse(at) : Number.NaN;
  }

  /** Whether the current lock may be the result of our own request, by its origin and time. */
  function canBeOurs(holder: KnownLock | undefined, intent: Intent): boolean {
    if (holder?.id !== undefined && holder.id === intent.heldBy) return false;
    if (holder?.origin !== undefined && origin !== undefined && holder.origin !== origin) return false;
    // The comparison is false if one of the times is unknown.
    return !(Date.parse(holder?.acquired_at ?? '') < requestedAt(intent) - clockSlackMs);
  }

  return {
    /** Time since the response that granted the lock. */
    ageMs: ({ key }: Grant): number => clock() - (grantedAt.get(key) ?? clock()),

    intend(path: LockPath, { service, workspace, type, ttl }: LockTerms): Intent {
      intents += 1;
      const intent: Intent = {
        kind: 'intent',
        service,
        workspace,
        path,
        step,
        // The part before the slash names the place in line.
        key: `${step}/${intents}`,
        type,
        ttl: formatDuration(ttl),
        at: now(),
        byService: serviceAnswered,
        heldBy: heldBy.get(path),
      };
      unsent.add(intent);
      record(intent);
      return intent;
    },

    /**
     * Requests the lock of an intent. An unanswered request can be repeated with the same intent.
     */
    async acquire(intent: Intent, within: CallLimits, line?: QueueWait): Promise<SessionAcquireResult> {
      const { service, workspace, path, key, type } = intent;
      const ttl = parsedTtl(intent);
      const keySentBefore = !unsent.delete(intent);
      if (!pathRequestedAt.has(path)) pathRequestedAt.set(path, clock());
      if (!keySentBefore) keyUsedAt.set(key, clock());
      const firstSentAt = keySentBefore ? requestedAt(intent) : undefined;
      const acquisition = await client.acquireLock(
        { workspace, path, type, ttl, idempotencyKey: key, line, firstSentAt },
        within,
      );
      const entry = { service, workspace, path, step, key };
      switch (acquisition.kind) {
        case 'acquired': {
          const lock = grantedLock(acquisition.lock);
          const waitedMs = Math.round(clock() - (pathRequestedAt.get(path) ?? clock()));
          const isCompared = acquisition.isCompared || undefined;
          const grant: Grant = { kind: 'granted', ...entry, waitedMs, lock, isCompared, at: now() };
          // A repeated request may return a lock that was granted to the first one.
          const waits = line !== undefined && line.seconds > 0;
          grantedAt.set(key, waits ? clock() : (keyUsedAt.get(key) ?? clock()));
          record(grant);
          serviceAnswered = true;
          return { kind: 'acquired', grant };
        }
        case 'held': {
          const { kind, mayBeOurs, ...conflict } = acquisition;
          const { holder, error } = conflict;
          // A service without idempotency keys treats a repeated request as a new one, and refuses it because of the
          // first.
          if (mayBeOurs && canBeOurs(holder, intent)) return { kind: 'unanswered', intent, error, conflict };
          if (holder?.id !== undefined) heldBy.set(path, holder.id);
          record({ kind: 'denied', ...entry, at: now() });
          serviceAnswered = true;
          return { kind, ...conflict };
        }
        case 'unanswered':
          return { kind: 'unanswered', intent, error: acquisition.error, conflict: undefined };
        case 'failed':
          // Repeated with the same intent, or an outage would fill the ledger.
          if (line !== undefined && line.seconds > 0 && isTransient(acquisition.error)) {
            return { kind: 'unanswered', intent, error: acquisition.error, conflict: undefined };
          }
          record({ kind: 'denied', ...entry, at: now() });
          return { kind: 'failed', error: acquisition.error };
      }
    },

    /** Counts the age of the locks of a lease from now on. */
    noteGrants(grants: readonly Grant[]): void {
      for (const { key } of grants) grantedAt.set(key, clock());
    },

    /** Ends a lease, also one that would be granted later. May be repeated. */
    async endLease(
      { service, workspace, lease }: Pick<LeaseIntent, 'service' | 'workspace' | 'lease'>,
      within: CallLimits,
    ): Promise<EndLeaseResult> {
      const end = await client.endLease({ workspace, lease }, within);
      if (end.kind === 'ended') record({ kind: 'lease-ended', service, workspace, step, lease, at: now() });
      return end;
    },

    /** With `attempts: 'once'`, a failed release is not tried again, because the caller does that. */
    async release(
      grant: Grant,
      within: CallLimits,
      { mayBeReleased = false, attempts }: { readonly mayBeReleased?: boolean; readonly attempts?: 'once' } = {},
    ): Promise<ReleaseResult> {
      const { service, workspace, path } = grant;
      const target = {
        kind: 'own',
        lock: ownLockOf(grant),
        mayBeReleased: mayBeReleased || maybeReleased.has(grant.key),
      } as const;
      const result = await releaseTarget(context, { service, workspace, path, target, attempts }, within);
      if (result.kind === 'unanswered' || (result.kind === 'failed' && result.mayBeDone)) maybeReleased.add(grant.key);
      return result;
    },
  };
}
