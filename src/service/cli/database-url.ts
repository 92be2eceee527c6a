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

/** By the codes of system calls, of Node, and of PostgreSQL (SQLSTATE, its manual, appendix A). */
const trouble: Readonly<Record<string, string>> = {
  ERR_INVALID_URL: `DATABASE_URL is not a valid address. ${form} A special character in it is percent-encoded.`,
  ENOTFOUND: 'The name of its host does not resolve.',
  EAI_AGAIN: 'The name of its host does not resolve now.',
  ECONNREFUSED: 'Nothing listens at its host and port.',
  ECONNRESET: 'It closes the connection.',
  EHOSTUNREACH: 'Its host cannot be reached.',
  ENETUNREACH: 'Its network cannot be reached.',
  ETIMEDOUT: 'It does not answer in time.',
  ENOENT: 'A file or socket that the address names does not exist.',
  '28000': 'It does not let this user in.',
  '28P01': 'It refuses the user or the password.',
  '3D000': 'There is no such database.',
  '42501': 'This user may not make or change tables there.',
  '53300': 'It has no connection left.',
  '57P03': 'It is starting or stopping.',
};

const noAnswer = /timeout|terminated/i;

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'It fails.';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code !== '') return trouble[code] ?? `It fails (${code}).`;
  // The driver's own errors carry no code, and quote settings: what they mean is told, not what they say.
  if (noAnswer.test(error.message)) return 'It does not answer in time.';
  if (/\bSSL\b/.test(error.message)) return 'It does not speak TLS as the address asks.';
  return 'Its driver does not accept the address, or the server does not accept the connection.';
}

export function postgresFailure(error: unknown): Failure {
  if (error instanceof NewerSchemaError) return new Failure(error.message);
  return new Failure(`The database that DATABASE_URL names cannot be used. ${reasonOf(error)}`);
}
