import type { Database, Storage } from '../storage/storage.ts';
import type { LockWaiters, Wait } from './local-waiters.ts';
import { presenceMs } from './wait-terms.ts';
import { extendEarlier, extendLapsed, extendPresence } from './waits.ts';

export type Presence = ReturnType<typeof createPresence>;

/** A client in line whose request is at this instance, or was. */
export interface Client extends Pick<Wait, 'id' | 'workspace' | 'gone'> {
  readonly requestId: string;
  /** Until when others wait for it after its response, by the clock of this process. */
  presentUntil?: number;
  /** When its presence was last extended, or a little earlier, by the clock of this process. */
  keptAt: number;
}

/** If the database stalls for longer than two rounds of keep(), clients here may seem absent after that. */
const overdueMs = 3_000;

/** How long others wait for the clients in line at this instance. */
export function createPresence(
  { dialect, commit, batchCommits }: Pick<Storage, 'dialect' | 'commit' | 'batchCommits'>,
  wake: LockWaiters['wake'],
  onError: (error: unknown) => void,
) {
  const here = new Set<Client>();
  /** By request: clients that have left while the database did not answer. */
  const unstored = new Map<string, Client>();
  /** With SQLite, no client is elsewhere. */
  const outages = dialect === 'postgres' ? watchOutages(commit) : undefined;

  const { commitPresence, commitArrival } = presenceCommits(batchCommits);

  /** The client by its earlier request, whose place it has until it is decided; undefined if it has none. */
  async function arrive(client: Client): Promise<Client | undefined> {
    const requestId = await commitArrival(client).catch((error): undefined => void onError(error));
    if (requestId === undefined) return undefined;
    const earlier = { ...client, requestId };
    unstored.delete(requestId);
    here.add(earlier);
    return earlier;
  }

  async function leave(client: Client, presentMs: number): Promise<void> {
    client.presentUntil = performance.now() + presentMs;
    // The client may be here again, with a request that has not been decided.
    if ([...here].some((other) => other !== client && other.requestId === client.requestId)) return;
    await commitPresence(presenceOf(client)).catch((error: unknown) => {
      onError(error);
      unstored.set(client.requestId, client);
    });
  }

  /** Workspaces with an update of their presence in progress. */
  const keeping = new Set<string>();

  async function keepPresentIn(workspace: string): Promise<void> {
    keeping.add(workspace);
    try {
      const { at, clients, left, kept } = await commit({ workspace }, async (db) => {
        const at = performance.now();
        const clients = [...here].filter((client) => client.workspace === workspace && !client.gone.aborted);
        const left = [...unstored.values()].filter((client) => client.workspace === workspace);
        return { at, clients, left, kept: await extend(db, [...clients, ...left]) };
      });
      for (const { requestId } of left) unstored.delete(requestId);
      const newest = new Set(kept.map(({ requestId }) => requestId));
      for (const client of clients) {
        client.keptAt = at;
        // The wait was granted or ended elsewhere, or has a newer request: the next attempt finds out which.
        if (!newest.has(client.requestId)) wake(client.id);
      }
    } catch (error) {
      onError(error);
    } finally {
      keeping.delete(workspace);
    }
  }

  return {
    enter: (client: Client) => void here.add(client),
    exit: (client: Client) => void here.delete(client),
    /** Until the client has its response, it stays present here, too. */
    leave,
    arrive,
    /** A slow workspace does not delay the rest. */
    async keep(): Promise<void> {
      const workspaces = new Set([...here, ...unstored.values()].map(({ workspace }) => workspace));
      const due = [...workspaces].filter((workspace) => !keeping.has(workspace));
      await Promise.all([outages?.look().catch(onError), ...due.map(keepPresentIn)]);
    },
    /**
     * Must be called in each transaction that decides who is next: its changes may come before those of keep(), which
     * waited for the database just as long. Returns whether it extended the presence of any client. After an outage,
     * this includes the clients of other instances that were present at its start.
     */
    async keepOverdue(db: Database, deciding: readonly Pick<Client, 'workspace'>[]): Promise<boolean> {
      const due = performance.now() - overdueMs;
      const lapsing = [...here].filter(({ keptAt, gone }) => keptAt < due && !gone.aborted);
      const overdue = [...lapsing, ...unstored.values()];
      const agoMs = outages?.agoMs();
      if (overdue.length === 0 && agoMs === undefined) return false;
      const workspaces = new Set(deciding.map(({ workspace }) => workspace));
      const clients = overdue.filter(({ workspace }) => workspaces.has(workspace));
      if (clients.length > 0) await extend(db, clients);
      const lapsed = agoMs === undefined ? [] : [...workspaces].map((workspace) => ({ workspace, agoMs }));
      if (lapsed.length > 0) await extendLapsed(db, lapsed);
      return clients.length > 0 || agoMs !== undefined;
    },
  };
}

/** Batched, because the waits of a thousand clients may begin or end at the same time. */
function presenceCommits(batchCommits: Storage['batchCommits']) {
  const commitPresence = batchCommits(
    ({ workspace }: ReturnType<typeof presenceOf>) => ({ workspace }),
    async (db, leaving) => {
      await extendPresence(db, leaving);
      return leaving.map(() => undefined);
    },
  );

  const commitArrival = batchCommits(
    ({ workspace }: Client) => ({ workspace }),
    async (db, arrived) => {
      const waits = arrived.map(({ id }) => ({ id }));
      const requestIds = new Map((await extendEarlier(db, waits)).map(({ id, requestId }) => [id, requestId]));
      return arrived.map(({ id }) => requestIds.get(id));
    },
  );
  return { commitPresence, commitArrival };
}

/** By changes of no rows in no workspace, because a database that only reads extends the presence of no client. */
function watchOutages(commit: Storage['commit']) {
  let answeredAt = performance.now();
  let last = { from: 0, until: 0 };
  let looking = 0;
  return {
    async look(): Promise<void> {
      // The second one finds a database that answers again on another connection. More would use up the connections.
      if (looking === 2) return;
      looking += 1;
      await commit({ workspace: '' }, (db) => extendPresence(db, [])).finally(() => {
        looking -= 1;
      });
      const now = performance.now();
      // Until then, other instances extend the presence of their clients again.
      if (now - answeredAt > overdueMs) last = { from: answeredAt, until: now + overdueMs };
      answeredAt = now;
    },
    /** The time since the start of an outage that lasts, or has just ended; undefined without one. */
    agoMs(): number | undefined {
      const now = performance.now();
      const lasts = now - answeredAt > overdueMs;
      return lasts || now < last.until ? Math.ceil(now - (lasts ? answeredAt : last.from)) : undefined;
    },
  };
}

const extend = (db: Database, clients: readonly Client[]) => extendPresence(db, clients.map(presenceOf));

const presenceOf = ({ id, workspace, requestId, presentUntil }: Client) => {
  const presentMs = presentUntil === undefined ? presenceMs : Math.max(0, Math.ceil(presentUntil - performance.now()));
  return { id, workspace, requestId, presentMs };
};
