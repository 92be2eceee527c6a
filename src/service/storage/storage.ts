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
  /** A transaction for claiming work: it does not queue behind the changes of others where the database can do without. */
  claim<T>(work: (db: Database) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
