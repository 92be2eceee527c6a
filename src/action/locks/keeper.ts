import type { KnownLock, ServiceError, TakenLock, Within, WorkspaceId } from '../../client/client.ts';
import { formatDuration } from '../../interface/duration.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { Ttl } from '../../interface/ttl.ts';
import { addressIn, type Grant, type GrantedLock, type Intent, ttlIn } from '../ledger/entry.ts';
import type { Recorder } from '../ledger/recorder.ts';
import type { Parts } from '../operations/parts.ts';
import { answerClockMs } from './past-moment.ts';
import { type Release, releaseOne } from './release-one.ts';

export interface Holding {
  readonly path: LockPath;
  /** Undefined where the service does not say. */
  readonly holder: KnownLock | undefined;
  readonly retryAfterMs: number | undefined;
  readonly error: ServiceError;
}

/** What came of asking for one lock. */
export type Taking =
  | {
      readonly kind: 'taken';
      readonly grant: Grant;
      /** It was granted to this very request; undefined where that is not known of a request that was sent before. */
      readonly anew: boolean | undefined;
    }
  | ({ readonly kind: 'held' } & Holding)
  | { readonly kind: 'failed'; readonly error: ServiceError }
  | {
      /** It may have been granted. The intent is what it can be asked about with. */
      readonly kind: 'unclear';
      readonly intent: Intent;
      readonly error: ServiceError;
      /** Somebody holds the path: another, or this step by the request whose answer was lost. */
      readonly holding: Holding | undefined;
    };

/** What all locks of a step have in common. */
export interface LockTerms {
  readonly service: string;
  readonly workspace: WorkspaceId;
  readonly type: string;
  readonly ttl: Ttl;
}

export type KeeperParts = Pick<Parts, 'client' | 'clock' | 'sleep' | 'random' | 'step' | 'origin'>;

/** Settles single locks, and keeps the ledger: what is about to be done, and then what came of it. */
export interface Keeper {
  /** Asks for the lock of an intent that is in the ledger; once more, with the same key, when its answer was lost. */
  ask(intent: Intent, keySentBefore: boolean, within: Within): Promise<Taking>;
  /** `doubtful`: it may have been released before. */
  giveBack(grant: Grant, within: Within, doubtful?: boolean): Promise<Release>;
}

function grantedLock(taken: TakenLock, ttl: Ttl, serverNow: number): GrantedLock {
  const { path, type, id, etag, owner, acquired_at, fence, expires_at } = taken;
  const end = expires_at ?? new Date(serverNow + ttl.seconds * 1_000).toISOString();
  return { path, type, id, etag, owner, acquired_at, fence, expires_at: end };
}

/** Answers are a moment on their way, too. */
const clockSlackMs = 2 * answerClockMs;

export function createKeeper(parts: KeeperParts, record: Recorder): Keeper {
  const { client, clock, step, origin } = parts;
  /** When this process first asked for a path, and when with a key. */
  const firstAsked = new Map<string, number>();
  const askedWith = new Map<string, number>();
  const now = (): string => new Date(client.serverNow()).toISOString();

  /** When it was asked for, by the clock of the service. */
  function askedAt({ key, at, byService }: Intent): number {
    const here = askedWith.get(key);
    if (here !== undefined) return client.serverNow() - (clock() - here);
    return byService ? Date.parse(at) : Number.NaN;
  }

  /** Whether the lock that is in the way can be the one that we have asked for, as far as it tells. */
  function canBeOurs(holder: KnownLock | undefined, intent: Intent): boolean {
    if (holder?.origin !== undefined && origin !== undefined && holder.origin !== origin) return false;
    // Where one of the times is not known, the comparison is false.
    return !(Date.parse(holder?.acquired_at ?? '') < askedAt(intent) - clockSlackMs);
  }

  /** Whether a request that was sent before has got its lock only now. */
  function isAnew(lock: TakenLock, replayed: boolean, sentAt: number): boolean | undefined {
    if (replayed) return false;
    const acquired = Date.parse(lock.acquired_at ?? '');
    return Number.isNaN(acquired) ? undefined : acquired >= client.serverNow() - (clock() - sentAt) - clockSlackMs;
  }

  return {
    async ask(intent, keySentBefore, within) {
      const { service, key, type } = intent;
      const { workspace, path } = addressIn(intent);
      const ttl = ttlIn(intent);
      if (!firstAsked.has(path)) firstAsked.set(path, clock());
      if (!keySentBefore) askedWith.set(key, clock());
      const sentAt = clock();
      const acquisition = await client.acquireLock(
        { workspace, path, type, ttl, idempotencyKey: key, keySentBefore },
        within,
      );
      const place = { service, workspace, path, step, key };
      switch (acquisition.kind) {
        case 'acquired': {
          const lock = grantedLock(acquisition.lock, ttl, client.serverNow());
          const waitedMs = Math.round(clock() - (firstAsked.get(path) ?? clock()));
          const grant: Grant = { kind: 'granted', ...place, waitedMs, lock, at: now() };
          record(grant);
          const anew = !keySentBefore || isAnew(acquisition.lock, acquisition.replayed, sentAt);
          return { kind: 'taken', grant, anew };
        }
        case 'held': {
          const { holder, retryAfterMs, error, mayBeOurs } = acquisition;
          const holding: Holding = { path, holder, retryAfterMs, error };
          // A service that knows no keys takes a repetition for another request, and refuses it because of the first.
          if (mayBeOurs && canBeOurs(holder, intent)) return { kind: 'unclear', intent, error, holding };
          record({ kind: 'denied', ...place, at: now() });
          return { kind: 'held', ...holding };
        }
        case 'unclear':
          return { kind: 'unclear', intent, error: acquisition.error, holding: undefined };
        case 'failed':
          record({ kind: 'denied', ...place, at: now() });
          return { kind: 'failed', error: acquisition.error };
      }
    },

    async giveBack(grant, within, doubtful) {
      const { service, lock, at } = grant;
      const { workspace, path } = addressIn(grant);
      const what = { service, workspace, path, id: lock.id, etag: lock.etag };
      record({ kind: 'releasing', ...what, at: now() });
      const release = await releaseOne(parts, { workspace, path, lock: { ...lock, grantedAt: at }, doubtful }, within);
      if (release.kind !== 'failed' && release.kind !== 'left-alone') {
        record({ kind: 'ended', ...what, how: release.kind, at: now() });
      }
      return release;
    },
  };
}

/** Asks for new locks: the intent of each is in the ledger before its request is sent. */
export function createTaker(
  { client, step, announce }: Pick<Parts, 'client' | 'step' | 'announce'>,
  record: Recorder,
  keeper: Keeper,
  { service, workspace, type, ttl }: LockTerms,
): (path: LockPath, within: Within) => Promise<Taking> {
  let announced = false;
  let answered = false;
  return async (path, within) => {
    const intent: Intent = {
      kind: 'intent',
      service,
      workspace,
      path,
      step,
      key: crypto.randomUUID(),
      type,
      ttl: formatDuration(ttl),
      at: new Date(client.serverNow()).toISOString(),
      byService: answered,
    };
    record(intent);
    // After the first line of the ledger, so that who reads it finds one.
    if (!announced) announce();
    announced = true;
    const taking = await keeper.ask(intent, false, within);
    answered ||= taking.kind === 'taken' || taking.kind === 'held';
    return taking;
  };
}
