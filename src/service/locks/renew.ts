import { sql } from 'kysely';
import { milliseconds } from '../../interface/duration.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { Lock } from '../../interface/resources.ts';
import type { Ttl } from '../../interface/ttl.ts';
import type { Database, Now } from '../storage/storage.ts';
import type { Bearer } from '../tokens/tokens.ts';
import { findLock } from './find.ts';
import type { IdMatch } from './id-match.ts';
import { lockOf } from './lock-row.ts';
import { isOwnLock } from './release.ts';

export interface RenewalRequest {
  readonly workspace: string;
  readonly path: LockPath;
  readonly ttl: Ttl;
  readonly bearer: Bearer;
  readonly match: IdMatch;
}

export type RenewDecision =
  | { readonly kind: 'renewed' | 'another-lock' | 'another-owner'; readonly lock: Lock }
  | { readonly kind: 'absent' };

export type Extension = RenewDecision | { readonly kind: 'not-longer'; readonly lock: Lock };

/** A renewal by a person, which must not shorten the lock. Programs may shorten theirs. */
export async function extendLock(db: Database, now: Now, request: RenewalRequest): Promise<Extension> {
  const { bearer, match, ttl } = request;
  const found = await findLock(db, now, request);
  const own = found?.live === true && match(found.id) && isOwnLock(found, { owner: bearer.owner, tokenId: bearer.id });
  if (own && found.remainingMs >= milliseconds(ttl)) return { kind: 'not-longer', lock: lockOf(found) };
  return renewLock(db, now, request);
}

export async function renewLock(
  db: Database,
  now: Now,
  { workspace, path, ttl, bearer, match }: RenewalRequest,
): Promise<RenewDecision> {
  const found = await findLock(db, now, { workspace, path });
  if (!found?.live) return { kind: 'absent' };
  if (!match(found.id)) return { kind: 'another-lock', lock: lockOf(found) };
  if (!isOwnLock(found, { owner: bearer.owner, tokenId: bearer.id })) {
    return { kind: 'another-owner', lock: lockOf(found) };
  }
  const renewed = await db
    .updateTable('locks')
    .set({ expires_at: sql<number>`${now} + ${milliseconds(ttl)}` })
    .where('id', '=', found.id)
    .where('workspace_id', '=', workspace)
    .where('path', '=', path)
    .where(sql<boolean>`expires_at > ${now}`)
    .returningAll()
    .executeTakeFirst();
  return renewed === undefined ? { kind: 'absent' } : { kind: 'renewed', lock: lockOf(renewed) };
}
