import type { KnownLock, Release, ServiceError, TakenLock, Within, WorkspaceId } from '../../client/client.ts';
import { formatDuration } from '../../interface/duration.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { Ttl } from '../../interface/ttl.ts';
import type { Entry, Grant, GrantedLock, Intent } from '../ledger/entry.ts';
import type { Parts } from '../operations/parts.ts';

export interface Holding {
  readonly path: LockPath;
  /** Undefined where the service does not say. */
  readonly holder: KnownLock | undefined;
  readonly retryAfterMs: number | undefined;
  readonly error: ServiceError;
}

/** What came of asking for one lock. */
export type Taking =
  | { readonly kind: 'taken'; readonly grant: Grant }
  | ({ readonly kind: 'held' } & Holding)
  | { readonly kind: 'failed'; readonly error: ServiceError }
  /** It may have been granted. The intent is what it can be asked about with. */
  | { readonly kind: 'unclear'; readonly intent: Intent; readonly error: ServiceError };

/** What all locks of a step have in common. */
export interface LockTerms {
  readonly workspace: WorkspaceId;
  readonly type: string;
  readonly ttl: Ttl;
  readonly autoRelease: boolean;
}

export type KeeperParts = Pick<Parts, 'client' | 'ledger' | 'log' | 'step' | 'origin' | 'announce'>;

/** Takes and gives back locks one by one, and keeps the ledger: intent before action, and then what came of it. */
export interface Keeper {
  take(path: LockPath, within: Within): Promise<Taking>;
  /** Asks again, with the key of before, what became of a request whose answer was lost. */
  askAgain(intent: Intent, within: Within): Promise<Taking>;
  giveBack(grant: Grant, within: Within): Promise<Release>;
}

const grantedLock = (
  { path, type, id, etag, owner, acquired_at, expires_at }: TakenLock,
  ttl: Ttl,
  now: number,
): GrantedLock => ({
  path,
  type,
  id,
  etag,
  owner,
  acquired_at,
  expires_at: expires_at ?? new Date(now + ttl.seconds * 1_000).toISOString(),
});

export function createKeeper(
  parts: KeeperParts,
  service: string,
  { workspace, type, ttl, autoRelease }: LockTerms,
): Keeper {
  const { client, step, origin } = parts;
  const record = createRecorder(parts);
  let announced = false;
  const now = (): string => new Date(client.serverNow()).toISOString();

  /** Every request of this run names it; so does the lock, where the service keeps that. */
  const isOfAnotherRun = (holder: KnownLock | undefined): boolean =>
    holder?.origin !== undefined && origin !== undefined && holder.origin !== origin;

  async function ask(intent: Intent, keySentBefore: boolean, within: Within): Promise<Taking> {
    const { path, key } = intent;
    const place = { service, workspace, path };
    const acquisition = await client.acquireLock(
      // A path in the ledger is one that was asked for, and so one of the canonical ones.
      { workspace, path: path as LockPath, type, ttl, idempotencyKey: key, keySentBefore },
      within,
    );
    const denied = (): void => record({ kind: 'denied', ...place, step, key, at: now() });
    switch (acquisition.kind) {
      case 'acquired': {
        const lock = grantedLock(acquisition.lock, ttl, client.serverNow());
        const grant: Grant = { kind: 'granted', ...place, step, key, autoRelease, lock, at: now() };
        record(grant);
        return { kind: 'taken', grant };
      }
      case 'held': {
        const { holder, retryAfterMs, error, mayBeOurs } = acquisition;
        // A service that knows no keys takes a repetition for another request, and refuses it because of the first.
        if ((mayBeOurs || keySentBefore) && !isOfAnotherRun(holder)) return { kind: 'unclear', intent, error };
        denied();
        return { kind: 'held', path: path as LockPath, holder, retryAfterMs, error };
      }
      case 'unclear':
        return { kind: 'unclear', intent, error: acquisition.error };
      case 'failed':
        if (keySentBefore) return { kind: 'unclear', intent, error: acquisition.error };
        denied();
        return { kind: 'failed', error: acquisition.error };
    }
  }

  return {
    take(path, within) {
      const intent: Intent = {
        kind: 'intent',
        service,
        workspace,
        path,
        step,
        key: crypto.randomUUID(),
        type,
        ttl: formatDuration(ttl),
        autoRelease,
        at: now(),
      };
      if (!announced) parts.announce();
      announced = true;
      record(intent);
      return ask(intent, false, within);
    },

    askAgain: (intent, within) => ask(intent, true, within),

    async giveBack(grant, within) {
      const { lock, path } = grant;
      // A path in the ledger is one that was asked for, and so one of the canonical ones.
      const release = await client.releaseLock({ workspace, path: path as LockPath, proof: lock }, within);
      if (release.kind !== 'failed') {
        record({
          kind: 'ended',
          service,
          workspace,
          path,
          at: now(),
          how: release.kind,
          id: lock.id,
          etag: lock.etag,
        });
      }
      return release;
    },
  };
}

/** Writes to the ledger; when that fails, says so once and goes on: a lock that is wanted is not given up for it. */
export function createRecorder({ ledger, log }: Pick<Parts, 'ledger' | 'log'>): (entry: Entry) => void {
  let failed = false;
  return (entry) => {
    try {
      ledger.append(entry);
    } catch (error) {
      if (failed) return;
      failed = true;
      const why = error instanceof Error ? error.message : String(error);
      log.warn(
        `The ledger of this job's locks cannot be written (${why}). If the step is killed, its locks stay until their ttl ends.`,
      );
    }
  };
}
