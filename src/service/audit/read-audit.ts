import { z } from '@hono/zod-openapi';
import { sql } from 'kysely';
import { type Duration, milliseconds } from '../../interface/duration.ts';
import { parseJson } from '../contract/validate.ts';
import type { RecordedEntry } from '../outbox/event.ts';
import type { Storage } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';

export interface AuditQuery {
  readonly limit: number;
  /** Selects older entries: the `next` of the previous page. */
  readonly before?: number | undefined;
  readonly action?: string | undefined;
  /** Name of the actor, or id of its token. */
  readonly actor?: string | undefined;
  /** Maximum age of the entries. */
  readonly since?: Duration | undefined;
  /** Milliseconds since 1970; `until` is excluded. */
  readonly from?: number | undefined;
  readonly until?: number | undefined;
  readonly workspace?: string | undefined;
}

export type AuditPage = Awaited<ReturnType<typeof readAudit>>;

export const auditColumns = ['sequence', 'at', 'actor', 'token_id', 'address', 'action', 'detail'] as const;

/**
 * Newest first. With a workspace, pages before the last one may be shorter than the limit, or empty. `next` is the
 * cursor of the next page; undefined on the last one.
 */
export async function readAudit({ read, now }: Pick<Storage, 'read' | 'now'>, query: AuditQuery) {
  const { limit, before = Number.MAX_SAFE_INTEGER, action, actor, since, from, until, workspace } = query;
  const most = limit + 1;
  const first = from === undefined ? 0 : await firstSequenceAt(read, from);
  const end = until === undefined ? before : Math.min(before, await firstSequenceAt(read, until));
  const windowStart = workspace === undefined ? first : Math.max(first, await windowBefore(read, end));
  let entries = read
    .selectFrom('audit')
    .select(auditColumns)
    .where('sequence', '>=', windowStart)
    .where('sequence', '<', end)
    .orderBy('sequence', 'desc')
    .limit(most);
  if (workspace !== undefined) entries = entries.where(ofWorkspace(workspace));
  if (action !== undefined) entries = entries.where('action', '=', action);
  if (since !== undefined) entries = entries.where('at', '>=', sql<number>`${now} - ${milliseconds(since)}`);
  const of = (column: 'actor' | 'token_id') => entries.where(column, '=', actor ?? '').execute();
  // Two queries, each with an index for its newest entries: a single query with "or" would sort all entries.
  const found = actor === undefined ? [await entries.execute()] : [await of('actor'), await of('token_id')];
  const rows = [...new Map(found.flat().map((row) => [row.sequence, row])).values()]
    .toSorted((one, other) => other.sequence - one.sequence)
    .slice(0, most);
  const page = rows
    .slice(0, limit)
    .map((row): RecordedEntry => ({ ...row, at: asTimestamp(row.at), detail: parseDetail(row.detail) }));
  const nextWindow = windowStart > first ? windowStart : undefined;
  return { entries: page, next: rows.length > limit ? page.at(-1)?.sequence : nextWindow };
}

/** Binary search, because times have no index. Entries are ordered by time, except after corrections of the clock. */
export async function firstSequenceAt(read: Storage['read'], at: number): Promise<number> {
  const newest = read.selectFrom('audit').select('sequence').orderBy('sequence', 'desc').limit(1);
  let low = 0;
  let high = ((await newest.executeTakeFirst())?.sequence ?? 0) + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const entry = await read
      .selectFrom('audit')
      .select(['sequence', 'at'])
      .where('sequence', '>=', middle)
      .orderBy('sequence')
      .limit(1)
      .executeTakeFirst();
    if (entry === undefined || entry.at >= at) high = middle;
    else low = entry.sequence + 1;
  }
  return low;
}

const detailSchema = z.record(z.string(), z.unknown());

/** A manually inserted entry must not make all others unreadable. */
const parseDetail = (text: string): Readonly<Record<string, unknown>> =>
  parseJson(detailSchema, text) ?? { unreadable: text };

/** Entries have no index by workspace, so they are scanned in windows of this size. */
const windowSize = 10_000;

async function windowBefore(read: Storage['read'], end: number): Promise<number> {
  const oldest = await read
    .selectFrom('audit')
    .select('sequence')
    .where('sequence', '<', end)
    .orderBy('sequence', 'desc')
    .offset(windowSize - 1)
    .limit(1)
    .executeTakeFirst();
  return oldest?.sequence ?? 0;
}

/** JSON.stringify() writes the detail, so the member always has the same spelling. */
const ofWorkspace = (workspace: string) =>
  sql<boolean>`detail like ${`%"workspace":${JSON.stringify(workspace).replaceAll(/[\\%_]/g, '\\$&')}%`} escape '\\'`;
