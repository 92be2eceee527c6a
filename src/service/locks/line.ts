import { sql } from 'kysely';
import {
  batchQuery,
  excludedOf,
  inInputOrder,
  inputIndex,
  insertFrom,
  numberOf,
  textOf,
  textsOf,
} from '../storage/batch-query.ts';
import { coalesceReads } from '../storage/coalesce-reads.ts';
import type { Database, Now, Storage } from '../storage/storage.ts';

/**
 * Lines of requests that wait for locks, in the database. A request has one place, which can be in the lines of several
 * paths. The first client that is present gets a free path: nobody waits for one that has gone.
 */

/** RFC 9218 section 4.1, without 0, 6 and 7, which would suggest more than the line keeps. */
export type Urgency = 1 | 2 | 3 | 4 | 5;

export const defaultUrgency: Urgency = 3;

/** One level of urgency is worth this much waiting: a request that has waited longer comes first. */
export const urgencyMs = 5 * 60_000;

/** How long a client may be away without losing its place. */
export const placeKeptMs = 60_000;

/**
 * How long others wait for a client between two of its requests: a round trip and a commit. With less, a client could
 * be overtaken; with more, one that has given up delays others longer.
 */
export const requestGapMs = 300;

/** How long others wait for the clients of an instance that was killed. It renews their presence much more often. */
export const presenceMs = 5_000;

export interface LinePath {
  readonly workspace: string;
  /** Folded with --windows-paths. */
  readonly path: string;
}

export interface PlaceRequest extends LinePath {
  readonly placeId: string;
  /** Undefined for a person. */
  readonly requestId?: string;
  readonly askedPath: string;
  readonly tokenId: string;
  readonly owner: string;
  readonly origin: string | null;
  readonly note: string | null;
  readonly urgency: Urgency;
  readonly presentMs: number;
  /** Set for a person, who is always present: the milliseconds of the lock that the service acquires. */
  readonly ttl?: number;
}

export const isPresent = (now: Now) => sql<boolean>`(lock_places.present_until > ${now} or lock_places.ttl > 0)`;

const removeExpiredPlaces = batchQuery((db, members, now) =>
  db
    .deleteFrom('lock_places')
    .where(sql<boolean>`id in (select ${textOf('placeId')} from ${members})`)
    .where('ttl', 'is', null)
    .where(sql<boolean>`asked_at <= ${now} - ${sql.lit(placeKeptMs)}`),
);

const existingPlaces = batchQuery((db, members) =>
  db
    .selectFrom(members)
    .innerJoin('lock_places', (join) => join.on('lock_places.id', '=', textOf('placeId')))
    .select(inputIndex.as('index')),
);

/** Thousandths of a millisecond, so that requests of the same transaction keep their order. */
const rankOf = (now: Now) => sql<number>`(${now} + ${numberOf('bonusMs')}) * 1000 + ${inputIndex}`;

const upsertPlaces = batchQuery((db, members, now) =>
  insertFrom(db, members, 'lock_places', {
    ...textsOf(['owner', 'origin', 'note']),
    workspace_id: textOf('workspace'),
    token_id: textOf('tokenId'),
    id: textOf('placeId'),
    urgency: numberOf('urgency'),
    since: now,
    rank: rankOf(now),
    asked_at: now,
    present_until: sql`${now} + ${numberOf('presentMs')}`,
    ttl: numberOf('ttl'),
  }).onConflict((conflict) =>
    conflict.column('id').doUpdateSet(excludedOf(['origin', 'note', 'asked_at', 'present_until', 'ttl'])),
  ),
);

const upsertLines = batchQuery((db, members) =>
  insertFrom(db, members, 'lock_lines', {
    workspace_id: textOf('workspace'),
    path: textOf('path'),
    place_id: textOf('placeId'),
    asked_path: textOf('askedPath'),
    rank: sql`(select rank from lock_places where id = ${textOf('placeId')})`,
    request_id: textOf('requestId'),
  }).onConflict((conflict) =>
    conflict.columns(['workspace_id', 'path', 'place_id']).doUpdateSet(excludedOf(['request_id'])),
  ),
);

const linesOfPlaces = batchQuery((db, members) =>
  db
    .selectFrom(members)
    .innerJoin('lock_places', (join) => join.on('lock_places.id', '=', textOf('placeId')))
    .innerJoin('lock_lines', 'lock_lines.place_id', 'lock_places.id')
    .select([inputIndex.as('index'), 'lock_places.since', 'lock_lines.path']),
);

/** Puts each request in the line of its path. A place that is asked for again keeps its rank. */
export async function joinLines(db: Database, now: Now, requests: readonly PlaceRequest[]) {
  const rows = requests.map((request) => ({ ...request, bonusMs: (request.urgency - defaultUrgency) * urgencyMs }));
  const places = lastByName(rows, ({ placeId }) => placeId);
  const lines = lastByName(rows, ({ placeId, path }) => `${placeId} ${path}`);
  await removeExpiredPlaces(db, now, places);
  const known = inInputOrder(rows, await existingPlaces(db, now, rows));
  await upsertPlaces(db, now, places);
  await upsertLines(db, now, lines);
  const linesOf = Map.groupBy(await linesOfPlaces(db, now, places), ({ index }) => index);
  const joined = new Map(
    places.map(({ placeId }, index) => {
      const own = linesOf.get(index) ?? [];
      return [placeId, { since: own[0]?.since ?? 0, paths: own.map(({ path }) => path) }];
    }),
  );
  return requests.map(({ placeId }, index) => ({
    /** Whether it waited nowhere before. */
    isNew: known[index] === undefined,
    ...(joined.get(placeId) ?? { since: 0, paths: [] }),
  }));
}

/** The last row of each name: an upsert must not name a row twice. */
const lastByName = <Row>(rows: readonly Row[], nameOf: (row: Row) => string): readonly Row[] => [
  ...new Map(rows.map((row) => [nameOf(row), row])).values(),
];

/** Whether the place is in a line. Coalesces concurrent queries. */
export const isInLine = coalesceReads(async (db, now, places: readonly { readonly placeId: string }[]) =>
  inInputOrder(places, await existingPlaces(db, now, places)).map((known) => known !== undefined),
);

export const newestRequests = batchQuery((db, members) =>
  db
    .selectFrom(members)
    .innerJoin('lock_lines', (join) =>
      join.on('place_id', '=', textOf('placeId')).on('request_id', '=', textOf('requestId')),
    )
    .select(inputIndex.as('index')),
);

/** A query about the line of a path, from the view of a place if there is one. */
export interface LineQuery extends LinePath {
  readonly placeId: string | null;
}

const firstPlaces = batchQuery((db, members, now) =>
  db
    .selectFrom(members)
    .innerJoin('lock_places', (join) =>
      join.on('lock_places.id', '=', ({ selectFrom }) =>
        selectFrom('lock_lines as line')
          .innerJoin('lock_places', 'lock_places.id', 'line.place_id')
          .select('line.place_id')
          .whereRef('line.workspace_id', '=', textOf('workspace'))
          .whereRef('line.path', '=', textOf('path'))
          .where(isPresent(now))
          .orderBy('line.rank')
          .orderBy('line.place_id')
          .limit(1),
      ),
    )
    .leftJoin('lock_places as own', (join) => join.on('own.id', '=', textOf('placeId')))
    .select([
      inputIndex.as('index'),
      'lock_places.id',
      'lock_places.owner',
      'lock_places.origin',
      'lock_places.rank',
      sql<number>`case when lock_places.ttl > 0 then ${sql.lit(requestGapMs)} else lock_places.present_until - ${now} end`.as(
        'presentMs',
      ),
      'own.rank as ownRank',
    ]),
);

export type FirstInLine = Awaited<ReturnType<typeof firstPlaces>>[number];

/** The first present place of each line, in the order of the queries. */
export async function firstInLines(
  db: Database,
  now: Now,
  queries: readonly LineQuery[],
): Promise<readonly (FirstInLine | undefined)[]> {
  if (queries.length === 0) return [];
  return inInputOrder(queries, await firstPlaces(db, now, queries));
}

export const committedFirstInLine = coalesceReads(firstInLines);

/** Whether someone else is to be served before the asking place. */
export const isAhead = (first: FirstInLine, placeId: string | null): boolean =>
  first.id !== placeId && (first.ownRank === null || first.rank < first.ownRank);

export const removePlaces = batchQuery((db, members) =>
  db
    .deleteFrom('lock_places')
    .where(sql<boolean>`id in (select ${textOf('placeId')} from ${members})`)
    .returning('id'),
);

/** Others wait for these places this much longer. With a request, only if it is the newest of its client. */
export const keepPresent = batchQuery((db, members, now) =>
  db
    .updateTable('lock_places')
    .from(members)
    .set({ asked_at: now, present_until: sql<number>`${now} + ${numberOf('presentMs')}` })
    .whereRef('lock_places.id', '=', textOf('placeId'))
    .where(({ or, eb, exists, selectFrom }) =>
      or([
        eb(textOf('requestId'), 'is', null),
        exists(
          selectFrom('lock_lines')
            .select('place_id')
            .whereRef('place_id', '=', 'lock_places.id')
            .whereRef('request_id', '=', textOf('requestId')),
        ),
      ]),
    )
    .returning('lock_places.id'),
);

const asksKeptMs = 7 * 24 * 60 * 60_000;

/** Places of clients that have not returned, and requests of people that are too old. */
export async function removeOldPlaces({ read, commit, now }: Pick<Storage, 'read' | 'commit' | 'now'>): Promise<void> {
  // A global change waits for all others, so there must be a reason for it.
  const old = await read.selectFrom('lock_places').select('id').where(isOld(now)).limit(1).executeTakeFirst();
  if (old !== undefined) await commit('global', (db) => db.deleteFrom('lock_places').where(isOld(now)).execute());
}

const isOld = (now: Now) =>
  sql<boolean>`asked_at < (select ${now}) - case when ttl is null then ${sql.lit(placeKeptMs)} else ${sql.lit(asksKeptMs)} end`;
