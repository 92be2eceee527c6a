import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Timestamp } from '../../interface/resources.ts';
import { batchQuery, numberOf, textOf } from '../storage/batch-query.ts';
import type { Storage } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import type { LockPlace } from './find.ts';

/** Refused requests for locks, for the page of a path: kept in memory, and written periodically for all instances. */

export interface RefusedRequest {
  readonly workspace: string;
  readonly path: string;
  readonly owner: string;
  readonly origin: string | null;
}

export interface WaitingRequest {
  readonly owner: string;
  readonly origin: string | null;
  /** Start of the uninterrupted series of refusals. */
  readonly since: Timestamp;
  readonly last: Timestamp;
}

export interface RefusedRequests {
  /** Must be cheap, because polling clients are refused again and again. */
  note(request: RefusedRequest): void;
  /** Writes new entries. On failure, keeps them for the next call. */
  write(): Promise<void>;
  /** Requests for the path that were refused in the last minute, longest waiting first. */
  ofPath(place: LockPlace): Promise<readonly WaitingRequest[]>;
}

export interface RefusedRequestsOptions {
  readonly storage: Pick<Storage, 'read' | 'now' | 'commit'>;
  /** Paths with the same key share a lock. */
  readonly keyOfPath?: (path: string) => string;
  /** Requests that are currently waiting: see waiters.ts. */
  readonly waiting: () => readonly RefusedRequest[];
  /** Milliseconds of a monotonic clock. */
  readonly clock: () => number;
}

const shownForMs = 60_000;
/** Minimum time between two writes of the same refused request. */
const writtenAgainMs = 15_000;
/** Maximum per instance; further requests are not noted. Each one adds at most one row per minute. */
const maxNoted = 1_000;
const maxShown = 100;

interface Noted {
  readonly request: RefusedRequest;
  readonly first: number;
  last: number;
  written: number | undefined;
}

const texts = ['key', 'workspace_id', 'path', 'owner', 'origin'] as const;

const upsertRequests = batchQuery((db, members, now) =>
  db
    .insertInto('refused_lock_requests')
    .columns([...texts, 'first_at', 'last_at'])
    .expression((from) =>
      from
        .selectFrom(members)
        .select([
          ...texts.map((name) => textOf(name).as(name)),
          sql<number>`${now} - ${numberOf('firstAgo')}`.as('first_at'),
          sql<number>`${now} - ${numberOf('lastAgo')}`.as('last_at'),
        ])
        // SQLite parses `ON CONFLICT` after a SELECT without WHERE as a join constraint.
        .where(sql<boolean>`true`),
    )
    .onConflict((conflict) =>
      conflict
        .column('key')
        .doUpdateSet({ last_at: sql<number>`excluded.last_at` })
        // Another instance may have refused it later.
        .where(sql<boolean>`refused_lock_requests.last_at < excluded.last_at`),
    ),
);

export function createRefusedRequests({
  storage: { read, now, commit },
  keyOfPath = (path) => path,
  waiting,
  clock,
}: RefusedRequestsOptions): RefusedRequests {
  const noted = new Map<string, Noted>();

  function note({ path: asked, ...rest }: RefusedRequest): void {
    const request = { ...rest, path: keyOfPath(asked) };
    const { workspace, path, owner, origin } = request;
    const key = JSON.stringify([workspace, path, owner, origin]);
    const known = noted.get(key);
    const isKnown = known !== undefined && clock() - known.last <= shownForMs;
    if (isKnown) known.last = clock();
    else if (known !== undefined || noted.size < maxNoted) {
      noted.set(key, { request, first: clock(), last: clock(), written: undefined });
    }
  }

  function row(key: string, { request: { workspace: workspace_id, path, owner, origin }, first, last }: Noted) {
    const ago = (at: number): number => Math.max(0, Math.round(clock() - at));
    const hash = createHash('sha256').update(key).digest('base64url');
    return { key: hash, workspace_id, path, owner, origin, firstAgo: ago(first), lastAgo: ago(last) };
  }

  const isDue = ({ last, written }: Noted): boolean =>
    written === undefined || (last > written && clock() - written >= writtenAgainMs);

  return {
    note,
    async write() {
      for (const request of waiting()) note(request);
      for (const [key, { last }] of noted) if (clock() - last > shownForMs) noted.delete(key);
      const due = [...noted].filter(([, each]) => isDue(each));
      for (const [workspace, some] of Map.groupBy(due, ([, { request }]) => request.workspace)) {
        const writtenAt = clock();
        const rows = some.map(([key, each]) => row(key, each));
        await commit({ workspace }, async (db) => {
          // A request refused again after a pause counts as new.
          await db
            .deleteFrom('refused_lock_requests')
            .where('workspace_id', '=', workspace)
            .where('last_at', '<', sql<number>`${now} - ${sql.lit(shownForMs)}`)
            .execute();
          await upsertRequests(db, now, rows);
        });
        for (const [, each] of some) each.written = writtenAt;
      }
    },
    async ofPath({ workspace, path }) {
      const rows = await read
        .selectFrom('refused_lock_requests')
        .select(['owner', 'origin', 'first_at', 'last_at'])
        .where('workspace_id', '=', workspace)
        .where('path', '=', keyOfPath(path))
        .where('last_at', '>=', sql<number>`${now} - ${sql.lit(shownForMs)}`)
        .orderBy('first_at')
        .limit(maxShown)
        .execute();
      return rows.map(({ owner, origin, first_at, last_at }) => ({
        owner,
        origin,
        since: asTimestamp(first_at),
        last: asTimestamp(last_at),
      }));
    },
  };
}
