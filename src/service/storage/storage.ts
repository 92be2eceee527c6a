import type { Kysely, RawBuilder } from 'kysely';
import type { Tables } from './tables.ts';

export type Dialect = 'sqlite' | 'postgres';

export type Database = Kysely<Tables>;

/** The database's clock, in milliseconds since 1970. */
export type Now = RawBuilder<number>;

/**
 * The scope of a change. A change of a workspace reads and writes rows of this workspace, and may add to the audit; it must
 * not rely on anything else. A change of tokens may add tokens, note their use and add to the audit; it may rely on trust
 * rules. A global change may touch everything.
 */
export type CommitScope = { readonly workspace: string } | 'tokens' | 'global';

/**
 * Messages between processes on the same database. They may be lost, so nothing depends on them: the database has the
 * change itself.
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
   * For frequent changes of one kind: waiting ones are made in one call, each with its own result, also in several scopes.
   * If the call throws, it is undone and repeated for each change alone.
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
