import type { Kysely, RawBuilder } from 'kysely';
import type { Tables } from './tables.ts';

export type Dialect = 'sqlite' | 'postgres';

export type Database = Kysely<Tables>;

/** The database's clock, in milliseconds since 1970. */
export type Now = RawBuilder<number>;

export interface Storage {
  readonly dialect: Dialect;
  /** Sees only what has been committed. */
  readonly read: Database;
  readonly now: Now;
  /**
   * Makes a change that is on disk when the promise is fulfilled. Changes that are asked for at the same time share a
   * transaction, one after the other, and no other change of any instance runs between them. A change may only use the
   * database it is given; when it throws, it alone is undone.
   */
  commit<T>(change: (db: Database) => Promise<T>): Promise<T>;
  /**
   * For changes of one kind, of which there are many: those that wait one behind the other are made by one call, and each
   * gets the result at its place. When the call throws, it is undone, and made again for each of them alone.
   */
  commitTogether<Change, Result>(
    make: (db: Database, changes: readonly Change[]) => Promise<readonly Result[]>,
  ): (change: Change) => Promise<Result>;
  /** A transaction for claiming work: it does not queue behind the changes of others where the database can do without. */
  claim<T>(work: (db: Database) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
