import { randomUUID } from 'node:crypto';
import { type ExpressionBuilder, type Selectable, sql } from 'kysely';
import type { BranchName } from '../../interface/branch-name.ts';
import { errorCode } from '../../interface/system-errors.ts';
import type { MissingObject, Sync } from '../contract/schemas.ts';
import { recordEvents } from '../outbox/outbox.ts';
import { claimedUntil } from '../storage/claim.ts';
import { noteQueued } from '../storage/commit-group.ts';
import type { Database, Storage } from '../storage/storage.ts';
import { removedRemote, type Tables } from '../storage/tables.ts';
import { asTimestamp, asTimestampOrNull, now } from '../storage/timestamp.ts';
import type { FetchedObjects } from './wanted-objects.ts';

export const syncIdPattern = /^sync_[0-9a-f-]{36}$/;

interface QueuedSync {
  readonly workspace: string;
  readonly branch: BranchName;
  readonly estimatedObjects: number;
  /** Name of the token that requested the sync. Tokens that joined it later are not stored. */
  readonly requestedBy: string;
}

/** Queues a sync, or returns the one that is already queued for the branch, which will fetch the same commits. */
export async function enqueue(db: Database, sync: QueuedSync): Promise<Sync> {
  const { workspace, branch, estimatedObjects, requestedBy } = sync;
  const inserted = await db
    .insertInto('syncs')
    .values({
      id: `sync_${randomUUID()}`,
      workspace_id: workspace,
      branch,
      status: 'queued',
      estimated_objects: estimatedObjects,
      received_objects: 0,
      attempts: 0,
      requested_by: requestedBy,
      created_at: now,
    })
    .onConflict((conflict) =>
      conflict.columns(['workspace_id', 'branch']).where('status', '=', sql.lit('queued')).doNothing(),
    )
    .returningAll()
    .executeTakeFirst();
  if (inserted !== undefined) {
    noteQueued(db, 'syncs');
    return toSync(inserted);
  }
  // A worker may have claimed the queued sync between the two statements.
  return (await findQueued(db, workspace, branch)) ?? enqueue(db, sync);
}

export async function findSync(db: Database, workspace: string, id: string): Promise<Sync | undefined> {
  const row = await syncsIn(db, workspace).where('id', '=', id).executeTakeFirst();
  return row && toSync(row);
}

/** A sync that was interrupted more often probably crashes its instance, or always fails in an unexpected way. */
export const maxSyncAttempts = 5;

/**
 * After this many syncs of a branch in this time, the next sync waits for the rest of the time, and later triggers join
 * it. Otherwise, frequent triggers would start one fetch after another, because a small repository is fetched quickly.
 */
const maxInARow = 3;
const rowMs = 5_000;

export type ClaimedSync = NonNullable<Awaited<ReturnType<typeof claimSync>>>;

/**
 * Claims the oldest sync that is queued or whose claim has expired. A queued sync waits while another sync of its
 * branch runs (an index ensures this if two instances claim at once), and after several recent ones. Does not claim
 * syncs of the workspaces in `except`.
 */
export async function claimSync(storage: Storage, except: readonly string[] = []) {
  const { claim, read, dialect } = storage;
  // Most polls find nothing, and should not make a change.
  if ((await nextSync(read, except).executeTakeFirst()) === undefined) return undefined;
  const claimId = randomUUID();
  try {
    return await claim(async (db) => {
      const next = await nextSync(db, except)
        .$if(dialect === 'postgres', (query) => query.forUpdate().skipLocked())
        .executeTakeFirst();
      if (next === undefined) return undefined;
      const row = await db
        .updateTable('syncs')
        .set({
          status: 'running',
          attempts: sql<number>`attempts + 1`,
          received_objects: 0,
          received_bytes: 0,
          total_bytes: null,
          started_at: sql<number>`coalesce(started_at, ${now})`,
          claimed_by: claimId,
          claimed_until: claimedUntil,
        })
        .where('id', '=', next.id)
        .returning(['id', 'workspace_id', 'branch', 'attempts'])
        .executeTakeFirstOrThrow();
      const { remote, ...lfs } = await db
        .selectFrom('workspaces')
        .select(['remote', 'created_at', 'lfs_url', 'lfs_mode'])
        .where('id', '=', row.workspace_id)
        .executeTakeFirstOrThrow();
      return {
        id: row.id,
        workspace: row.workspace_id,
        // Only enqueue() writes the column.
        branch: row.branch as BranchName,
        /** Stored URL of the remote, including credentials. */
        remote,
        lfs,
        claimId,
        exhausted: row.attempts > maxSyncAttempts,
      };
    });
  } catch (error) {
    // Another instance has claimed a sync of the same branch, which violates a unique index on PostgreSQL.
    if (errorCode(error) === '23505') return undefined;
    throw error;
  }
}

const nextSync = (db: Database, except: readonly string[]) =>
  db
    .selectFrom('syncs')
    .select('id')
    .where('finished_at', 'is', null)
    .where('workspace_id', 'not in', db.selectFrom('workspaces').select('id').where('remote', '=', removedRemote))
    .$if(except.length > 0, (syncs) => syncs.where('workspace_id', 'not in', except))
    .where((where) =>
      where.or([
        where.and([
          where('status', '=', 'queued'),
          where.not(where.exists(runningOf(where))),
          where(countEnded(where), '<', maxInARow),
        ]),
        where.and([where('status', '=', 'running'), sql<boolean>`claimed_until < ${now}`]),
      ]),
    )
    .orderBy('created_at')
    .orderBy('id')
    .limit(1);

type Where = ExpressionBuilder<Tables, 'syncs'>;

const runningOf = (where: Where) => ofSameBranch(where).select('other.id').where('other.status', '=', 'running');

const countEnded = (where: Where) =>
  ofSameBranch(where)
    .select(({ fn }) => fn.countAll<number>().as('ended'))
    .where(sql<boolean>`other.finished_at > (select ${now}) - ${sql.lit(rowMs)}`)
    // Ignores times in the future, which exist for hours if the clock was set back.
    .where(sql<boolean>`other.finished_at <= (select ${now})`);

const ofSameBranch = (where: Where) =>
  where
    .selectFrom('syncs as other')
    .whereRef('other.workspace_id', '=', 'syncs.workspace_id')
    .whereRef('other.branch', '=', 'syncs.branch');

export type SyncRow = Selectable<Tables['syncs']>;

export type SyncEnd =
  | {
      readonly kind: 'succeeded';
      readonly head: string;
      /** Objects received by git, not including LFS objects. */
      readonly receivedObjects: number;
      readonly lfs: FetchedObjects;
    }
  | { readonly kind: 'failed'; readonly error: string };

export type SyncProgress = Partial<ReturnType<typeof countsOf>>;

/** Renews the claim and records the progress. False if the sync was taken over, finished or removed. */
export async function renewClaim({ claim }: Storage, { id, claimId }: ClaimedSync, progress: SyncProgress) {
  const { numUpdatedRows } = await claim((db) =>
    db
      .updateTable('syncs')
      .set({ ...progress, claimed_until: claimedUntil })
      .where((where) => where.and({ id, claimed_by: claimId }))
      .executeTakeFirst(),
  );
  return numUpdatedRows > 0n;
}

/** Finishes a sync: stores its branch and queues its event. False if the claim was lost. */
export async function recordSync(db: Database, sync: ClaimedSync, end: SyncEnd): Promise<boolean> {
  const outcome = end.kind === 'succeeded' ? receivedColumns(end) : { error: end.error };
  const row = await db
    .updateTable('syncs')
    .set({ ...outcome, status: end.kind, finished_at: now, claimed_by: null, claimed_until: null })
    .where((where) => where.and({ id: sync.id, claimed_by: sync.claimId }))
    .where('finished_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) return false;
  if (end.kind === 'succeeded') {
    await removeConflicting(db, sync);
    const values = { head: end.head, synced_at: now, received_objects: row.received_objects };
    await db
      .insertInto('synced_branches')
      .values({ workspace_id: sync.workspace, name: sync.branch, ...values })
      .onConflict((conflict) =>
        conflict.columns(['workspace_id', 'name']).doUpdateSet({
          ...values,
          // A sync without new objects keeps the earlier number, which is the better estimate for the next one.
          received_objects: sql<number>`case when ${row.received_objects} > 0 then ${row.received_objects} else synced_branches.received_objects end`,
        }),
      )
      .execute();
  }
  const occurredAt = asTimestamp(row.finished_at ?? row.created_at);
  const data = { sync: toSync(row), triggered_by: row.requested_by };
  await recordEvents(db, [{ type: `sync.${end.kind}`, workspace: sync.workspace, occurredAt, data }]);
  return true;
}

const receivedColumns = ({ head, receivedObjects, lfs }: SyncEnd & { readonly kind: 'succeeded' }) => ({
  head,
  ...countsOf(receivedObjects, lfs),
  missing_objects: lfs.missing.count,
  missing: lfs.missing.count === 0 ? null : JSON.stringify(lfs.missing.named),
});

/** Branches `a` and `a/b` cannot both exist, so the remote must have deleted the one that was synced earlier. */
const removeConflicting = (db: Database, { workspace, branch }: ClaimedSync) =>
  db
    .deleteFrom('synced_branches')
    .where('workspace_id', '=', workspace)
    .where(
      sql<boolean>`(substr(name, 1, length(${`${branch}/`})) = ${`${branch}/`}
        or substr(${branch}, 1, length(name) + 1) = name || '/')`,
    )
    .execute();

export async function findQueued(db: Database, workspace: string, branch: string): Promise<Sync | undefined> {
  const queued = syncsIn(db, workspace).where('branch', '=', branch).where('status', '=', 'queued');
  const row = await queued.executeTakeFirst();
  return row && toSync(row);
}

export const syncsIn = (db: Database, workspace: string) =>
  db.selectFrom('syncs').selectAll().where('workspace_id', '=', workspace);

export const toSync = (row: SyncRow): Sync => ({
  sync_id: row.id,
  status: row.status,
  branch: row.branch,
  estimated_objects: row.estimated_objects,
  received_objects: row.received_objects,
  received_bytes: row.received_bytes,
  total_bytes: row.total_bytes,
  missing_objects: row.missing_objects,
  // Only recordSync() writes the column.
  missing: JSON.parse(row.missing ?? '[]') as MissingObject[],
  head: row.head,
  error: row.error,
  created_at: asTimestamp(row.created_at),
  started_at: asTimestampOrNull(row.started_at),
  finished_at: asTimestampOrNull(row.finished_at),
});

/** Counts of a sync that has received these objects by git, and these LFS objects. */
export const countsOf = (objects: number, { wanted, received }: Pick<FetchedObjects, 'wanted' | 'received'>) => ({
  estimated_objects: objects + wanted.objects,
  received_objects: objects + received.objects,
  received_bytes: received.bytes,
  total_bytes: wanted.bytes,
});
