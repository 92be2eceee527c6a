import { sql } from 'kysely';
import { maxLockPathBytes, parseHeldPath } from '../../interface/lock-path.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import type { Storage } from '../storage/storage.ts';
import { type LockRow, toLock } from './lock-row.ts';

export interface LockQuery {
  readonly workspace: string;
  readonly path?: string | undefined;
  readonly prefix?: string | undefined;
  /** With --windows-paths, the prefix in folded case. */
  readonly foldedPrefix?: string | undefined;
  readonly owner?: string | undefined;
  /** The last path of the previous page. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** `next` is the `after` of the next page; undefined on the last page. */
export async function listLocks(storage: Storage, query: LockQuery) {
  const { locks, next } = await listActiveLocks(storage, query);
  return { locks: locks.map(toLock), next };
}

export const locksWithIds = ({ read, now }: Storage, workspace: string, ids: readonly string[]): Promise<LockRow[]> =>
  read
    .selectFrom('locks')
    .selectAll()
    .where('workspace_id', '=', workspace)
    .where(sql<boolean>`expires_at > (select ${now})`)
    .where('id', 'in', ids)
    .orderBy('path')
    .execute();

export interface ActiveLock extends LockRow {
  readonly remainingMs: number;
}

/** Sorts after every character that a path can contain, in UTF-8 and so in both databases. */
export const lastSortKey = '\u{10FFFF}';

/** Like listLocks(), with all stored columns. */
export async function listActiveLocks({ read, now }: Storage, query: LockQuery) {
  const { workspace, path, prefix, foldedPrefix, owner, after, limit } = query;
  const rows = await read
    .selectFrom('locks')
    .selectAll()
    .select(sql<number>`expires_at - ${now}`.as('remainingMs'))
    .where('workspace_id', '=', workspace)
    .where(sql<boolean>`expires_at > ${now}`)
    .$if(path !== undefined, (locks) => locks.where('path', '=', path ?? ''))
    .$if(prefix !== undefined, (locks) => {
      const [column, start] =
        foldedPrefix === undefined ? (['path', prefix] as const) : (['folded_path', foldedPrefix] as const);
      return locks.where(column, '>=', start ?? '').where(column, '<', `${start}${lastSortKey}`);
    })
    .$if(owner !== undefined, (locks) => locks.where('owner', '=', owner ?? ''))
    .$if(after !== undefined, (locks) => locks.where('path', '>', after ?? ''))
    .orderBy('path')
    .limit(limit + 1)
    .execute();
  const locks: readonly ActiveLock[] = rows.slice(0, limit);
  return { locks, next: rows.length > limit ? locks.at(-1)?.path : undefined };
}

/** The position in a list of locks. Opaque to clients, so that its content can change. */
export const writeCursor = (lastPath: string): string => Buffer.from(lastPath).toString('base64url');

/** RFC 4648: three bytes become four characters. */
export const maxCursorLength = Math.ceil((4 * maxLockPathBytes) / 3);

const notACursor = refused('It is not a cursor of this list. Start again without a cursor.');

export function readCursor(cursor: string): Parsed<string> {
  if (cursor.length > maxCursorLength) return notACursor;
  const path = Buffer.from(cursor, 'base64url').toString();
  return writeCursor(path) === cursor && parseHeldPath(path).ok ? accepted(path) : notACursor;
}
