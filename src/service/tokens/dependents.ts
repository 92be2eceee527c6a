import { sql } from 'kysely';
import type { Storage } from '../storage/storage.ts';

/** Things made with a token that someone may rely on. */
export interface Dependents {
  /** Held now. They stay when the token is revoked, until they are released or end. */
  readonly locks: number;
  /** Some of them, those that end last. */
  readonly someLocks: readonly { readonly workspace: string; readonly path: string }[];
  /** Dashboard sessions of the token. They end with it. */
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
