import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { Refusal } from '../contract/response.ts';
import { recordEvents } from '../outbox/outbox.ts';
import {
  batchQuery,
  excludedOf,
  inputIndex,
  insertFrom,
  numberOf,
  numbersOf,
  textOf,
  textsOf,
} from '../storage/batch-query.ts';
import { pauseMs, removeOld } from '../storage/remove-old.ts';
import type { Database, Storage } from '../storage/storage.ts';
import { now } from '../storage/timestamp.ts';
import { findLocks, type LockKey } from './find.ts';
import { lockEvent } from './history.ts';
import type { LockRequest } from './store-locks.ts';
import { bonusMsOf, type Place, placeKeptMs, presenceMs } from './wait-terms.ts';

/**
 * The rows of waiting leases. A single lock waits as a lease of one path, and a person who asked as a lease without a
 * client. A wait ends when its lease is granted or ended, or if it is not requested again for a while.
 */

/** Keeps one token from making every line long. */
export const maxWaitsOfToken = 1_000;

/** For all waits of a token together, one row per path: enough for ten jobs with the largest lease. */
export const maxWaitPathsOfToken = 200_000;

const tooMany = `A token may have ${maxWaitsOfToken} requests in line, for ${maxWaitPathsOfToken} paths in total. This one would exceed that.`;

/** A request for one lock, or for the locks of a lease, that waits in line. */
export interface WaitRequest extends Pick<LockRequest, 'workspace' | 'bearer' | 'origin' | 'note'> {
  readonly waitId: string;
  /** The paths that may be locked, without duplicates, and the number of them that is wanted. */
  readonly keys: readonly LockKey[];
  readonly wanted: number;
  /** For a lease, whose repeated requests must have the same fingerprint. */
  readonly fingerprint?: string | undefined;
  /** Only the newest request of a client is granted. */
  readonly place: Pick<Place, 'requestId' | 'urgency' | 'presentMs'>;
}

/** Absent clients have no rank. */
export const isPresent = sql<boolean>`waits.present_until > (select ${now})`;

const removeExpired = batchQuery((db, members) =>
  db
    .deleteFrom('waits')
    .where(sql<boolean>`id in (select ${textOf('id')} from ${members})`)
    .where(isOver),
);

const selectKnown = batchQuery((db, members) =>
  db
    .selectFrom(members)
    .innerJoin('waits', (join) => join.on('waits.id', '=', textOf('id')))
    .select(['waits.id', 'waits.paths_hash']),
);

const countOfTokens = batchQuery((db, members) =>
  db
    .selectFrom('waits')
    .where(sql<boolean>`token_id in (select ${textOf('tokenId')} from ${members})`)
    .where(sql<boolean>`not (${isOver})`)
    .groupBy('token_id')
    .select(({ fn }) => ['token_id', fn.countAll<number>().as('waits'), fn.sum<number>('size').as('paths')]),
);

/**
 * Thousandths of a millisecond keep the order of requests in the same millisecond. Equal ranks would not be ahead of each
 * other.
 */
const arrival = sql<number>`((select ${now}) + ${numberOf('bonusMs')}) * 1000`;
const rank = sql<number>`coalesce((select max(rank) + 1 from waits where workspace_id = ${textOf('workspace')}
  and rank >= ${arrival} and rank < ${arrival} + 1000), ${arrival}) + ${inputIndex}`;

const upsertWaits = batchQuery((db, members) =>
  insertFrom(db, members, 'waits', {
    ...textsOf(['id', 'kind', 'owner', 'origin', 'note', 'fingerprint']),
    ...numbersOf(['urgency', 'wanted', 'size']),
    workspace_id: textOf('workspace'),
    token_id: textOf('tokenId'),
    request_id: textOf('requestId'),
    paths_hash: textOf('pathsHash'),
    since: now,
    rank,
    present_until: sql`${now} + ${numberOf('presentMs')}`,
  }).onConflict((conflict) =>
    conflict
      .column('id')
      .doUpdateSet(excludedOf(['kind', 'origin', 'note', 'size', 'paths_hash', 'request_id', 'present_until'])),
  ),
);

const insertPaths = batchQuery((db, members) =>
  insertFrom(db, members, 'wait_paths', {
    ...textsOf(['path']),
    ...numbersOf(['position']),
    workspace_id: textOf('workspace'),
    wait_id: textOf('id'),
    rank: sql`(select rank from waits where id = ${textOf('id')})`,
  }).onConflict((conflict) => conflict.doNothing()),
);

const deletePaths = batchQuery((db, members) =>
  db.deleteFrom('wait_paths').where(sql<boolean>`wait_id in (select ${textOf('id')} from ${members})`),
);

/**
 * Puts the requests in line. One that already waits keeps its rank, even if its paths have changed, as the items of a
 * pool may. Returns the refusals of requests whose token has too many waits, by id.
 */
export async function joinLine(
  db: Database,
  requests: readonly WaitRequest[],
  kind: 'request' | 'ask' = 'request',
): Promise<ReadonlyMap<string, Refusal>> {
  // The last request of each id, because an upsert must not name a row twice.
  const waits = [...new Map(requests.map((request) => [request.waitId, request])).values()];
  const rows = waits.map(({ waitId: id, workspace, bearer, origin, note = null, wanted, fingerprint, ...request }) => {
    const { keys, place } = request;
    const { requestId, urgency, presentMs } = place;
    return {
      ...{ id, workspace, kind, origin, note, wanted, fingerprint, requestId, urgency, presentMs },
      tokenId: bearer.id,
      owner: bearer.owner,
      size: keys.length,
      bonusMs: bonusMsOf(urgency),
      pathsHash: hash('sha256', keys.map((key) => key.path).join('\n'), 'base64'),
    };
  });
  await removeExpired(db, rows);
  const hashes = new Map((await selectKnown(db, rows)).map(({ id, paths_hash }) => [id, paths_hash]));
  const isFresh = ({ waitId }: WaitRequest) => !hashes.has(waitId);
  const refused = await beyondTheirLimit(db, waits.filter(isFresh));
  const admitted = rows.filter(({ id }) => !refused.has(id));
  await upsertWaits(db, admitted);
  const changed = admitted.filter(({ id, pathsHash }) => hashes.get(id) !== pathsHash);
  const ids = new Set(changed.map(({ id }) => id));
  if (changed.some(({ id }) => hashes.has(id))) await deletePaths(db, changed);
  const withNewPaths = waits.filter(({ waitId }) => ids.has(waitId));
  await insertPaths(db, withNewPaths.flatMap(pathRows));
  await notifyHolders(db, withNewPaths.filter(isFresh));
  return refused;
}

/** Refusals of new waits that would exceed the limits of their tokens, by id. */
async function beyondTheirLimit(db: Database, fresh: readonly WaitRequest[]): Promise<ReadonlyMap<string, Refusal>> {
  const refusals = new Map<string, Refusal>();
  const tokens = fresh.map(({ bearer }) => ({ tokenId: bearer.id }));
  const counts = fresh.length === 0 ? [] : await countOfTokens(db, tokens);
  const waiting = new Map(counts.map((row) => [row.token_id, { waits: Number(row.waits), paths: Number(row.paths) }]));
  for (const { waitId, bearer, keys } of fresh) {
    const others = waiting.get(bearer.id);
    const all = { waits: (others?.waits ?? 0) + 1, paths: (others?.paths ?? 0) + keys.length };
    if (all.waits <= maxWaitsOfToken && all.paths <= maxWaitPathsOfToken) waiting.set(bearer.id, all);
    else refusals.set(waitId, new Refusal('quota-exceeded', tooMany));
  }
  return refusals;
}

const pathRows = ({ waitId: id, keys }: WaitRequest) => keys.map((key, position) => ({ ...key, id, position }));

/** How often one owner may remind the holder of a lock. */
const remindedEveryMs = 60_000;

/** A lease that waits for thousands of paths notifies at most this many holders. */
const maxNotified = 20;

/** Queues an event for each owner who starts to wait for a held lock, at most once a minute. */
async function notifyHolders(db: Database, requests: readonly WaitRequest[]): Promise<void> {
  const asked = requests.flatMap(({ keys, bearer: { owner }, origin, note = null }) =>
    keys.slice(0, maxNotified).map((key) => ({ ...key, request: { owner, origin, note } })),
  );
  if (asked.length === 0) return;
  const locks = await findLocks(db, asked);
  const keyOf = (line: LockKey, owner: string) => JSON.stringify([line.workspace, line.path, owner]);
  const held = asked.flatMap(({ request, ...key }, index) => {
    const lock = locks[index];
    return lock ? { ...key, owner: request.owner, request, lock } : [];
  });
  const byKey = new Map(held.map((each) => [keyOf(each, each.owner), each]));
  const reminders = [...byKey.values()].map(({ workspace, path, owner }) => ({ workspace, path, owner }));
  const due = await insertReminders(db, reminders);
  const events = due.flatMap(({ workspace_id, path, owner, at }) => {
    const found = byKey.get(keyOf({ workspace: workspace_id, path }, owner));
    return found === undefined ? [] : lockEvent('lock.requested', found.lock, at, { request: found.request });
  });
  await recordEvents(db, events);
}

const insertReminders = batchQuery((db, members) =>
  insertFrom(db, members, 'lock_requests', {
    ...textsOf(['path', 'owner']),
    workspace_id: textOf('workspace'),
    at: now,
  })
    .onConflict((conflict) =>
      conflict
        .columns(['workspace_id', 'path', 'owner'])
        .doUpdateSet({ at: now })
        .where(sql<boolean>`lock_requests.at <= ${now} - ${sql.lit(remindedEveryMs)}`),
    )
    .returning(['workspace_id', 'path', 'owner', 'at']),
);

export const removeWaits = batchQuery((db, members) =>
  db
    .deleteFrom('waits')
    .where(sql<boolean>`id in (select ${textOf('id')} from ${members})`)
    .returning('id'),
);

/** Extends the presence of clients whose newest request is among these, and returns those requests. */
export const extendPresence = batchQuery((db, members) =>
  db
    .updateTable('waits')
    .from(members)
    .set({ present_until: sql<number>`${now} + ${numberOf('presentMs')}` })
    .whereRef('waits.id', '=', textOf('id'))
    .whereRef('waits.request_id', '=', textOf('requestId'))
    .returning('waits.request_id as requestId'),
);

/** Extends the presence of clients whose requests have arrived, and returns the earlier requests that have their places. */
export const extendEarlier = batchQuery((db, members) =>
  db
    .updateTable('waits')
    .from(members)
    .set({ present_until: sql<number>`${now} + ${sql.lit(presenceMs)}` })
    .whereRef('waits.id', '=', textOf('id'))
    .where(sql<boolean>`not (${isOver})`)
    .returning(['waits.id', 'waits.request_id as requestId']),
);

/** Extends the presence of the clients in these workspaces that was not extended in time. */
export const extendLapsed = batchQuery((db, members) =>
  db
    .updateTable('waits')
    .from(members)
    .set({ present_until: sql<number>`${now} + ${sql.lit(presenceMs)}` })
    .where('kind', '=', 'request')
    .whereRef('waits.workspace_id', '=', textOf('workspace'))
    .where(sql<boolean>`present_until <= (select ${now}) and present_until > (select ${now}) - ${numberOf('agoMs')}`),
);

export const findWait = (db: Database, id: string) =>
  db.selectFrom('waits').selectAll().where('id', '=', id).executeTakeFirst();

export const keysOfWait = (db: Database, id: string): Promise<LockKey[]> =>
  db
    .selectFrom('wait_paths')
    .select(['workspace_id as workspace', 'path'])
    .where('wait_id', '=', id)
    .orderBy('position')
    .execute();

/** Limit of the paths of abandoned waits per transaction: other changes wait for it. A single wait may have more. */
const maxRemovedAtOnce = 1_000;

export async function removeOldWaits(storage: Pick<Storage, 'dialect' | 'read' | 'commit'>): Promise<void> {
  const { read, commit } = storage;
  const old = read.selectFrom('waits').select(['id', 'workspace_id as workspace', 'size']).where(isOver);
  for (;;) {
    const [first, ...others] = await old.limit(maxRemovedAtOnce).execute();
    if (first === undefined) break;
    let paths = first.size;
    const more = others.filter(({ workspace, size }) => {
      if (workspace === first.workspace) paths += size;
      return workspace === first.workspace && paths <= maxRemovedAtOnce;
    });
    // One workspace per transaction, so that changes of the others do not wait.
    await commit(first, (db) => removeExpired(db, [first, ...more]));
    await sleep(pauseMs);
  }
  await removeOld(storage, { table: 'lock_requests', time: 'at', keptForMs: remindedEveryMs });
}

/** Its client has been away for too long, or its person did not take the path while it was kept. */
const isOver = sql<boolean>`present_until <= (select ${now}) - case when kind = 'request' then ${sql.lit(placeKeptMs)} else 0 end`;
