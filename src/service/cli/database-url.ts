import { systemErrorText } from '../platform/system-errors.ts';
import { NewerSchemaError } from '../storage/migrations.ts';
import { Failure } from './failure.ts';

const form = 'It must be postgres://user:password@host:port/database.';

/** Null: there is none, and SQLite is used. The address holds a password, so no sentence repeats any of it. */
export function databaseUrl(environment: NodeJS.ProcessEnv): string | null {
  const url = environment['DATABASE_URL'] ?? '';
  if (url === '') return null;
  if (!/^postgres(ql)?:\/\//.test(url))
    throw new Failure(`DATABASE_URL is not the address of a PostgreSQL database. ${form}`);
  return url;
}

/** By the codes of PostgreSQL (SQLSTATE, its manual, appendix A) and of Node. */
const databaseErrors: Readonly<Record<string, string>> = {
  ERR_INVALID_URL: `DATABASE_URL is not a valid address. ${form} Percent-encode the special characters in it`,
  ENOENT: 'a file or socket that the address names does not exist',
  '28000': 'it does not let this user in',
  '28P01': 'it refuses the user or the password',
  '3D000': 'there is no such database',
  '42501': 'this user may not make or change tables there',
  '53300': 'it has no connection left',
  '57P03': 'it is starting or stopping',
};

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it fails';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code !== '') return databaseErrors[code] ?? systemErrorText(code) ?? `it fails (${code})`;
  // The driver's own errors carry no code, and quote settings: what they mean is told, not what they say.
  if (/timeout|terminated/i.test(error.message)) return 'it does not answer in time';
  if (/\bSSL\b/.test(error.message)) return 'it does not speak TLS as the address asks';
  return 'its driver does not accept the address, or the server does not accept the connection';
}

export function postgresFailure(error: unknown): Failure {
  if (error instanceof NewerSchemaError) return new Failure(error.message);
  return new Failure(`The database that DATABASE_URL names cannot be used: ${reasonOf(error)}.`);
}
