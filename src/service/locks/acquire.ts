import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { milliseconds } from '../../interface/duration.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { Lock, LockType } from '../../interface/resources.ts';
import type { Ttl } from '../../interface/ttl.ts';
import type { Database, Now } from '../storage/storage.ts';
import type { Bearer } from '../tokens/tokens.ts';
import { findLock } from './find.ts';
import { recordAcquired, recordExpired } from './lock-events.ts';
import { lockOf } from './lock-row.ts';

export interface LockRequest {
  readonly workspace: string;
  readonly path: LockPath;
  readonly type: LockType;
  readonly ttl: Ttl;
  readonly bearer: Bearer;
  readonly origin: string | null;
}

export type Acquisition =
  | { readonly kind: 'acquired'; readonly lock: Lock }
  | { readonly kind: 'held'; readonly lock: Lock; readonly remainingSeconds: number };

/** One upsert decides: it takes the place of no lock, or of one that has expired by the database's clock. */
export async function acquireLock(db: Database, now: Now, request: LockRequest): Promise<Acquisition> {
  const { workspace, path, type, ttl, bearer, origin } = request;
  const before = await findLock(db, now, workspace, path);
  if (before?.live) return { kind: 'held', lock: lockOf(before), remainingSeconds: before.remainingSeconds };

  const lock = {
    id: `lock_${randomUUID()}`,
    type,
    token_id: bearer.id,
    owner: bearer.name,
    origin,
    acquired_at: now,
    expires_at: sql<number>`${now} + ${milliseconds(ttl)}`,
    fence: sql<number>`(select value + 1 from counters where name = 'fence')`,
  };
  const taken = await db
    .insertInto('locks')
    .values({ workspace_id: workspace, path, ...lock })
    .onConflict((conflict) =>
      conflict.columns(['workspace_id', 'path']).doUpdateSet(lock).where(sql<boolean>`locks.expires_at <= ${now}`),
    )
    .returningAll()
    .executeTakeFirst();
  if (taken === undefined) return acquireLock(db, now, request);

  await db.updateTable('counters').set({ value: taken.fence }).where('name', '=', 'fence').execute();
  if (before !== undefined) await recordExpired(db, now, before);
  await recordAcquired(db, now, taken);
  return { kind: 'acquired', lock: lockOf(taken) };
}
