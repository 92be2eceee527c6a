import { z } from '@hono/zod-openapi';

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

const tableSchema = z.object({ table: z.string(), columns: z.array(z.string()) });
const endSchema = z.object({ rows: z.record(z.string(), count) });

export type Header = Readonly<z.infer<typeof headerSchema>>;

/** Number of rows by table. */
export type Counts = Readonly<Record<string, number>>;

export type Value = string | number | null;

export type Row = readonly Value[];

export type Part =
  | ({ readonly kind: 'header' } & Header)
  | ({ readonly kind: 'table' } & Readonly<z.infer<typeof tableSchema>>)
  | { readonly kind: 'row'; readonly row: Row }
  | { readonly kind: 'end'; readonly rows: Counts };

/** Parses a line. The first line must be the header. */
export function parsePart(line: string, isFirst: boolean): Part {
  const value = parseJson(line);
  if (isFirst) {
    const header = headerSchema.safeParse(value);
    if (!header.success) throw foreign();
    return { kind: 'header', ...header.data };
  }
  if (isRow(value)) return { kind: 'row', row: value };
  const table = tableSchema.safeParse(value);
  if (table.success) return { kind: 'table', ...table.data };
  const end = endSchema.safeParse(value);
  if (end.success) return { kind: 'end', ...end.data };
  throw damaged('a line in it is not one of a backup');
}

/** The message is written for users. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

export const damaged = (reason: string): BackupError =>
  new BackupError(`The backup is damaged: ${reason}. Nothing was changed. Restore another backup.`);

export const foreign = (): BackupError =>
  new BackupError(
    'The file is not a backup that this version of workspace-service can read. Nothing was changed. Restore a file that "workspace-service backup" wrote.',
  );

const isRow = (value: unknown): value is Row =>
  Array.isArray(value) && value.every((each) => each === null || typeof each === 'string' || Number.isFinite(each));

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
