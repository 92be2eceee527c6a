import { joinFirst } from '../../interface/format.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { type PoolItem, withoutSecrets } from '../../interface/resources.ts';
import { type Actor, recordAudit } from '../audit/audit.ts';
import { Refusal } from '../contract/response.ts';
import type { Pool } from '../contract/schemas.ts';
import { isOwnLock } from '../locks/change-lock.ts';
import { findLocks } from '../locks/find.ts';
import { inSlices } from '../runtime/map-in-slices.ts';
import type { Database } from '../storage/storage.ts';
import type { Bearer } from '../tokens/tokens.ts';
import { parsePoolName } from '../workspaces/workspace-id.ts';
import type { NewPoolItem } from './pool-item.ts';

/** All pools of a workspace, or the one with this name. Includes the values of secret properties: see seatsOf(). */
export async function findPools(db: Database, workspace: string, name?: string): Promise<readonly Pool[]> {
  const rows = await db
    .selectFrom('pools')
    .select(['name', 'items'])
    .where('workspace_id', '=', workspace)
    .$if(name !== undefined, (pools) => pools.where('name', '=', name ?? ''))
    .orderBy('name')
    .execute();
  // Only storePool() writes the items.
  return rows.map(({ name, items }) => ({ name, items: JSON.parse(items) as PoolItem[] }));
}

/** Throws if there is no such pool. */
export async function poolWithName(db: Database, workspace: string, name: string): Promise<Pool> {
  // Invalid names are not passed to the database, which may reject some characters.
  const [pool] = parsePoolName(name).ok ? await findPools(db, workspace, name) : [];
  if (pool === undefined) throw new Refusal('not-found', await noSuchPool(db, workspace, name));
  return pool;
}

interface NewPool {
  readonly workspace: string;
  readonly name: string;
  readonly items: readonly NewPoolItem[];
}

const maxPools = 100;
const maxItems = 1_000;

/** Adds a pool, or replaces the items of an existing one. Returns its items, or the reason why nothing was changed. */
export async function storePool(
  db: Database,
  actor: Actor,
  action: 'pool.added' | 'pool.updated',
  { workspace, name, items }: NewPool,
): Promise<Parsed<readonly PoolItem[]>> {
  const names = await poolNames(db, workspace);
  if (action === 'pool.updated') {
    if (!names.includes(name)) return refused(await noSuchPool(db, workspace, name));
  } else if (names.includes(name)) {
    return refused(`The pool "${name}" already exists. Change it with "workspace-service pool update".`);
  } else if (names.length >= maxPools) {
    return refused(`The workspace "${workspace}" already has ${maxPools} pools. Remove one that is no longer used.`);
  }
  const all = [...new Map(items.map((item) => [item.path, item])).values()];
  if (all.length === 0)
    return refused(`The pool "${name}" would be empty. Remove it with "workspace-service pool remove".`);
  if (all.length > maxItems)
    return refused(`The pool "${name}" would have ${all.length} items. The maximum is ${maxItems}.`);
  const stored = { items: JSON.stringify(all) };
  await db
    .insertInto('pools')
    .values({ workspace_id: workspace, name, ...stored })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'name']).doUpdateSet(stored))
    .execute();
  // Only paths are recorded, because properties may be secret.
  const set = { count: all.length, first: all.slice(0, maxNamed).map(({ path }) => path) };
  await recordAudit(db, { actor, action, detail: { workspace, pool: name, set } });
  return accepted(all);
}

export async function removePool(
  db: Database,
  actor: Actor,
  { workspace, name }: Pick<NewPool, 'workspace' | 'name'>,
): Promise<boolean> {
  const pool = db.deleteFrom('pools').where('workspace_id', '=', workspace).where('name', '=', name);
  const { numDeletedRows } = await pool.executeTakeFirstOrThrow();
  if (numDeletedRows === 0n) return false;
  await recordAudit(db, { actor, action: 'pool.removed', detail: { workspace, pool: name } });
  return true;
}

/** With more names, the rest of the sentence would be lost. */
const maxNamed = 10;

/** A sentence that includes the names of some existing pools. */
export async function noSuchPool(db: Database, workspace: string, name: string): Promise<string> {
  const names = await poolNames(db, workspace);
  const known = names.length === 0 ? 'It has none' : `Its pools are ${joinFirst(names, maxNamed)}`;
  return `The workspace "${workspace}" has no pool ${JSON.stringify(name)}. ${known}.`;
}

async function poolNames(db: Database, workspace: string): Promise<readonly string[]> {
  const query = db.selectFrom('pools').select('name').where('workspace_id', '=', workspace);
  return (await query.orderBy('name').execute()).map(({ name }) => name);
}

export type Seat = Awaited<ReturnType<typeof seatsOf>>[number]['seats'][number];

/** The items of each pool with their locks. Values of secret properties are included only for the caller's locks. */
export async function seatsOf(read: Database, workspace: string, pools: readonly Pool[], bearer: Bearer) {
  const paths = pools.flatMap(({ items }) => items.map(({ path }) => ({ workspace, path })));
  // On SQLite, a lookup of this size blocks other requests for a few milliseconds.
  const found = (await inSlices(paths, 1_000, (slice) => findLocks(read, slice))).values();
  return pools.map((pool) => ({
    pool,
    seats: pool.items.map((item) => {
      const lock = found.next().value;
      const isOwn = lock !== undefined && isOwnLock(lock, bearer);
      return { item: isOwn ? item : withoutSecrets(item), lock };
    }),
  }));
}
