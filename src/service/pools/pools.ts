import type { Selectable } from 'kysely';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { type PoolItem, withoutSecrets } from '../../interface/resources.ts';
import { type Actor, type AuditEntry, recordAudit } from '../audit/audit.ts';
import { Refusal } from '../contract/problem.ts';
import type { Pool } from '../contract/schemas.ts';
import type { Locks } from '../locks/locks.ts';
import { isOwnLock } from '../locks/release.ts';
import type { Database, Now } from '../storage/storage.ts';
import type { Tables } from '../storage/tables.ts';
import type { Bearer } from '../tokens/tokens.ts';
import { parsePoolName } from '../workspaces/workspace-id.ts';
import type { NewPoolItem } from './pool-item.ts';

/** Includes the values of secret properties: see seatsOf(). */
export interface StoredPool extends Pool {
  readonly workspace: string;
}

/** Pools by workspace and name, with their items in order. */
export async function findPools(
  db: Database,
  { workspace, name }: { readonly workspace?: string | undefined; readonly name?: string },
): Promise<readonly StoredPool[]> {
  const rows = await db
    .selectFrom('pool_items')
    .selectAll()
    .$if(workspace !== undefined, (items) => items.where('workspace_id', '=', workspace ?? ''))
    .$if(name !== undefined, (items) => items.where('pool', '=', name ?? ''))
    .orderBy('workspace_id')
    .orderBy('pool')
    .orderBy('position')
    .execute();
  return [...Map.groupBy(rows, (row) => `${row.workspace_id} ${row.pool}`).values()].flatMap((items) => {
    const [first] = items;
    return first === undefined ? [] : [{ workspace: first.workspace_id, name: first.pool, items: items.map(itemOf) }];
  });
}

/** Throws if there is no such pool. */
export async function poolWithName(db: Database, workspace: string, name: string): Promise<StoredPool> {
  // Invalid names are not passed to the database, which may reject some characters.
  const [pool] = parsePoolName(name).ok ? await findPools(db, { workspace, name }) : [];
  if (pool === undefined) throw new Refusal('not-found', await noSuchPool(db, workspace, name));
  return pool;
}

interface PoolChange {
  readonly workspace: string;
  readonly name: string;
  readonly items: readonly NewPoolItem[];
  readonly removed?: readonly string[] | undefined;
}

const maxPools = 100;
const maxItems = 1_000;

/** Returns all items of the pool, or the reason why nothing was changed. */
export type StorePool = (
  db: Database,
  now: Now,
  actor: Actor,
  change: PoolChange,
) => Promise<Parsed<readonly PoolItem[]>>;

export const addPool: StorePool = async (db, now, actor, change) => {
  const { workspace, name } = change;
  const names = await poolNames(db, workspace);
  if (names.includes(name)) {
    return refused(`The pool "${name}" already exists. Change it with "workspace-service pool update".`);
  }
  if (names.length >= maxPools) {
    return refused(`The workspace "${workspace}" already has ${maxPools} pools. Remove one that is no longer used.`);
  }
  return storeItems(db, now, { actor, action: 'pool.added' }, [], change);
};

export const updatePool: StorePool = async (db, now, actor, change) => {
  const { workspace, name } = change;
  const [pool] = await findPools(db, { workspace, name });
  if (pool === undefined) return refused(await noSuchPool(db, workspace, name));
  return storeItems(db, now, { actor, action: 'pool.updated' }, pool.items, change);
};

export async function removePool(
  db: Database,
  now: Now,
  actor: Actor,
  { workspace, name }: Pick<PoolChange, 'workspace' | 'name'>,
): Promise<boolean> {
  const { numDeletedRows } = await deleteItems(db, { workspace, name });
  if (numDeletedRows === 0n) return false;
  await recordAudit(db, now, { actor, action: 'pool.removed', detail: { workspace, pool: name } });
  return true;
}

/** More names would hide the rest of a sentence. */
const maxNamed = 10;

/** A sentence that names the pools that exist, if they are few. */
export async function noSuchPool(db: Database, workspace: string, name: string): Promise<string> {
  const names = await poolNames(db, workspace);
  const known =
    names.length === 0
      ? 'It has none'
      : names.length <= maxNamed
        ? `Its pools are ${names.join(', ')}`
        : `It has ${names.length} pools`;
  return `The workspace "${workspace}" has no pool ${JSON.stringify(name)}. ${known}.`;
}

async function poolNames(db: Database, workspace: string): Promise<readonly string[]> {
  const query = db.selectFrom('pool_items').select('pool').distinct().where('workspace_id', '=', workspace);
  return (await query.orderBy('pool').execute()).map(({ pool }) => pool);
}

async function storeItems(
  db: Database,
  now: Now,
  by: Pick<AuditEntry, 'actor' | 'action'>,
  current: readonly PoolItem[],
  { workspace, name, items, removed = [] }: PoolChange,
): Promise<Parsed<readonly PoolItem[]>> {
  const byPath = new Map(current.map((item) => [item.path, item]));
  for (const path of removed) {
    if (!byPath.delete(path)) return refused(`${JSON.stringify(path)} is not an item of the pool "${name}".`);
  }
  for (const item of items) byPath.set(item.path, item);
  const all = [...byPath.values()];
  if (all.length === 0)
    return refused(`The pool "${name}" would be empty. Remove it with "workspace-service pool remove".`);
  if (all.length > maxItems)
    return refused(`The pool "${name}" would have ${all.length} items. The maximum is ${maxItems}.`);
  await deleteItems(db, { workspace, name });
  const rows = all.map(({ path, properties, secret }, position) => ({
    workspace_id: workspace,
    pool: name,
    position,
    path,
    properties: JSON.stringify(properties),
    secrets: JSON.stringify(secret),
  }));
  await db.insertInto('pool_items').values(rows).execute();
  const set = firstOf(items.map(({ path }) => path));
  const detail = { workspace, pool: name, set, ...(removed.length > 0 && { removed: firstOf(removed) }) };
  await recordAudit(db, now, { ...by, detail });
  return accepted(all);
}

/** Only paths, because properties may be secret. */
const firstOf = (paths: readonly string[]) => ({ count: paths.length, first: paths.slice(0, maxNamed) });

const deleteItems = (db: Database, { workspace, name }: Pick<PoolChange, 'workspace' | 'name'>) =>
  db.deleteFrom('pool_items').where('workspace_id', '=', workspace).where('pool', '=', name).executeTakeFirstOrThrow();

// Only storeItems() writes these columns.
const itemOf = ({ path, properties, secrets }: Selectable<Tables['pool_items']>): PoolItem => ({
  path,
  properties: JSON.parse(properties) as Record<string, string>,
  secret: JSON.parse(secrets) as string[],
});

export type Seat = Awaited<ReturnType<typeof seatsOf>>[number];

/** The items of a pool, with the locks on them: with secret properties only if the lock is the caller's own. */
export const seatsOf = (locks: Pick<Locks, 'find'>, { workspace, items }: StoredPool, bearer: Bearer) =>
  Promise.all(
    items.map(async (item) => {
      const found = await locks.find({ workspace, path: item.path });
      const lock = found?.isActive ? found : undefined;
      const isOwn = lock !== undefined && isOwnLock(lock, bearer);
      return { item: isOwn ? item : withoutSecrets(item), lock };
    }),
  );
