import { z } from '@hono/zod-openapi';
import { parseJson } from '../contract/problem.ts';
import type { Tables } from '../storage/tables.ts';

export const format = 'workspace-service backup 1';

const count = z.int().nonnegative();

/**
 * A backup is gzipped JSON, one value per line: the header, then for each table an object with its name and columns,
 * then its rows as arrays, and at the end the number of rows of each table. Without that last line it is incomplete.
 */
const headerSchema = z.object({
  format: z.literal(format),
  schema: count,
  /** Version of the service that wrote it. */
  service: z.string(),
  /** Milliseconds since 1970, by the clock of the database. */
  taken_at: count,
});

export type Row = readonly (string | number | null)[];

const isRow = (value: unknown): boolean =>
  Array.isArray(value) && value.every((each) => each === null || typeof each === 'string' || Number.isFinite(each));

const lineSchema = z.union([
  z.custom<Row>(isRow),
  z.object({ table: z.string(), columns: z.array(z.string()) }),
  z.object({ rows: z.record(z.string(), count) }),
]);

export type Header = Readonly<z.infer<typeof headerSchema>>;

/** Number of rows by table. */
export type RowCounts = Readonly<Record<string, number>>;

/** Any line but the header: the start of a table, one of its rows, or the end. */
type Line = z.infer<typeof lineSchema>;

export function parseHeader(line: string): Header {
  const header = parseJson(headerSchema, line);
  if (header === undefined) throw unsupported();
  return header;
}

export function parseLine(line: string): Line {
  const parsed = parseJson(lineSchema, line);
  if (parsed === undefined) throw damaged('a line in it is not one of a backup');
  return parsed;
}

/** The message is written for users. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

export const damaged = (reason: string): BackupError =>
  new BackupError(`The backup is damaged: ${reason}. Nothing was changed. Restore another backup.`);

export const unsupported = (): BackupError =>
  new BackupError(
    'The file is not a backup that this version of workspace-service can read. Nothing was changed. Restore a file that "workspace-service backup" wrote.',
  );

/**
 * Every table with its primary key, in the order of a backup: a table follows those that it references. The audit and
 * the deliveries are ordered by their sequence, because the audit accepts rows only in that order.
 */
const keys: { readonly [T in keyof Tables]: readonly (keyof Tables[T])[] } = {
  workspaces: ['id'],
  tokens: ['id'],
  trust_rules: ['id'],
  sessions: ['hash'],
  sign_in_links: ['hash'],
  fences: ['workspace_id'],
  quotas: ['name'],
  signing_keys: ['name'],
  locks: ['workspace_id', 'path'],
  leases: ['workspace_id', 'id'],
  lock_history: ['workspace_id', 'ended_at', 'fence'],
  waits: ['id'],
  wait_paths: ['wait_id', 'path'],
  lock_requests: ['workspace_id', 'path', 'owner'],
  pool_items: ['workspace_id', 'pool', 'path'],
  synced_branches: ['workspace_id', 'name'],
  syncs: ['id'],
  hooks: ['id'],
  hook_backlogs: ['hook_id'],
  deliveries: ['sequence'],
  remembered_answers: ['token_id', 'workspace_id', 'key'],
  audit: ['sequence'],
};

export const tableKeys: readonly (readonly [table: string, key: readonly string[]])[] = Object.entries(keys);
