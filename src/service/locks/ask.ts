import { sql } from 'kysely';
import { type LockPath, pathKeptMinutes } from '../../interface/lock-path.ts';
import { Refusal } from '../contract/response.ts';
import { grants } from '../contract/scopes.ts';
import type { Database, Storage } from '../storage/storage.ts';
import { now } from '../storage/timestamp.ts';
import { type Bearer, findToken, maySee } from '../tokens/tokens.ts';
import { isOwnLock } from './change-lock.ts';
import { findLocks } from './find.ts';
import { isFree, keptFor } from './next-in-line.ts';
import { listQueue, type QueuedRequest, withoutWaitId } from './queue.ts';
import { defaultUrgency, waitIds } from './wait-terms.ts';
import type { OnChange } from './waiting-requests.ts';
import { joinLine, removeWaits, type WaitRequest } from './waits.ts';

/**
 * People who ask for a lock. They wait in line without a client. At their turn, nobody locks the path for them: it is
 * kept for them for a while, and they are notified. Nobody passes them meanwhile.
 */

const askKeptMs = 7 * 24 * 60 * 60_000;

const pathKeptMs = pathKeptMinutes * 60_000;

interface AskRequest {
  readonly workspace: string;
  readonly path: LockPath;
  readonly bearer: Bearer;
  readonly note: string | null;
}

interface AskingOptions {
  readonly storage: Pick<Storage, 'commit' | 'read'>;
  readonly onChange: OnChange;
  readonly onError: (error: unknown) => void;
}

export function createAsking({ storage, onChange, onError }: AskingOptions) {
  return {
    /** Returns the request in line. Asking again changes the note, and keeps the place. */
    async askFor(request: AskRequest): Promise<Omit<QueuedRequest, 'waitId'>> {
      const { workspace, path, bearer } = request;
      if (bearer.run !== undefined)
        throw refused('The token of a job cannot ask for a lock. Wait for the lock instead.');
      const asked = await storage.commit({ workspace }, (db) => ask(db, request));
      onChange(workspace, [path]);
      return asked;
    },
    /** False if the person has not asked. */
    async withdraw({ workspace, path, bearer }: Omit<AskRequest, 'note'>): Promise<boolean> {
      const id = waitIds.ofPerson(bearer.id, { workspace, path });
      const removed = await storage.commit({ workspace }, (db) => removeWaits(db, [{ id }]));
      if (removed.length > 0) onChange(workspace, [path]);
      return removed.length > 0;
    },
    /** Called periodically: tells people whose turn it is, and keeps the paths for them. */
    async tellPeople(): Promise<void> {
      const waiting = await untold(storage.read).execute();
      const kept = await keptFor(storage.read, waiting);
      for (const wait of waiting.filter(({ id }, index) => kept[index]?.id === id)) {
        try {
          await storage.commit(wait, (db) => tell(db, wait.id));
          onChange(wait.workspace, [wait.path]);
        } catch (error) {
          onError(error);
        }
      }
    },
  };
}

async function ask(
  db: Database,
  { workspace, path, bearer, note }: AskRequest,
): Promise<Omit<QueuedRequest, 'waitId'>> {
  const key = { workspace, path };
  const id = waitIds.ofPerson(bearer.id, key);
  const [held] = await findLocks(db, [key]);
  if (held && isOwnLock(held, bearer)) throw refused(`You hold the lock on ${path} already.`);
  const [next] = held ? [] : await keptFor(db, [key]);
  if (held === undefined && (next === undefined || next.id === id)) {
    throw refused(`${path} is free, and not kept for anyone else. Lock it.`);
  }
  const request: WaitRequest = {
    id,
    workspace,
    kind: 'ask',
    wanted: 1,
    keys: [key],
    tokenId: bearer.id,
    owner: bearer.owner,
    origin: null,
    note,
    urgency: defaultUrgency,
    requestId: id,
    presentMs: askKeptMs,
  };
  const [refusal] = await joinLine(db, [request]);
  if (refusal !== undefined) throw refusal;
  const [asked] = await listQueue(db, key, id);
  if (asked === undefined) throw new Error('The request is not in line.');
  return withoutWaitId(asked);
}

const refused = (detail: string): Refusal => new Refusal('invalid-request', detail);

/** In a transaction, because meanwhile the person may withdraw, others may lock the path, or another instance may tell. */
async function tell(db: Database, id: string): Promise<void> {
  const wait = await untold(db).where('waits.id', '=', id).executeTakeFirst();
  const [next] = wait === undefined ? [] : await keptFor(db, [wait]);
  if (wait === undefined || next?.id !== id) return;
  const token = await findToken(db, wait.tokenId);
  const mayLock = token?.state === 'active' && maySee(token, wait.workspace) && grants(token.scopes, 'locks:write');
  if (!mayLock) {
    // The others must not wait for a person who cannot have the lock.
    await removeWaits(db, [{ id }]);
    return;
  }
  const keptUntil = sql<number>`${now} + ${sql.lit(pathKeptMs)}`;
  const kept = { kind: 'kept', rank: firstRank, present_until: keptUntil } as const;
  await db.updateTable('waits').set(kept).where('id', '=', id).execute();
  await db.updateTable('wait_paths').set({ rank: firstRank }).where('wait_id', '=', id).execute();
}

/** Before those of all requests, which are times. */
const firstRank = 0;

/** People who wait for paths that are free. */
const untold = (db: Database) =>
  db
    .selectFrom('waits')
    .innerJoin('wait_paths', 'wait_paths.wait_id', 'waits.id')
    .where('waits.kind', '=', 'ask')
    .where(isFree('wait_paths'))
    .select(['waits.id', 'waits.token_id as tokenId', 'waits.workspace_id as workspace', 'wait_paths.path']);
