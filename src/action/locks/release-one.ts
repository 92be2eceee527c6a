import {
  type Client,
  type Clock,
  type KnownLock,
  ServiceError,
  type Within,
  type WorkspaceId,
} from '../../client/client.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import { isOver, type Ownership, type OwnLock, ownershipByList } from './ownership.ts';
import { isPassing } from './passing.ts';

export type Release =
  | { readonly kind: 'released' }
  /** Nothing was there. */
  | { readonly kind: 'absent' }
  /** Another lock is there now, and was left alone. */
  | { readonly kind: 'lost'; readonly holder: KnownLock | undefined }
  /** Nothing shows that the lock that is there is ours. */
  | { readonly kind: 'left-alone' }
  | { readonly kind: 'failed'; readonly error: ServiceError };

export interface ToRelease {
  readonly workspace: WorkspaceId;
  readonly path: LockPath;
  readonly lock: OwnLock;
  /** It may have been released before: then what is there is only ours if that can be shown. */
  readonly doubtful?: boolean | undefined;
  /** Asks the service to release the lock of another token, too. */
  readonly force?: boolean | undefined;
}

export interface ReleaseParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
}

const isProven = ({ etag, id }: OwnLock): boolean => etag !== undefined || id !== undefined;

const firstPauseMs = 500;
const longestPauseMs = 5_000;

const never = new AbortController().signal;

/** A service may let a token take and release locks and not list them. */
export const refusesLists = ({ status = 0 }: ServiceError): boolean => [403, 404, 405, 501].includes(status);

/** The service may have done what it gave no good answer to. */
export function mayBeDone({ failure, status, attempts }: ServiceError): boolean {
  if (failure.kind === 'connection') return failure.mayHaveArrived;
  // Of the attempt that the deadline has cut off nothing is known; the status is that of the one before it.
  if (failure.kind === 'deadline') return attempts > 0;
  return status === undefined || status >= 500 || (status >= 200 && status < 300);
}

/**
 * Without an ETag or an id a release says only of which path it is. So each one is sent once, and only after a look at
 * what is there: what was on its way and got lost may have released the lock, and the path may be somebody else's now.
 */
async function releaseUnproven(parts: ReleaseParts, asked: ToRelease, within: Within): Promise<Release> {
  const { client, clock, sleep, random } = parts;
  const { workspace, path, lock, doubtful = false, force } = asked;
  let sent = false;

  async function look(): Promise<Ownership | ServiceError> {
    try {
      return await ownershipByList(client, asked, lock, within);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return refusesLists(error) ? { kind: 'unknown' } : error;
    }
  }

  for (let failed = 1; ; failed += 1) {
    const found = await look();
    if (found instanceof ServiceError) return { kind: 'failed', error: found };
    if (found.kind === 'lost') return sent ? { kind: 'released' } : found;
    const unsure = doubtful || sent || isOver(lock, client.serverNow());
    if (found.kind === 'gone' && unsure) return { kind: sent ? 'released' : 'absent' };
    if (found.kind === 'unknown' && unsure) return { kind: 'left-alone' };

    const release = await client.releaseLock({ workspace, path, force, attempts: 'once' }, within);
    if (release.kind !== 'failed') return release.kind === 'absent' && sent ? { kind: 'released' } : release;
    const { error } = release;
    sent ||= mayBeDone(error);
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** failed) * (0.5 + random() / 2);
    if (!isPassing(error) || clock() + pauseMs >= within.deadline) return release;
    await sleep(pauseMs, within.signal ?? never);
  }
}

/** Releases a lock if it is ours: with its ETag where there is one, else after a look at the list. */
export async function releaseOne(parts: ReleaseParts, asked: ToRelease, within: Within): Promise<Release> {
  const { workspace, path, lock, force } = asked;
  if (isProven(lock)) return parts.client.releaseLock({ workspace, path, proof: lock, force }, within);
  return releaseUnproven(parts, asked, within);
}
