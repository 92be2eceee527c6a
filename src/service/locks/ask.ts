import { sql } from 'kysely';
import { type LockPath, pathKeptMinutes } from '../../interface/lock-path.ts';
import { Refusal } from '../contract/response.ts';
import { grants } from '../contract/scopes.ts';
import type { Database } from '../storage/storage.ts';
import { now } from '../storage/timestamp.ts';
import { type Bearer, maySee, tokensOfOwner } from '../tokens/tokens.ts';
import { isOwnLock } from './change-lock.ts';
import { findLocks } from './find.ts';
import { isFree, keptFor } from './kept-paths.ts';
import { listQueue, type QueuedRequest, withoutWaitId } from './queue.ts';
import { defaultUrgency, waitIds } from './wait-terms.ts';
import { joinLine, removeWaits } from './waits.ts';

/**
 * People who ask for a lock. They wait in line without a client. At their turn, the service does not lock the path: it
 * keeps the path free for them for a while, and notifies them. Nobody can overtake them during that time.
 */

const askKeptMs = 7 * 24 * 60 * 60_000;

const pathKeptMs = pathKeptMinutes * 60_000;

export interface AskRequest {
  readonly workspace: string;
  readonly path: LockPath;
  readonly bearer: Bearer;
  readonly note: string | null;
}

/** Returns the request in line. Repeating it changes the note and keeps the place. */
export async function ask(
  db: Database,
  { workspace, path, bearer, note }: AskRequest,
): Promise<Omit<QueuedRequest, 'waitId'>> {
  if (bearer.run !== undefined) throw refused('Jobs cannot ask for locks. Wait for the lock instead.');
  const key = { workspace, path };
  const id = waitIds.ofPerson(bearer.owner, key);
  const [held] = await findLocks(db, [key]);
  if (held && isOwnLock(held, bearer)) throw refused(`You already hold the lock on ${path}.`);
  const [next] = held ? [] : await keptFor(db, [key]);
  if (held === undefined && (next === undefined || next.id === id)) {
    throw refused(`${path} is free, and not kept for anyone else. Lock it.`);
  }
  const place = { requestId: id, urgency: defaultUrgency, presentMs: askKeptMs };
  const request = { workspace, bearer, origin: null, note, waitId: id, keys: [key], wanted: 1, place };
  const refusal = (await joinLine(db, [request], 'ask')).get(id);
  if (refusal !== undefined) throw refusal;
  const [asked] = await listQueue(db, key, id);
  if (asked === undefined) throw new Error('The request is not in line.');
  return withoutWaitId(asked);
}

const refused = (detail: string): Refusal => new Refusal('invalid-request', detail);

/** False if the person has not asked. */
export const withdraw = async (db: Database, { bearer, ...key }: Omit<AskRequest, 'note'>): Promise<boolean> =>
  (await removeWaits(db, [{ id: waitIds.ofPerson(bearer.owner, key) }])).length > 0;

/** The people who are next in line for paths that are free. */
export async function peopleInTurn(read: Database) {
  const waiting = await unnotified(read).execute();
  const kept = await keptFor(read, waiting);
  return waiting.filter(({ id }, index) => kept[index]?.id === id);
}

/** Runs in a transaction: since the read, the person may have withdrawn, or someone else may have acted. */
export async function tell(db: Database, id: string): Promise<void> {
  const wait = await unnotified(db).where('waits.id', '=', id).executeTakeFirst();
  const [next] = wait === undefined ? [] : await keptFor(db, [wait]);
  if (wait === undefined || next?.id !== id) return;
  const tokens = await tokensOfOwner(db, wait.owner);
  const mayLock = tokens.some(
    (token) => token.state === 'active' && maySee(token, wait.workspace) && grants(token.scopes, 'locks:write'),
  );
  if (!mayLock) {
    // Nobody should wait for a person who cannot have the lock.
    await removeWaits(db, [{ id }]);
    return;
  }
  const keptUntil = sql<number>`${now} + ${sql.lit(pathKeptMs)}`;
  const kept = { kind: 'kept', rank: firstRank, present_until: keptUntil } as const;
  await db.updateTable('waits').set(kept).where('id', '=', id).execute();
  await db.updateTable('wait_paths').set({ rank: firstRank }).where('wait_id', '=', id).execute();
}

/** Sorts before the ranks of all requests, which are timestamps. */
const firstRank = 0;

/** People who wait for free paths and have not been notified yet. */
const unnotified = (db: Database) =>
  db
    .selectFrom('waits')
    .innerJoin('wait_paths', 'wait_paths.wait_id', 'waits.id')
    .where('waits.kind', '=', 'ask')
    .where(isFree('wait_paths'))
    .select(['waits.id', 'waits.owner', 'waits.workspace_id as workspace', 'wait_paths.path']);
