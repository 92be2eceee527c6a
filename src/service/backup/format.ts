/**
 * A backup is gzipped JSON, one value per line: the header, then for each table an object with its name and columns,
 * then its rows as arrays, and at the end the number of rows of each table. Without that last line it is incomplete.
 */
export interface Header {
  readonly format: typeof format;
  readonly schema: number;
  /** Version of the service that wrote it. */
  readonly service: string;
  /** Milliseconds since 1970, by the clock of the database. */
  readonly taken_at: number;
}

export type Value = string | number | null;

export type Row = readonly Value[];

export type Part =
  | ({ readonly kind: 'header' } & Header)
  | { readonly kind: 'table'; readonly table: string; readonly columns: readonly string[] }
  | { readonly kind: 'row'; readonly row: Row }
  | { readonly kind: 'end'; readonly rows: Counts };

/** Number of rows by table. */
export type Counts = Readonly<Record<string, number>>;

export const format = 'workspace-service backup 1';

/** Parses a line. The first line must be the header. */
export function parsePart(line: string, isFirst: boolean): Part {
  const value = parseJson(line);
  if (isFirst) {
    const header = parseHeader(value);
    if (header === undefined) throw foreign();
    return header;
  }
  if (isRow(value)) return { kind: 'row', row: value };
  if (isObject(value)) {
    const { table, columns, rows } = value;
    if (isText(table) && Array.isArray(columns) && columns.every(isText)) return { kind: 'table', table, columns };
    if (isCounts(rows)) return { kind: 'end', rows };
  }
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

const isRow = (value: unknown): value is Row => Array.isArray(value) && value.every(isValue);

const isValue = (value: unknown): value is Value =>
  value === null || isText(value) || (typeof value === 'number' && Number.isFinite(value));

const isCounts = (value: unknown): value is Counts => isObject(value) && Object.values(value).every(isCount);

function parseHeader(value: unknown): Part | undefined {
  if (!isObject(value) || value['format'] !== format) return undefined;
  const { schema, service, taken_at } = value;
  return isCount(schema) && isText(service) && isCount(taken_at)
    ? { kind: 'header', format, schema, service, taken_at }
    : undefined;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

const isText = (value: unknown): value is string => typeof value === 'string';

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
