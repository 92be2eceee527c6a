import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

export type Dialect = 'sqlite' | 'postgres';

export type Database = Kysely<Tables>;

/**
 * The scope of a change. A change of a workspace reads and writes rows of that workspace, and may add audit entries. It
 * must not depend on anything else. A change of tokens may add tokens, record their use, change sessions and add audit
 * entries, and may depend on trust rules. A global change may read and write everything.
 */
export type CommitScope = { readonly workspace: string } | 'tokens' | 'global';

/** Messages to other processes on the same database. They may be lost, so nothing may depend on them. */
export interface Broadcast {
  /** Undefined: anything may have changed. */
  send(message: string | undefined): void;
  /** Calls back with each message, and with undefined if changes may have been missed. Returns a stop function. */
  listen(onMessage: (message: string | undefined) => void): () => void;
}

/** The table that contains the work. */
export type Work = keyof Tables;

export interface Storage {
  readonly dialect: Dialect;
  /** Sees only committed changes. */
  readonly read: Database;
  /**
   * Makes a change, which is on disk when the promise resolves. Changes requested at the same time share a transaction,
   * one after the other. Across all instances, a change of a workspace excludes changes of the same workspace, a change
   * of tokens excludes other changes of tokens, and a global change excludes all others. A change may only use the
   * database that it gets. If it throws, only this change is undone.
   */
  commit<T>(scope: CommitScope, change: (db: Database) => Promise<T>): Promise<T>;
  /**
   * For frequent changes of one kind. Waiting changes, even of several scopes, are made in one call, each with its own
   * result. If the call throws, it is undone, and repeated for each change alone. It must not change tokens or
   * workspaces, nor depend on anything before its first query, because only that waits for other changes.
   */
  batchCommits<Change, Result>(
    scopeOf: (change: Change) => CommitScope,
    make: (db: Database, changes: readonly Change[]) => Promise<readonly Result[]>,
  ): (change: Change) => Promise<Result>;
  /** Calls back after a commit of this process that queued work of this kind: see noteQueued(). */
  onQueued(work: Work, wake: () => void): void;
  /** A global change that may take hours, such as a restore. */
  rebuild<T>(change: (db: Database) => Promise<T>): Promise<T>;
  /** A transaction that claims work. It does not wait for other changes if the database permits that. */
  claim<T>(work: (db: Database) => Promise<T>): Promise<T>;
  readonly broadcast: Broadcast;
  /**
   * A value that changes whenever tokens or workspaces change, in any process. Undefined on PostgreSQL, where each
   * request must query them.
   */
  readonly accessVersion?: () => unknown;
  /** Rejects if data that requests need cannot be read, or if a statement has found the database damaged. */
  check(): Promise<void>;
  close(): Promise<void>;
}
