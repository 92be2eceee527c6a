import { sql } from 'kysely';
import { milliseconds, type Ttl } from '../../interface/duration.ts';
import type { Lock } from '../../interface/resources.ts';
import { type Actor, type AuditEntry, recordAudit } from '../audit/audit.ts';
import { type Subscriber, subscribersOf } from '../outbox/outbox.ts';
import { batchQuery, numberOf, textOf } from '../storage/batch-query.ts';
import type { Database } from '../storage/storage.ts';
import { now } from '../storage/timestamp.ts';
import type { Bearer } from '../tokens/tokens.ts';
import { findLocks, type LockRow, type StoredLock, toLock } from './find.ts';
import { type LockEnd, recordEnds } from './history.ts';

/** Renewals and releases, decided in input order, with few queries for any number of them. */

interface ChangeRequest {
  readonly workspace: string;
  readonly path: string;
  readonly match: IdMatch;
}

const keysOf = (requests: readonly ChangeRequest[]) => requests.map(({ workspace, path }) => ({ workspace, path }));

export interface RenewRequest extends ChangeRequest {
  readonly ttl: Ttl;
  readonly bearer: Bearer;
  /** Never shortens the lock. */
  readonly isExtension?: boolean;
}

/** Why a lock was not changed. */
type Unchanged = { readonly kind: 'absent' } | { readonly kind: 'another-lock' | 'another-owner'; readonly lock: Lock };

export type RenewDecision =
  | { readonly kind: 'renewed'; readonly lock: Lock }
  | { readonly kind: 'lasts-longer' }
  | Unchanged;

export async function renewLocks(db: Database, requests: readonly RenewRequest[]): Promise<readonly RenewDecision[]> {
  const locks = await findLocks(db, keysOf(requests));
  /** Later requests for the same lock replace earlier ones. */
  const due = new Map<string, StoredLock & { readonly ttlMs: number }>();
  const decisions = requests.map(({ ttl, bearer, match, isExtension }, index): RenewDecision | undefined => {
    const found = locks[index];
    if (found === undefined) return { kind: 'absent' };
    const lock = toLock(found);
    if (!match(found.id)) return { kind: 'another-lock', lock };
    if (!isOwnLock(found, bearer)) return { kind: 'another-owner', lock };
    const ttlMs = milliseconds(ttl);
    const remainingMs = due.get(found.id)?.ttlMs ?? found.remainingMs;
    if (isExtension && remainingMs >= ttlMs) return { kind: 'lasts-longer' };
    due.set(found.id, { ...found, ttlMs });
    return undefined;
  });
  const renewed = due.size === 0 ? [] : await updateLocks(db, [...due.values()]);
  const ends = new Map(renewed.map(({ id, expires_at }) => [id, expires_at]));
  return decisions.map((decision, index) => {
    if (decision !== undefined) return decision;
    const found = locks[index];
    const expires_at = ends.get(found?.id ?? '');
    if (found === undefined || expires_at === undefined) return { kind: 'absent' };
    return { kind: 'renewed', lock: toLock({ ...found, expires_at }) };
  });
}

const updateLocks = batchQuery((db, members) =>
  db
    .updateTable('locks')
    .from(members)
    .set({ expires_at: sql<number>`${now} + ${numberOf('ttlMs')}` })
    .whereRef('locks.workspace_id', '=', textOf('workspace_id'))
    .whereRef('locks.path', '=', textOf('path'))
    .whereRef('locks.id', '=', textOf('id'))
    .where(sql<boolean>`locks.expires_at > ${now}`)
    .returning(['locks.id', 'locks.expires_at']),
);

/** Every push renews the owner's locks. A lock with more than this share of its ttl left is not written. */
const renewedBelow = 0.9;

/** Applies only to locks of Git LFS users: jobs renew their own locks, with a ttl of their choice. */
export const isLfsRenewalDue = (
  { from_lfs, remainingMs }: Pick<StoredLock, 'from_lfs' | 'remainingMs'>,
  ttl: Ttl,
): boolean => from_lfs === 1 && remainingMs < renewedBelow * milliseconds(ttl);

interface Releaser extends Actor {
  readonly owner: string;
  /** Releases a lock of any owner. The caller must check the permission first. */
  readonly force: boolean;
  /** Reason for a forced release, entered by the person who forces it. */
  readonly reason?: string;
}

export interface ReleaseRequest extends ChangeRequest {
  readonly releaser: Releaser;
}

export type ReleaseDecision = { readonly kind: 'released'; readonly lock: Lock } | Unchanged;

interface Granted extends ReleaseRequest {
  readonly found: StoredLock;
}

export async function releaseLocks(
  db: Database,
  requests: readonly ReleaseRequest[],
): Promise<readonly ReleaseDecision[]> {
  const keys = keysOf(requests);
  const [locks, subscribers] = await Promise.all([findLocks(db, keys), subscribersOf(db, keys)]);
  const granted = new Map<string, Granted>();
  const releases = requests.map((request, index): ReleaseDecision => {
    const found = locks[index];
    if (found === undefined || granted.has(found.id)) return { kind: 'absent' };
    const lock = toLock(found);
    const { match, releaser } = request;
    if (!match(found.id)) return { kind: 'another-lock', lock };
    if (!releaser.force && !isOwnLock(found, releaser)) return { kind: 'another-owner', lock };
    granted.set(found.id, { ...request, found });
    return { kind: 'released', lock };
  });
  await deleteGranted(db, [...granted.values()], subscribers);
  return releases;
}

const deleteLocks = batchQuery((db, members) =>
  db
    .deleteFrom('locks')
    .where(sql<boolean>`(workspace_id, path) in (select ${textOf('workspace')}, ${textOf('path')} from ${members})`),
);

async function deleteGranted(
  db: Database,
  granted: readonly Granted[],
  subscribers: readonly Subscriber[],
): Promise<void> {
  if (granted.length === 0) return;
  await deleteLocks(db, keysOf(granted));
  const ends = granted.map(({ found: lock, releaser }): LockEnd => {
    const kind = isOwnLock(lock, releaser) ? 'released' : 'force-released';
    return { kind, lock, at: lock.expires_at - lock.remainingMs, by: releaser.owner };
  });
  await recordEnds(db, ends, subscribers);
  for (const release of granted) {
    if (!isOwnLock(release.found, release.releaser)) await recordAudit(db, auditOf(release));
  }
}

/** Whether the caller may renew and release the lock without force: any token of its owner may. */
export const isOwnLock = (lock: Pick<LockRow, 'owner'>, { owner }: Pick<Bearer, 'owner'>): boolean =>
  lock.owner === owner;

function auditOf({ workspace, path, releaser, found }: Granted): AuditEntry {
  const { id, owner, origin } = found;
  const { reason } = releaser;
  return {
    actor: releaser,
    action: 'lock.force-released',
    detail: { workspace, path, lock: id, owner, origin, ...(reason !== undefined && { reason }) },
  };
}

export const entityTag = (id: string): string => `"${id}"`;

type IdMatch = (id: string) => boolean;

const anyTag = /^[ \t]*\*[ \t]*$/;

/** RFC 9110 section 8.8.3. The opaque part may contain commas. */
export const tagPattern = '(?:W/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"';

const tags = new RegExp(tagPattern, 'g');

/** Elements may be empty (RFC 9110 section 5.6.1.2). */
const tagList = new RegExp(`^[ \\t,]*${tagPattern}(?:[ \\t]*,[ \\t,]*${tagPattern})*[ \\t,]*$`);

/**
 * `If-Match` of RFC 9110 section 13.1.1: `*` or a list of entity tags, compared strongly, so that a weak one never
 * matches. Invalid values match nothing: a condition that cannot be parsed must not allow a change.
 */
export function parseIfMatch(header: string | undefined): IdMatch {
  if (header === undefined || anyTag.test(header)) return () => true;
  const given = new Set<string>(tagList.test(header) ? header.match(tags) : []);
  return (id) => given.has(entityTag(id));
}
