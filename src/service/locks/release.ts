import { sql } from 'kysely';
import type { Lock } from '../../interface/resources.ts';
import { type Actor, type AuditEntry, recordAudit } from '../audit/audit.ts';
import { batchQuery, textOf } from '../storage/batch-query.ts';
import type { Database, Now } from '../storage/storage.ts';
import { findLocks, type LockRow, type StoredLock, toLock } from './find.ts';
import { type LockEnd, recordEnds } from './history.ts';

/** The caller: a token, or the operator at the command line. */
interface Releaser extends Actor {
  /** Null for the operator, who owns no lock. */
  readonly owner: string | null;
  /** Also releases locks of other owners. The caller must check the permission first. */
  readonly force: boolean;
  /** Reason for a forced release, entered by the person who forces it. */
  readonly reason?: string;
}

export interface ReleaseRequest {
  readonly workspace: string;
  readonly path: string;
  readonly match: IdMatch | null;
  readonly releaser: Releaser;
}

export type ReleaseDecision =
  | { readonly kind: 'released'; readonly lock: Lock; readonly own: boolean }
  | { readonly kind: 'absent' }
  | { readonly kind: 'another-lock' | 'another-owner'; readonly lock: Lock };

interface Granted extends ReleaseRequest {
  readonly found: StoredLock;
  readonly own: boolean;
}

/** Decides requests in their order, with the same few queries for any number of them. */
export async function releaseLocks(
  db: Database,
  now: Now,
  requests: readonly ReleaseRequest[],
): Promise<readonly ReleaseDecision[]> {
  const keys = requests.map(({ workspace, path }) => ({ workspace, path }));
  const locks = await findLocks(db, now, keys);
  const granted = new Map<string, Granted>();
  const releases = requests.map((request, index): ReleaseDecision => {
    const found = locks[index];
    if (!found?.isActive || granted.has(found.id)) return { kind: 'absent' };
    const lock = toLock(found);
    const { match, releaser } = request;
    if (match !== null && !match(found.id)) return { kind: 'another-lock', lock };
    const own = isOwnLock(found, releaser);
    if (!own && !releaser.force) return { kind: 'another-owner', lock };
    granted.set(found.id, { ...request, found, own });
    return { kind: 'released', lock, own };
  });
  await deleteGranted(db, now, [...granted.values()]);
  return releases;
}

const deleteLocks = batchQuery((db, members, now) =>
  db
    .deleteFrom('locks')
    .where(sql<boolean>`(workspace_id, path) in (select ${textOf('workspace')}, ${textOf('path')} from ${members})`)
    .returning(['id', now.as('at')]),
);

async function deleteGranted(db: Database, now: Now, granted: readonly Granted[]): Promise<void> {
  if (granted.length === 0) return;
  const keys = granted.map(({ workspace, path }) => ({ workspace, path }));
  const deleted = await deleteLocks(db, now, keys);
  const times = new Map(deleted.map(({ id, at }) => [id, at]));
  const ends = granted.flatMap(({ found: lock, own, releaser }): LockEnd[] => {
    const at = times.get(lock.id);
    if (at === undefined) return [];
    return [{ kind: own ? 'released' : 'force-released', lock, at, by: releaser.owner ?? releaser.name }];
  });
  await recordEnds(db, now, ends);
  for (const release of granted) {
    if (!release.own) await recordAudit(db, now, auditOf(release));
  }
}

/** Whether the caller may renew and release the lock without force: the owner may, with any token. */
export const isOwnLock = (lock: Pick<LockRow, 'owner'>, { owner }: { readonly owner: string | null }): boolean =>
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

export type IdMatch = (id: string) => boolean;

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
export function parseIfMatch(header: string): IdMatch {
  if (anyTag.test(header)) return () => true;
  const given = new Set<string>(tagList.test(header) ? header.match(tags) : []);
  return (id) => given.has(entityTag(id));
}
