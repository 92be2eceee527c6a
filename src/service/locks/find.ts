import { type Selectable, type SqlBool, sql } from 'kysely';
import { byPath } from '../../interface/lock-path.ts';
import type { Lock } from '../contract/schemas.ts';
import { batchQuery, inInputOrder, inputIndex, textOf } from '../storage/batch-query.ts';
import { coalesceReads } from '../storage/coalesce-reads.ts';
import type { Database } from '../storage/storage.ts';
import type { Tables } from '../storage/tables.ts';
import { asTimestamp, now } from '../storage/timestamp.ts';
import type { Bearer } from '../tokens/tokens.ts';

/** The active lock on each path, in input order. */
export const findLocks = async (db: Database, keys: readonly LockKey[]): Promise<readonly (StoredLock | undefined)[]> =>
  (await findRows(db, keys)).map((row) => (isActive(row) ? row : undefined));

/** Coalesces concurrent lookups outside of transactions. */
export const findCommittedLock = coalesceReads(findLocks);

export interface StoredLock extends LockRow {
  readonly remainingMs: number;
}

export interface LockKey {
  readonly workspace: string;
  readonly path: string;
}

/** Unambiguous, because the id of a workspace contains no spaces. */
export const nameOf = ({ workspace, path }: LockKey): string => `${workspace} ${path}`;

const selectLocks = batchQuery((db, members) =>
  db
    .selectFrom(members)
    .innerJoin('locks', (join) =>
      join.on('locks.workspace_id', '=', textOf('workspace')).on('locks.path', '=', textOf('path')),
    )
    .selectAll('locks')
    .select([inputIndex.as('index'), sql<number>`expires_at - ${now}`.as('remainingMs')]),
);

export const isActive = (row: StoredLock | undefined): row is StoredLock => row !== undefined && row.remainingMs > 0;

/** Includes expired locks whose rows have not been removed yet. */
export const findRows = async (db: Database, keys: readonly LockKey[]): Promise<readonly (StoredLock | undefined)[]> =>
  inInputOrder(keys, await selectLocks(db, keys));

export type LockRow = Selectable<Tables['locks']>;

export const toLock = (row: LockRow): Lock => ({
  id: row.id,
  path: row.path,
  type: 'exclusive',
  owner: row.owner,
  origin: row.origin,
  note: row.note,
  acquired_at: asTimestamp(row.acquired_at),
  expires_at: asTimestamp(row.expires_at),
  fence: row.fence,
  lease: row.lease_id,
});

export interface LockQuery {
  readonly workspace: string;
  readonly path?: string | undefined;
  readonly prefix?: string | undefined;
  readonly owner?: string | undefined;
  /** Finds locks with all of these words in their path, holder, note or run. */
  readonly words?: readonly string[];
  /** The path of the last lock of the previous page; for a search, of the last lock it examined. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Sorts after every character that a path can contain, in UTF-8 and so in both databases. */
const lastSortKey = '\u{10FFFF}';

const searched = ['path', 'owner', 'origin', 'note'] as const;

/** A search examines this many locks per page. */
export const maxSearched = 2_000;

/**
 * `next` is the `after` of the next page; undefined on the last page. Each query reads a limited number of rows,
 * regardless of the number of locks: SQLite runs on the thread that also serves the requests for locks.
 */
export async function listLocks(
  read: Database,
  { workspace, path, prefix, owner, words = [], after, limit }: LockQuery,
) {
  let active = activeLocks(read)
    .select(sql<number>`expires_at - (select ${now})`.as('remainingMs'))
    .where('workspace_id', '=', workspace);
  if (path !== undefined) active = active.where('path', '=', path);
  if (prefix !== undefined) active = active.where('path', '>=', prefix).where('path', '<', `${prefix}${lastSortKey}`);
  if (owner !== undefined) active = active.where('owner', '=', owner);
  if (after !== undefined) active = active.where('path', '>', after);
  const lookedAt = words.length === 0 ? limit + 1 : maxSearched;
  const rows = await active.orderBy('path').limit(lookedAt).execute();
  const wanted = words.map((word) => word.toLowerCase());
  const found = rows.filter((row) =>
    wanted.every((word) => searched.some((column) => row[column]?.toLowerCase().includes(word))),
  );
  const locks = found.slice(0, limit);
  const last = found.length > limit ? locks.at(-1) : rows.length === maxSearched ? rows.at(-1) : undefined;
  return { locks, next: last?.path };
}

const activeLocks = (read: Database) =>
  read.selectFrom('locks').selectAll().where(sql<SqlBool>`expires_at > (select ${now})`);

/** Active locks, sorted by path. */
export const locksWithIds = async (
  read: Database,
  workspace: string,
  ids: readonly string[],
): Promise<readonly LockRow[]> =>
  (await activeLocks(read).where('workspace_id', '=', workspace).where('id', 'in', ids).execute()).toSorted(byPath);

/** Locks that a bearer may renew and release, sorted by workspace and path. */
export const listOwnLocks = (read: Database, bearer: Bearer, limit: number) =>
  ownLocksOf(read, bearer).orderBy('workspace_id').orderBy('path').limit(limit).execute();

export const ownLocksOf = (read: Database, { owner, workspaces }: Bearer) =>
  activeLocks(read)
    .where('owner', '=', owner)
    .$if(workspaces !== null, (locks) => locks.where('workspace_id', 'in', workspaces ?? []));
