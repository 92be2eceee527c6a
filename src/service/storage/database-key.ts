import { randomBytes } from 'node:crypto';
import type { Storage } from './storage.ts';

/** A random text that belongs to the database and its backups: the first instance creates it, and it never changes. */
export const databaseKey = ({ commit }: Pick<Storage, 'commit'>, name: string): Promise<string> =>
  commit('global', async (db) => {
    await db
      .insertInto('signing_keys')
      .values({ name, secret: randomBytes(32).toString('base64url') })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute();
    const keys = db.selectFrom('signing_keys').select('secret').where('name', '=', name);
    return (await keys.executeTakeFirstOrThrow()).secret;
  });
