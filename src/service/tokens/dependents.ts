import { sql } from 'kysely';
import type { Storage } from '../storage/storage.ts';

export type Dependents = Awaited<ReturnType<typeof dependentsOf>>;

const maxListedLocks = 5;

/**
 * Locks and sessions of a token that someone may rely on: the number of active locks, which stay if it is revoked, the
 * last of them to expire, and the number of dashboard sessions, which end with it.
 */
export async function dependentsOf({ read, now }: Storage, tokenId: string) {
  const active = read.selectFrom('locks').where('token_id', '=', tokenId).where(sql<boolean>`expires_at > ${now}`);
  const [count, someLocks, sessions] = await Promise.all([
    active.select(({ fn }) => fn.countAll<number>().as('locks')).executeTakeFirstOrThrow(),
    active
      .select(['workspace_id as workspace', 'path'])
      .orderBy('expires_at', 'desc')
      .orderBy('workspace_id')
      .orderBy('path')
      .limit(maxListedLocks)
      .execute(),
    read
      .selectFrom('sessions')
      .select(({ fn }) => fn.countAll<number>().as('sessions'))
      .where('token_id', '=', tokenId)
      .where(sql<boolean>`expires_at > ${now}`)
      .executeTakeFirstOrThrow(),
  ]);
  return { locks: Number(count.locks), someLocks, sessions: Number(sessions.sessions) };
}
