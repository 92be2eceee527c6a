import type { Kysely, RawBuilder } from 'kysely';
import type { Tables } from './tables.ts';

export type Dialect = 'sqlite' | 'postgres';

export type Database = Kysely<Tables>;

/** The database's clock, in milliseconds since 1970. */
export type Now = RawBuilder<number>;

/**
 * What a change may touch. That of a workspace reads and writes what belongs to this one workspace, and may add to the
 * audit; whatever else it touches, it must not rely on. One of tokens may add tokens, note their use, and add to the audit;
 * it may rely on trust rules. A global one may touch everything.
 */
export type CommitScope = { readonly workspace: string } | 'tokens' | 'global';

/**
 * Between processes on the same database. Nothing may depend on it: a message can be lost, and what it told of is in the
 * database all the same.
 */
export interface Broadcast {
  /** Fulfilled when it has been sent, or could not be. */
  send(message: string): Promise<void>;
  /** Calls back with each message, and with undefined when anything may have happened; gives what ends that. */
  listen(onMessage: (message: string | undefined) => void): () => void;
}

export interface Storage {
  readonly dialect: Dialect;
  /** Sees only what has been committed. */
  readonly read: Database;
  readonly now: Now;
  /**
   * Makes a change that is on disk when the promise is fulfilled. Changes that are asked for at the same time share a
   * transaction, one after the other. While one of a workspace runs, no other of that workspace and no global one does, of
   * any instance, and likewise for tokens; while a global one runs, no other does. A change may only use the database it is given; when it throws,
   * it alone is undone.
   */
  commit<T>(scope: CommitScope, change: (db: Database) => Promise<T>): Promise<T>;
  /**
   * For changes of one kind, of which there are many: those that wait one behind the other are made by one call, and each
   * gets the result at its place. A call may have changes of several scopes. When it throws, it is undone, and made again
   * for each of them alone.
   */
  batchCommits<Change, Result>(
    scopeOf: (change: Change) => CommitScope,
    make: (db: Database, changes: readonly Change[]) => Promise<readonly Result[]>,
  ): (change: Change) => Promise<Result>;
  /** A transaction for claiming work: it does not queue behind the changes of others where the database can do without. */
  claim<T>(work: (db: Database) => Promise<T>): Promise<T>;
  readonly broadcast: Broadcast;
  /** Rejects unless what requests need can be read, and after any statement has found the database damaged. */
  check(): Promise<void>;
  close(): Promise<void>;
}
