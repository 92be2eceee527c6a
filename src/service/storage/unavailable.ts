import { sql } from 'kysely';
import type { Database } from './storage.ts';

/** SQLSTATE classes of connection, resource, operator and system errors. 25006: a standby rejects changes. */
const unavailableCodes = /^(08|53|57|58)|^40|^55P03$|^25P03$|^25006$/;

/**
 * Whether the columns of a prepared statement have changed, or a pooler has no statement of this name or a different
 * one. PostgreSQL reports the first case with the code of all unsupported features.
 */
export const isStalePlan = (error: Error): boolean =>
  /cached plan must not change/.test(error.message) || /^26000$|^42P05$/.test(codeOf(error));

/** Whether an earlier statement has aborted the transaction: in_failed_sql_transaction. */
export const isAborted = (error: unknown): boolean => error instanceof Error && codeOf(error) === '25P02';

const codeOf = (error: Error): string => ('code' in error && typeof error.code === 'string' ? error.code : '');

const networkCalls = new Set(['connect', 'getaddrinfo', 'read', 'write']);

/** pg reports a lost connection without a code. */
const connectionLost =
  /connection terminated|timeout exceeded when trying to connect|query read timeout|not queryable/i;

/** A sentence if the database is unavailable for any query; undefined if only the query itself is wrong. */
export function databaseProblem(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const reason = sqliteErrorText(error);
  if (reason !== undefined) return `The database cannot be used: ${reason}.`;
  const cannotConnect = 'syscall' in error && networkCalls.has(String(error.syscall));
  const isUnavailable = unavailableCodes.test(codeOf(error)) || isStalePlan(error);
  if (cannotConnect || isUnavailable || connectionLost.test(error.message)) {
    return 'The database does not answer.';
  }
  return undefined;
}

/** Whether the parent of a row no longer exists: SQLITE_CONSTRAINT_FOREIGNKEY, and the SQLSTATE of PostgreSQL. */
export const isOrphaned = (error: unknown): boolean =>
  error instanceof Error &&
  (('errcode' in error && error.errcode === 787) || ('code' in error && error.code === '23503'));

/** Reads the newest row of each table that locks need, through an index. Without a table, a query reads no data. */
export async function checkNewestRows(db: Database): Promise<void> {
  await sql`select
    (select name from tokens order by id desc limit 1) as token,
    (select remote from workspaces order by id desc limit 1) as workspace,
    (select value from fences order by workspace_id desc limit 1) as fence,
    (select owner from locks order by expires_at desc, workspace_id desc limit 1) as lock,
    (select lock_id from lock_history order by workspace_id desc, ended_at desc, fence desc limit 1) as ended,
    (select fingerprint from remembered_answers order by workspace_id desc, created_at desc limit 1) as answer`.execute(
    db,
  );
}

/** Keys are the primary result codes of SQLite that are not about the query: https://www.sqlite.org/rescode.html */
const sqliteTexts: Readonly<Record<number, string>> = {
  5: 'the database is busy with another process',
  8: 'its file or folder is read-only',
  10: 'its disk reports an error',
  11: 'the database is damaged: restore a backup',
  13: 'its disk is full',
  14: 'the database file cannot be opened',
  26: 'the database file is not an SQLite database',
};

/** Primary result code of an error of SQLite; undefined for other errors. */
export const sqliteCode = (error: unknown): number | undefined =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : undefined;

/** SQLITE_BUSY: https://www.sqlite.org/rescode.html#busy */
export const isBusy = (error: unknown): boolean => sqliteCode(error) === 5;

/** Why SQLite would fail for any query; undefined if only the query itself is wrong. */
export const sqliteErrorText = (error: unknown): string | undefined => sqliteTexts[sqliteCode(error) ?? 0];
