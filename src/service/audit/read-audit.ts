import { type Selectable, sql } from 'kysely';
import { type Duration, milliseconds } from '../../interface/duration.ts';
import type { Timestamp } from '../../interface/resources.ts';
import type { Storage } from '../storage/storage.ts';
import type { Tables } from '../storage/tables.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import type { AuditAction } from './audit.ts';

export interface RecordedEntry {
  /** Grows with each entry; not without gaps. */
  readonly sequence: number;
  readonly at: Timestamp;
  readonly actor: string;
  /** Null for what was done at the command line. */
  readonly token_id: string | null;
  readonly address: string | null;
  /** `isAuditAction` tells whether it is one of ours: another version may have recorded others, which are shown as they are. */
  readonly action: AuditAction | (string & {});
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface AuditQuery {
  readonly limit: number;
  /** Only what is older: the `next` of the page before. */
  readonly before?: number | undefined;
  readonly action?: string | undefined;
  /** Its name, or the id of its token. */
  readonly actor?: string | undefined;
  /** How far back. */
  readonly since?: Duration | undefined;
}

export interface AuditPage {
  /** The newest first. */
  readonly entries: readonly RecordedEntry[];
  /** What to go on before; undefined on the last page. */
  readonly next: number | undefined;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What somebody has put into the table by hand must not hide all other entries. */
function detailOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const detail: unknown = JSON.parse(text);
    return isRecord(detail) ? detail : { unreadable: text };
  } catch {
    return { unreadable: text };
  }
}

function entryOf({
  sequence,
  at,
  actor,
  token_id,
  address,
  action,
  detail,
}: Selectable<Tables['audit']>): RecordedEntry {
  return { sequence, at: asTimestamp(at), actor, token_id, address, action, detail: detailOf(detail) };
}

export async function readAudit({ read, now }: Pick<Storage, 'read' | 'now'>, query: AuditQuery): Promise<AuditPage> {
  const { limit, before, action, actor, since } = query;
  const most = limit + 1;
  let entries = read.selectFrom('audit').selectAll().orderBy('sequence', 'desc').limit(most);
  if (before !== undefined) entries = entries.where('sequence', '<', before);
  if (action !== undefined) entries = entries.where('action', '=', action);
  if (since !== undefined) entries = entries.where('at', '>=', sql<number>`${now} - ${milliseconds(since)}`);
  const of = (column: 'actor' | 'token_id') => entries.where(column, '=', actor ?? '').execute();
  // Two queries, each of which finds its newest entries in an index: one with "or" would sort all of them.
  const found = actor === undefined ? [await entries.execute()] : [await of('actor'), await of('token_id')];
  const rows = [...new Map(found.flat().map((row) => [row.sequence, row])).values()]
    .toSorted((one, other) => other.sequence - one.sequence)
    .slice(0, most);
  const page = rows.slice(0, limit).map(entryOf);
  return { entries: page, next: rows.length > limit ? page.at(-1)?.sequence : undefined };
}
