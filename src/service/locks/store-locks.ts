import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { LockType } from '../../interface/resources.ts';
import { recordEventsIn } from '../outbox/outbox.ts';
import { batchQuery, insertFrom, numberOf, textOf, valueText } from '../storage/batch-query.ts';
import type { Database, Now } from '../storage/storage.ts';
import { removedRemote } from '../storage/tables.ts';
import type { Bearer } from '../tokens/tokens.ts';
import type { LockKey, LockRow, StoredLock } from './find.ts';
import { eventOf, expiryOf, recordEnds } from './history.ts';

/** What the locks of a request have in common. */
export interface LockRequest {
  readonly workspace: string;
  readonly lease?: string | undefined;
  readonly type: LockType;
  readonly ttlMs: number;
  readonly bearer: Bearer;
  readonly origin: string | null;
  readonly note?: string | null | undefined;
  /** True for Git LFS users. Git LFS has no ttl: see isLfsRenewalDue(). */
  readonly fromLfs?: boolean | undefined;
}

/** Paths that a request is granted. Nobody may hold them. */
export interface Grant {
  readonly request: LockRequest;
  readonly keys: readonly LockKey[];
  /** Expired locks on them whose rows still exist. */
  readonly replaced: readonly StoredLock[];
}

/** Stores the locks of these grants, with the same few statements for any number of them, and returns those of each. */
export async function storeLocks(
  db: Database,
  now: Now,
  grants: readonly Grant[],
): Promise<readonly (readonly LockRow[])[]> {
  if (grants.length === 0) return [];
  const members = membersOf(grants, await raisedFences(db, now, grants));
  // They have ended by the time of the look, even if the clock was set back since then.
  const expired = grants.flatMap(({ replaced }) => replaced);
  if (expired.length > 0) {
    await recordEnds(db, now, expired.map(expiryOf));
    await deleteExpired(db, now, expired);
  }
  const rows = members.map(({ keys, ...member }) => ({ ...member, paths: { ...keys.map(({ path }) => path) } }));
  await insertLocks(db, now, rows);
  const locks = members.map((member) => member.keys.map(({ path }, index) => lockOf(member, path, index)));
  // Until it ends, a lock is its own history.
  const workspaces = new Set(grants.map(({ request }) => request.workspace));
  await recordEventsIn(db, now, workspaces, () => locks.flat().map((lock) => eventOf({ kind: 'acquired', lock })));
  return locks;
}

/** Each has the number and the fence of its first lock. */
function membersOf(grants: readonly Grant[], fences: Fences) {
  let ids: string | undefined;
  let number = firstLockNumber;
  return grants.map(({ request, keys }) => {
    const { workspace, type, ttlMs, bearer, origin, note, lease, fromLfs } = request;
    const { at, fence } = fences.get(workspace) ?? { at: Number.NaN, fence: Number.NaN };
    fences.set(workspace, { at, fence: fence + keys.length });
    ids ??= newLockIds(at);
    const member = {
      ...{ workspace, type, note, owner: bearer.owner, origin, lease },
      ...{ fromLfs: fromLfs ? 1 : 0, at, expiresAt: at + ttlMs, ids, number, fence, keys },
    };
    number += keys.length;
    return member;
  });
}

type Member = ReturnType<typeof membersOf>[number];

const lockOf = (member: Member, path: string, index: number): LockRow => ({
  workspace_id: member.workspace,
  path,
  id: `${member.ids}${member.number + index}`,
  type: member.type,
  owner: member.owner,
  origin: member.origin,
  note: member.note ?? null,
  lease_id: member.lease ?? null,
  from_lfs: member.fromLfs,
  acquired_at: member.at,
  expires_at: member.expiresAt,
  fence: member.fence + index,
});

const texts = ['type', 'owner', 'origin', 'note', 'lease', 'ids'] as const;
const numbers = ['fromLfs', 'at', 'expiresAt', 'number', 'fence'] as const;

/** What all locks of a grant share is read once. */
const insertLocks = batchQuery((db, members) =>
  db
    .with(
      (cte) => cte('granted').materialized(),
      (from) =>
        from.selectFrom(members).select([
          ...texts.map((name) => textOf(name).as(name)),
          // No workspace has the empty id: the foreign key then refuses locks of a workspace that is being removed.
          sql<string>`coalesce((select id from workspaces where workspaces.id = ${textOf('workspace')}
              and remote <> ${sql.lit(removedRemote)}), '')`.as('workspace'),
          ...numbers.map((name) => numberOf(name).as(name)),
          sql<string>`asked.value -> 'paths'`.as('paths'),
        ]),
    )
    .insertInto('locks')
    .columns([
      ...(['workspace_id', 'path', 'id', 'type', 'owner', 'origin', 'note'] as const),
      ...(['lease_id', 'from_lfs', 'fence', 'acquired_at', 'expires_at'] as const),
    ])
    .expression((from) => {
      const index = sql<number>`cast(path.key as bigint)`;
      return from
        .selectFrom(['granted', sql<{ key: string; value: string }>`json_each(granted.paths)`.as('path')])
        .select([
          'granted.workspace',
          valueText(db, 'path.value').as('lockedPath'),
          sql<string>`granted.ids || cast(granted.number + ${index} as text)`.as('id'),
          ...(['granted.type', 'granted.owner', 'granted.origin', 'granted.note'] as const),
          ...(['granted.lease', 'granted.fromLfs'] as const),
          sql<number>`granted.fence + ${index}`.as('lockFence'),
          ...(['granted.at', 'granted.expiresAt'] as const),
        ]);
    }),
);

const deleteExpired = batchQuery((db, members) =>
  db.deleteFrom('locks').where(
    sql<boolean>`(workspace_id, path, id) in
        (select ${textOf('workspace_id')}, ${textOf('path')}, ${textOf('id')} from ${members})`,
  ),
);

/** Start value for a workspace without a row. It is above 0 after a restore. */
const beginning = sql<number>`(select value from fences where workspace_id = '')`;

const raiseFences = batchQuery((db, members, now) =>
  insertFrom(db, members, 'fences', {
    workspace_id: textOf('workspace'),
    value: sql`${beginning} + ${numberOf('count')}`,
  })
    .onConflict((conflict) =>
      conflict.column('workspace_id').doUpdateSet({
        value: sql<number>`fences.value + excluded.value - ${beginning}`,
      }),
    )
    .returning(['workspace_id', 'value', now.as('at')]),
);

type Fences = Map<string, { readonly at: number; readonly fence: number }>;

/** The first of the fences for the grants of each workspace, and the time of the change. */
async function raisedFences(db: Database, now: Now, grants: readonly Grant[]): Promise<Fences> {
  const counts = new Map<string, number>();
  for (const { request, keys } of grants) {
    counts.set(request.workspace, (counts.get(request.workspace) ?? 0) + keys.length);
  }
  const rows = [...counts].map(([workspace, count]) => ({ workspace, count }));
  const raised = await raiseFences(db, now, rows);
  return new Map(
    raised.map(({ workspace_id, value, at }) => [
      workspace_id,
      { at, fence: Number(value) - (counts.get(workspace_id) ?? 0) + 1 },
    ]),
  );
}

/**
 * The start of the ids of locks that are acquired together: a UUID that begins with the time of the database (RFC 9562
 * section 5.7), because lists continue after an id, and instances have different clocks.
 * New ids are adjacent in the index, instead of each changing another page of it. The last six digits are the number of
 * the lock: the database writes thousands of them itself.
 */
function newLockIds(at: number): string {
  const time = at.toString(16).padStart(12, '0');
  return `lock_${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15, -6)}`;
}

/** So that each number has six digits. */
const firstLockNumber = 100_000;

/** The start that this id shares with those of all locks that were acquired with it. */
export const sharedIdOf = (id: string): string => id.slice(0, -String(firstLockNumber).length);
