import { sql } from 'kysely';
import type { Storage } from '../storage/storage.ts';

/** Locks and sessions of a token that someone may rely on. */
export interface Dependents {
  /** Number of active locks. If the token is revoked, they stay until they are released or expire. */
  readonly locks: number;
  /** Some of these locks, latest expiry first. */
  readonly someLocks: readonly { readonly workspace: string; readonly path: string }[];
  /** Number of dashboard sessions. They end with the token. */
  readonly sessions: number;
}

const maxShown = 5;

export async function dependentsOf({ read, now }: Storage, tokenId: string): Promise<Dependents> {
  const live = read.selectFrom('locks').where('token_id', '=', tokenId).where(sql<boolean>`expires_at > ${now}`);
  const [count, someLocks, sessions] = await Promise.all([
    live.select(({ fn }) => fn.countAll<number>().as('locks')).executeTakeFirstOrThrow(),
    live
      .select(['workspace_id as workspace', 'path'])
      .orderBy('expires_at', 'desc')
      .orderBy('workspace_id')
      .orderBy('path')
      .limit(maxShown)
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
