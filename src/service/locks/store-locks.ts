import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { milliseconds, type Ttl } from '../../interface/duration.ts';
import { recordEventsFor, subscribersOf } from '../outbox/outbox.ts';
import { batchQuery, excludedOf, insertFrom, numberOf, rowsOf, textOf, valueText } from '../storage/batch-query.ts';
import type { Database } from '../storage/storage.ts';
import { removedRemote } from '../storage/tables.ts';
import { now } from '../storage/timestamp.ts';
import type { Bearer } from '../tokens/tokens.ts';
import type { LockKey, LockRow, StoredLock } from './find.ts';
import { endLocks, expiryOf, lockEvent } from './history.ts';

/** Properties that all locks of a request share. */
export interface LockRequest {
  readonly workspace: string;
  readonly lease?: string | undefined;
  readonly ttl: Ttl;
  readonly bearer: Bearer;
  readonly origin: string | null;
  readonly note?: string | null | undefined;
  /** True for Git LFS users. Git LFS has no ttl: see isLfsRenewalDue(). */
  readonly fromLfs?: boolean | undefined;
}

/** Paths granted to a request. Nobody may hold them. */
export interface Grant {
  readonly request: LockRequest;
  readonly keys: readonly LockKey[];
  /** Expired locks on them whose rows still exist. */
  readonly replaced: readonly StoredLock[];
}

/** Stores the locks of these grants, with few statements for any number of them, and returns the locks of each. */
export async function storeLocks(
  db: Database,
  grants: readonly Grant[],
  { fences, subscribers }: WorkspaceRows,
): Promise<readonly (readonly LockRow[])[]> {
  if (grants.length === 0) return [];
  const members = membersOf(grants, new Map(fences));
  const raised = members.map(({ shared: { workspace_id }, first, paths }) => ({
    workspace_id,
    value: first.fence + paths.length - 1,
  }));
  await storeFences(db, [...new Map(raised.map((fence) => [fence.workspace_id, fence])).values()]);
  // They had expired when they were read, and stay expired even if the clock was set back since then.
  const expired = grants.flatMap(({ replaced }) => replaced);
  await endLocks(db, expired.map(expiryOf), subscribers);
  const rows = members.map(({ shared, first, paths }) => ({ ...shared, ...first, paths }));
  await insertLocks(db, rows);
  const locks = members.map(({ shared, first: { ids, number, fence }, paths }) =>
    paths.map((path, index): LockRow => ({ ...shared, path, id: `${ids}${number + index}`, fence: fence + index })),
  );
  await recordEventsFor(db, subscribers, () =>
    locks.flat().map((lock) => lockEvent('lock.acquired', lock, lock.acquired_at, {})),
  );
  return locks;
}

/** The shared columns of each grant, and the number and fence of its first lock. */
function membersOf(grants: readonly Grant[], fences: Map<string, { readonly at: number; readonly fence: number }>) {
  let ids: string | undefined;
  let number = firstLockNumber;
  return grants.map(({ request, keys }) => {
    const { workspace, ttl, bearer, origin, note = null, lease = null, fromLfs } = request;
    const { at, fence } = fences.get(workspace) ?? { at: Number.NaN, fence: Number.NaN };
    fences.set(workspace, { at, fence: fence + keys.length });
    ids ??= newLockIds(at);
    const first = { ids, number, fence };
    number += keys.length;
    const shared = {
      workspace_id: workspace,
      owner: bearer.owner,
      origin,
      note,
      lease_id: lease,
      from_lfs: fromLfs ? 1 : 0,
      acquired_at: at,
      expires_at: at + milliseconds(ttl),
    };
    return { shared, first, paths: keys.map(({ path }) => path) };
  });
}

const texts = ['owner', 'origin', 'note', 'lease_id'] as const;
const numbers = ['from_lfs', 'acquired_at', 'expires_at'] as const;

/** Reads the shared columns of each grant only once. */
const insertLocks = batchQuery((db, members) =>
  db
    .with(
      (cte) => cte('granted').materialized(),
      (from) =>
        from.selectFrom(members).select([
          ...[...texts, 'ids' as const].map((name) => textOf(name).as(name)),
          // A missing workspace, or one being removed, becomes the empty id, which the foreign key refuses.
          sql<string>`coalesce((select id from workspaces where workspaces.id = ${textOf('workspace_id')}
              and remote <> ${sql.lit(removedRemote)}), '')`.as('workspace_id'),
          ...[...numbers, 'number' as const, 'fence' as const].map((name) => numberOf(name).as(name)),
          sql<string>`asked.value -> 'paths'`.as('paths'),
        ]),
    )
    .insertInto('locks')
    .columns(['workspace_id', 'path', 'id', 'fence', ...texts, ...numbers])
    .expression((from) => {
      const index = sql<number>`cast(path.key as bigint)`;
      return from
        .selectFrom(['granted', rowsOf(db, sql.ref('granted.paths')).as('path')])
        .select([
          'granted.workspace_id',
          valueText(db, 'path.value').as('lockedPath'),
          sql<string>`granted.ids || cast(granted.number + ${index} as text)`.as('id'),
          sql<number>`granted.fence + ${index}`.as('lockFence'),
        ])
        .select([...texts, ...numbers].map((name) => `granted.${name}` as const));
    }),
);

/** Start value for a workspace without a row. It is above 0 after a restore. */
const beginning = sql<number>`(select value from fences where workspace_id = '')`;

const storeFences = batchQuery((db, members) =>
  insertFrom(db, members, 'fences', {
    workspace_id: textOf('workspace_id'),
    value: numberOf('value'),
  }).onConflict((conflict) => conflict.column('workspace_id').doUpdateSet(excludedOf(['value']))),
);

const selectFences = batchQuery((db, members) =>
  db
    .selectFrom(members)
    .leftJoin('fences', (join) => join.on('workspace_id', '=', textOf('workspace')))
    .select([
      textOf('workspace').as('workspace'),
      sql<number>`coalesce(fences.value, ${beginning})`.as('last'),
      now.as('at'),
    ]),
);

type WorkspaceRows = Awaited<ReturnType<typeof readWorkspaces>>;

/** The workspace data for storeLocks(). Separate, so that it can be read together with other rows. */
export async function readWorkspaces(db: Database, requests: readonly { readonly workspace: string }[]) {
  const members = [...new Set(requests.map(({ workspace }) => workspace))].map((workspace) => ({ workspace }));
  const [found, subscribers] = await Promise.all([selectFences(db, members), subscribersOf(db, members)]);
  // The next fence of each workspace, and the current time. No other change raises the fence in between.
  const fences = new Map(found.map(({ workspace, last, at }) => [workspace, { at, fence: last + 1 }]));
  return { fences, subscribers };
}

/**
 * The start of the ids of locks that are acquired together: a UUID that begins with the time of the database (RFC 9562
 * section 5.7). Lists continue after an id, and the clocks of instances differ, hence the time of the database.
 * New ids are adjacent in the index, so that they do not each change a page of their own. The last six digits are the
 * number of the lock: the database generates thousands of them itself.
 */
function newLockIds(at: number): string {
  const time = at.toString(16).padStart(12, '0');
  return `lock_${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15, -6)}`;
}

/** Gives every number six digits. */
const firstLockNumber = 100_000;

/** The start of this id, shared by all locks that were acquired with it. */
export const sharedIdOf = (id: string): string => id.slice(0, -String(firstLockNumber).length);
