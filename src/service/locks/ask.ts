import { sql } from 'kysely';
import { formatDuration, milliseconds } from '../../interface/duration.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import { grants } from '../../interface/scopes.ts';
import type { Ttl } from '../../interface/ttl.ts';
import { invalid, Refusal } from '../contract/problem.ts';
import { type ApiResponse, jsonApiResponse } from '../contract/response.ts';
import type { Idempotent } from '../idempotency/idempotency.ts';
import type { KeyedRequest } from '../idempotency/keyed-request.ts';
import type { Database, Now, Storage } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { type Bearer, findToken, maySee } from '../tokens/tokens.ts';
import { acquireLocks } from './acquire.ts';
import { findLock, type LockKey } from './find.ts';
import { defaultUrgency, firstInLines, type LinePath, removePlaces } from './line.ts';
import type { LockQuota } from './lock-quota.ts';
import { type QueuedRequest, queuePositions } from './read-queue.ts';
import { isOwnLock } from './release.ts';
import { withoutPlaceId } from './responses.ts';
import { joinAndNotify } from './wait-in-line.ts';
import { windowsPathProblem } from './windows-path.ts';

/** People who ask for a lock: the service waits in line on their behalf, and acquires the lock at their turn. */

/** Keeps a single token from slowing down grantToPeople(). */
export const maxAsksOfToken = 1_000;

interface AskRequest {
  readonly workspace: string;
  readonly path: LockPath;
  readonly bearer: Bearer;
  readonly note: string | null;
  readonly ttl: Ttl;
  /** The `ttl` is a default, which does not replace that of an earlier request. */
  readonly isDefaultTtl?: boolean;
}

type AskedPath = Pick<AskRequest, 'workspace' | 'path' | 'bearer'>;

interface AskingOptions {
  readonly storage: Pick<Storage, 'commit' | 'read' | 'now'>;
  readonly idempotent: Idempotent;
  readonly quota: LockQuota;
  readonly windowsPaths: boolean;
  readonly lineOf: (key: LockKey) => LinePath;
  /** Tells all instances that the line of a path has changed. */
  readonly onChange: (line: LinePath) => void;
  readonly onError: (error: unknown) => void;
}

export function createAsking({ storage, idempotent, quota, windowsPaths, lineOf, onChange, onError }: AskingOptions) {
  const { now } = storage;

  /** The id of the place that asking gives. No idempotency key contains a space, so no other place has this id. */
  const placeOf = ({ workspace, path, bearer }: AskedPath): string =>
    `${workspace} ${bearer.id} for ${lineOf({ workspace, path }).path}`;

  const pathProblem = (path: LockPath): string | undefined => (windowsPaths ? windowsPathProblem(path) : undefined);

  /** --windows-paths may have been changed since the person asked: the path has another line then, or is not allowed. */
  const isValid = ({ workspace, path, askedPath }: PersonPlace): boolean =>
    lineOf({ workspace, path: askedPath }).path === path && pathProblem(askedPath) === undefined;

  return {
    /** Asking again changes note and ttl, and keeps the place. */
    async askFor(keyed: KeyedRequest | undefined, request: AskRequest): Promise<ApiResponse> {
      const { workspace, path } = request;
      const reason = pathProblem(path);
      if (reason !== undefined) throw invalid({ pointer: '#/path', detail: reason });
      const line = lineOf({ workspace, path });
      const response = await idempotent(
        workspace,
        keyed,
        async () => undefined,
        async (db) =>
          jsonApiResponse(201, withoutPlaceId(await queueRequest(db, now, request, line, placeOf(request)))),
      );
      onChange(line);
      return response;
    },
    /** False if the person has not asked. */
    async withdraw(asked: AskedPath): Promise<boolean> {
      const { workspace, path } = asked;
      const placeId = placeOf(asked);
      const removed = await storage.commit({ workspace }, (db) => removePlaces(db, now, [{ placeId }]));
      if (removed.length > 0) onChange(lineOf({ workspace, path }));
      return removed.length > 0;
    },
    placeOf,
    /** Called periodically: acquires the locks on free paths for the people who are first in line. */
    async grantToPeople(): Promise<void> {
      const waiting = await grantablePlaces(storage);
      const firsts = await firstInLines(storage.read, now, waiting);
      for (const place of waiting.filter(({ placeId }, index) => firsts[index]?.id === placeId)) {
        try {
          const foldedPath = windowsPaths ? place.path : undefined;
          await storage.commit(place, async (db) => {
            if (isValid(place)) await grant(db, now, { ...place, foldedPath }, quota);
            else await removePlaces(db, now, [place]);
          });
          onChange(place);
        } catch (error) {
          onError(error);
        }
      }
    },
  };
}

async function queueRequest(
  db: Database,
  now: Now,
  { workspace, path, bearer, note, ttl, isDefaultTtl = false }: AskRequest,
  line: LinePath,
  placeId: string,
): Promise<QueuedRequest & { readonly ttl: string }> {
  if (bearer.run !== undefined) {
    throw new Refusal('invalid-request', 'The token of a job cannot ask for a lock. Wait for the lock instead.');
  }
  const held = await findLock(db, now, { workspace, path, foldedPath: line.path });
  if (held?.isActive && isOwnLock(held, bearer)) {
    throw new Refusal('invalid-request', `You hold the lock on ${path} already.`);
  }
  const [first] = await firstInLines(db, now, [{ ...line, placeId }]);
  if (!held?.isActive && first === undefined) {
    throw new Refusal('invalid-request', `Nobody holds a lock on ${path}, and nobody waits for it. Lock it.`);
  }
  const { asks } = await db
    .selectFrom('lock_places')
    .select(({ fn }) => fn.countAll<number>().as('asks'))
    .where('token_id', '=', bearer.id)
    .where('ttl', '>', 0)
    .where('id', '!=', placeId)
    .executeTakeFirstOrThrow();
  if (Number(asks) >= maxAsksOfToken) {
    const detail = `This token has asked for its maximum of ${maxAsksOfToken} locks. Withdraw a request first.`;
    throw new Refusal('quota-exceeded', detail);
  }
  const { owner } = bearer;
  const origin = null;
  const earlier = isDefaultTtl
    ? await db.selectFrom('lock_places').select('ttl').where('id', '=', placeId).executeTakeFirst()
    : undefined;
  const ttlMs = earlier?.ttl ?? milliseconds(ttl);
  const place = { ...line, placeId, askedPath: path, tokenId: bearer.id, owner, origin, note, presentMs: 0 };
  const [joined] = await joinAndNotify(db, now, [{ ...place, urgency: defaultUrgency, ttl: ttlMs }]);
  const [queue] = await queuePositions(db, now, [{ ...line, placeId }]);
  const since = asTimestamp(joined?.since ?? 0);
  const asked = { path, position: queue?.position ?? 1, owner, origin, note, since, priority: 'normal' } as const;
  return { ...asked, placeId, ttl: formatDuration({ seconds: ttlMs / 1_000 }) };
}

type PersonPlace = Awaited<ReturnType<typeof grantablePlaces>>[number];

/** In one transaction, because the person may withdraw meanwhile, or another instance may do the same. */
async function grant(
  db: Database,
  now: Now,
  { workspace, path, foldedPath, placeId, ...asked }: PersonPlace & { readonly foldedPath: string | undefined },
  quota: LockQuota,
): Promise<void> {
  const [first] = await firstInLines(db, now, [{ workspace, path, placeId }]);
  if (first?.id !== placeId) return;
  const token = await findToken(db, now, asked.tokenId);
  const mayLock = token?.state === 'active' && maySee(token, workspace) && grants(token.scopes, 'locks:write');
  const [decision] = mayLock
    ? await acquireLocks(
        db,
        now,
        [
          {
            ...{ workspace, foldedPath, bearer: token, origin: null, note: asked.note, type: 'exclusive' },
            path: asked.askedPath,
            // Only queueRequest() writes it.
            ttl: { seconds: asked.ttl / 1_000 } as Ttl,
            fromLfs: true,
            untilMerged: true,
            place: { id: placeId, endsWithGrant: true },
          },
        ],
        quota,
      )
    : [];
  // The others must not wait for a person who cannot have the lock.
  if (decision === undefined || decision.kind === 'exceeded') await removePlaces(db, now, [{ placeId }]);
}

const grantablePlaces = ({ read, now }: Pick<Storage, 'read' | 'now'>) =>
  read
    .with(
      (table) => table('asked').materialized(),
      (db) =>
        db
          .selectFrom('lock_places')
          // SQLite keeps the order of a cross join. Otherwise, it would read the lines of all jobs.
          .crossJoin('lock_lines')
          .whereRef('lock_lines.place_id', '=', 'lock_places.id')
          .where('ttl', '>', 0)
          .select([
            'lock_places.id as placeId',
            'lock_lines.workspace_id as workspace',
            'lock_lines.path',
            // Only queueRequest() writes it.
            sql<LockPath>`asked_path`.as('askedPath'),
            'token_id as tokenId',
            'note',
            sql<number>`ttl`.as('ttl'),
            'lock_lines.rank',
          ]),
    )
    .selectFrom('asked')
    .where(isFree('path', 'askedPath', now))
    .where(isFree('folded_path', 'path', now))
    .orderBy('rank')
    .selectAll()
    .execute();

/** A single condition with `or` would make SQLite read all locks of the workspace for each line. */
const isFree = (column: 'path' | 'folded_path', asked: 'path' | 'askedPath', now: Now) =>
  sql<boolean>`not exists (select 1 from locks where locks.workspace_id = asked.workspace
    and ${sql.ref(`locks.${column}`)} = ${sql.ref(`asked.${asked}`)} and locks.expires_at > ${now})`;
