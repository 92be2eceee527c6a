import { sqliteErrorText } from '../platform/system-errors.ts';

/**
 * SQLSTATE classes (PostgreSQL manual, appendix A): connection, resources, operator intervention, system error. A standby that
 * is not promoted yet answers 25006 to a change.
 */
const postgresTrouble = /^(08|53|57|58)|^40|^55P03$|^25P03$|^25006$/;

const networkCalls = new Set(['connect', 'getaddrinfo', 'read', 'write']);

/** The messages of pg for a lost connection carry no code. */
const connectionLost =
  /connection terminated|timeout exceeded when trying to connect|query read timeout|not queryable/i;

/** A sentence when the database cannot work now, whatever it was asked; undefined when the query itself was wrong. */
export function databaseProblem(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const reason = sqliteErrorText(error);
  if (reason !== undefined) return `The database cannot be used: ${reason}.`;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const cannotConnect = 'syscall' in error && networkCalls.has(String(error.syscall));
  if (cannotConnect || postgresTrouble.test(code) || connectionLost.test(error.message)) {
    return 'The database does not answer.';
  }
  return undefined;
}

/** SQLite's SQLITE_CONSTRAINT_FOREIGNKEY, and the SQLSTATE of PostgreSQL: what a row belongs to is no more. */
export const isOrphaned = (error: unknown): boolean =>
  error instanceof Error &&
  (('errcode' in error && error.errcode === 787) || ('code' in error && error.code === '23503'));
