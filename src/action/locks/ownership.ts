import type { Client, KnownLock, Within, WorkspaceId } from '../../client/client.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import { answerClockMs } from './past-moment.ts';

/** A lock that was ours once, with what the service told of it. */
export interface OwnLock {
  readonly id?: string | undefined;
  readonly etag?: string | undefined;
  readonly owner?: string | undefined;
  readonly acquired_at?: string | undefined;
  readonly expires_at?: string | undefined;
  /** When the service granted it at the latest, by the clock of the service. */
  readonly grantedAt?: string | undefined;
}

export type Ownership =
  | { readonly kind: 'ours' }
  | { readonly kind: 'gone' }
  /** Another lock is on the path now. */
  | { readonly kind: 'lost'; readonly holder: KnownLock }
  /** Nothing tells the lock that is there from ours. */
  | { readonly kind: 'unknown' };

/** Answers are a moment on their way, too. */
const clockSlackMs = 2 * answerClockMs;

const differ = (one: string | undefined, other: string | undefined): boolean =>
  one !== undefined && other !== undefined && one !== other;

const msBetween = (one: string | undefined, other: string | undefined): number =>
  one === undefined || other === undefined ? Number.NaN : Date.parse(other) - Date.parse(one);

const isWholeSecond = (time: string | undefined): boolean => Date.parse(time ?? '') % 1_000 === 0;

/** A service may give its answers and its lists times of different precision: one that was cut or rounded tells less. */
function areDifferentMoments(one: string | undefined, other: string | undefined): boolean {
  const ms = Math.abs(msBetween(one, other));
  return ms >= 1_000 || (ms > 0 && !isWholeSecond(one) && !isWholeSecond(other));
}

/** Something that both tell is different, or it was taken after ours. */
const isAnother = (own: OwnLock, listed: KnownLock): boolean =>
  differ(own.id, listed.id) ||
  differ(own.owner, listed.owner) ||
  areDifferentMoments(own.acquired_at, listed.acquired_at) ||
  msBetween(own.grantedAt, listed.acquired_at) > clockSlackMs;

/** The same owner may have taken the path twice; only the id and the time tell. */
const isSame = (own: OwnLock, listed: KnownLock): boolean =>
  (own.id !== undefined && own.id === listed.id) || msBetween(own.acquired_at, listed.acquired_at) === 0;

export function compare(own: OwnLock, listed: KnownLock): Ownership {
  if (isAnother(own, listed)) return { kind: 'lost', holder: listed };
  return isSame(own, listed) ? { kind: 'ours' } : { kind: 'unknown' };
}

/** What the service's list says of a lock. */
export async function ownershipByList(
  client: Client,
  place: { readonly workspace: WorkspaceId; readonly path: LockPath },
  own: OwnLock,
  within: Within,
): Promise<Ownership> {
  const { workspace, path } = place;
  const { items, incomplete } = await client.listLocks({ workspace, filter: { path } }, within);
  const [listed] = items;
  if (listed !== undefined) return compare(own, listed);
  return { kind: incomplete === undefined ? 'gone' : 'unknown' };
}

/** Whether its lifetime has ended, or is about to. A lock of which no end is known may have ended. */
export function isOver({ expires_at = '' }: OwnLock, serverNow: number): boolean {
  const end = Date.parse(expires_at);
  return !(end > serverNow + clockSlackMs);
}
