import { z } from '@hono/zod-openapi';
import { sql } from 'kysely';
import { type Duration, milliseconds } from '../../interface/duration.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { parseJson } from '../contract/problem.ts';
import type { RecordedEntry } from '../outbox/event.ts';
import { type Retention, removeInBatches } from '../storage/remove-old.ts';
import type { Storage } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { recordAudit } from './audit.ts';

export interface AuditQuery {
  readonly limit: number;
  /** Selects older entries: the `next` of the previous page. */
  readonly before?: number | undefined;
  readonly action?: string | undefined;
  /** Name of the actor, or id of its token. */
  readonly actor?: string | undefined;
  /** Maximum age of the entries. */
  readonly since?: Duration | undefined;
  readonly workspace?: string | undefined;
}

const auditColumns = ['sequence', 'at', 'actor', 'token_id', 'address', 'action', 'detail'] as const;

/**
 * Newest first. With a workspace, pages before the last one may be shorter than the limit, or empty. `next` is the
 * cursor of the next page; undefined on the last one.
 */
export async function readAudit({ read, now }: Pick<Storage, 'read' | 'now'>, query: AuditQuery) {
  const { limit, before = Number.MAX_SAFE_INTEGER, action, actor, since, workspace } = query;
  const most = limit + 1;
  const windowStart = workspace === undefined ? 0 : await windowBefore(read, before);
  let entries = read
    .selectFrom('audit')
    .select(auditColumns)
    .where('sequence', '>=', windowStart)
    .where('sequence', '<', before)
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
  const nextWindow = windowStart > 0 ? windowStart : undefined;
  return { entries: page, next: rows.length > limit ? page.at(-1)?.sequence : nextWindow };
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

const dayMs = 86_400_000;

/** First millisecond after the day, since 1970. */
export function parseEndOfDay(text: string): Parsed<number> {
  const day = parseDay(text);
  return day.ok ? accepted(day.value + dayMs) : day;
}

/** First millisecond of the day in UTC, since 1970. */
export function parseDay(text: string): Parsed<number> {
  const day = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  const exists = !Number.isNaN(day) && new Date(day).toISOString().startsWith(text);
  return exists ? accepted(day) : refused('It must be a date such as 2026-03-01.');
}

const maintenance = { name: 'maintenance', tokenId: null, address: null };

/**
 * Removes the entries of all days that are older than the retention. A trigger rejects the removal of entries after a
 * stored limit. The limit is raised in one transaction with an audit entry about it.
 */
export async function removeOldAudit(
  storage: Pick<Storage, 'read' | 'now' | 'commit'>,
  { keepAudit }: Pick<Retention, 'keepAudit'>,
): Promise<void> {
  if (keepAudit === undefined) return;
  const { read, now, commit } = storage;
  const { time } = await read.selectNoFrom(now.as('time')).executeTakeFirstOrThrow();
  const before = Math.floor((time - milliseconds(keepAudit)) / dayMs) * dayMs;
  const end = await firstSequenceAt(read, before);
  const old = read.selectFrom('audit').select('sequence').where('sequence', '<', end).where('at', '<', before).limit(1);
  if ((await old.executeTakeFirst()) === undefined) return;
  await commit('global', async (db) => {
    const raised = await db
      .insertInto('quotas')
      .values({ name: 'auditRemovableBefore', value: before })
      .onConflict((conflict) =>
        conflict.column('name').doUpdateSet({ value: before }).where('quotas.value', '<', before),
      )
      .executeTakeFirst();
    if (raised.numInsertedOrUpdatedRows === 0n) return;
    await recordAudit(db, now, {
      actor: maintenance,
      action: 'audit.removed',
      detail: { before: asTimestamp(before) },
    });
  });
  await removeInBatches(storage, { table: 'audit', time: 'sequence' }, sql`sequence < ${end} and at < ${before}`);
}

/** Binary search, because times have no index. Entries are ordered by time, except after corrections of the clock. */
async function firstSequenceAt(read: Storage['read'], at: number): Promise<number> {
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
