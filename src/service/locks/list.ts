import { sql } from 'kysely';
import type { Storage } from '../storage/storage.ts';
import type { Bearer } from '../tokens/tokens.ts';
import { type LockRow, toLock } from './lock-row.ts';
import { isPresent } from './waits.ts';

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

/**
 * All locks of a workspace, by path. They stay rows, because a page converts only the few of maybe 100,000 that it
 * shows.
 */
export const activeLocksOf = (storage: Storage, workspace: string): Promise<LockRow[]> =>
  workspaceLocks(storage, workspace).orderBy('path').execute();

/** The oldest locks in all workspaces that the bearer may see. */
export const oldestLocks = (storage: Storage, { workspaces }: Bearer, limit: number): Promise<LockRow[]> =>
  visibleLocks(storage, workspaces).orderBy('acquired_at').orderBy('path').limit(limit).execute();

export const locksEndingWithin = (storage: Storage, { workspaces }: Bearer, limit: number, ms: number) =>
  visibleLocks(storage, workspaces)
    .where(sql<boolean>`expires_at <= (select ${storage.now}) + ${ms}`)
    .orderBy('expires_at')
    .orderBy('path')
    .limit(limit)
    .execute();

export const locksWithIds = (storage: Storage, workspace: string, ids: readonly string[]): Promise<LockRow[]> =>
  workspaceLocks(storage, workspace).where('id', 'in', ids).orderBy('path').execute();

/** Locks that a bearer may renew and release, in all workspaces that it may see, by workspace and path. */
export const ownLocks = (storage: Storage, { owner, workspaces }: Bearer, limit: number): Promise<LockRow[]> =>
  visibleLocks(storage, workspaces)
    .where('owner', '=', owner)
    .orderBy('workspace_id')
    .orderBy('path')
    .limit(limit)
    .execute();

const visibleLocks = (storage: Storage, workspaces: Bearer['workspaces']) =>
  activeLocks(storage).$if(workspaces !== null, (locks) => locks.where('workspace_id', 'in', workspaces ?? []));

const workspaceLocks = (storage: Storage, workspace: string) =>
  activeLocks(storage).where('workspace_id', '=', workspace);

const activeLocks = ({ read, now }: Storage) =>
  read.selectFrom('locks').selectAll().where(sql<boolean>`expires_at > (select ${now})`);

/**
 * Changes when a lock is acquired, renewed or released, expires, or is removed after it expired, and when someone joins
 * or leaves a line. Much cheaper than reading all locks. A string, because the sum exceeds the safe integers of
 * JavaScript.
 */
export async function lockSignature(storage: Storage, workspace: string): Promise<string> {
  const { signature } = await storage.read
    .selectFrom('locks')
    .where('workspace_id', '=', workspace)
    .select(
      sql<string>`cast(count(*) as text) || ' ' || cast(coalesce(max(fence), 0) as text) || ' ' || cast(coalesce(sum(expires_at) filter (where expires_at > (select ${storage.now})), 0) as text) || ' ' || ${linesSignature(storage, workspace)}`.as(
        'signature',
      ),
    )
    .executeTakeFirstOrThrow();
  return signature;
}

const linesSignature = ({ read, now }: Storage, workspace: string) =>
  read
    .selectFrom('waits')
    .where('waits.workspace_id', '=', workspace)
    .where(isPresent(sql`(select ${now})`))
    .select(
      sql<string>`cast(count(*) as text) || ' ' || cast(coalesce(max(waits.rank), 0) + coalesce(max(told_at), 0) as text)`.as(
        'signature',
      ),
    );

/** Whether files in this folder are locked, or were locked according to the history. */
export async function hasLocksBelow({ read }: Pick<Storage, 'read'>, workspace: string, folder: string) {
  const lockedIn = (table: 'locks' | 'lock_history') =>
    read
      .selectFrom(table)
      .select('path')
      .where('workspace_id', '=', workspace)
      .where('path', '>=', `${folder}/`)
      .where('path', '<', `${folder}/${lastSortKey}`)
      .limit(1)
      .executeTakeFirst();
  return ((await lockedIn('locks')) ?? (await lockedIn('lock_history'))) !== undefined;
}

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
