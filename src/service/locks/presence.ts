import type { Database, Storage } from '../storage/storage.ts';
import { timeOf } from '../storage/timestamp.ts';
import type { LockWaiters, Wait } from './local-waiters.ts';
import { extendEarlier, extendLapsed, extendPresence } from './waits.ts';

export type Presence = ReturnType<typeof createPresence>;

/** A client in line whose request is at this instance: others wait for it, and for `presentMs` longer. */
export interface Client extends Pick<Wait, 'id' | 'workspace' | 'gone'> {
  readonly requestId: string;
  presentMs: number;
  /** When its presence was last extended, or a little earlier, by the clock of this process. */
  keptAt: number;
}

type InWorkspace = Pick<Client, 'workspace'>;

/** If the database stalls for longer than two rounds of keep(), clients here may seem absent after that. */
const overdueMs = 3_000;

/** How long others wait for the clients in line at this instance. */
export function createPresence(
  { dialect, read, commit, batchCommits }: Pick<Storage, 'dialect' | 'read' | 'commit' | 'batchCommits'>,
  wake: LockWaiters['wake'],
  onError: (error: unknown) => void,
) {
  const here = new Set<Client>();
  /** With SQLite, no client is elsewhere. */
  const outages = dialect === 'postgres' ? watchOutages(read) : undefined;

  /** Batched, because the waits of a thousand clients may end at the same time. */
  const commitPresence = batchCommits(
    ({ workspace }: Client) => ({ workspace }),
    async (db, leaving) => {
      await extend(db, leaving);
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

  /** The client by its earlier request, whose place it has until it is decided; undefined if it has none. */
  async function arrive(client: Client): Promise<Client | undefined> {
    const requestId = await commitArrival(client).catch((error): undefined => void onError(error));
    if (requestId === undefined) return undefined;
    const earlier = { ...client, requestId };
    here.add(earlier);
    return earlier;
  }

  async function leave(client: Client, presentMs: number): Promise<void> {
    client.presentMs = presentMs;
    // The client may be here again, with a request that has not been decided.
    if ([...here].some((other) => other !== client && other.requestId === client.requestId)) return;
    await commitPresence(client).catch((error: unknown) => {
      onError(error);
      if (presentMs > 0) keepUntilRetry(here, client);
    });
  }

  /** Workspaces with an update of their presence in progress. */
  const keeping = new Set<string>();

  async function keepPresentIn(workspace: string): Promise<void> {
    keeping.add(workspace);
    try {
      const { at, clients, kept } = await commit({ workspace }, async (db) => {
        const at = performance.now();
        const clients = [...here].filter((client) => client.workspace === workspace && !client.gone.aborted);
        return { at, clients, kept: await extend(db, clients) };
      });
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
      const workspaces = new Set([...here].map(({ workspace }) => workspace));
      const due = [...workspaces].filter((workspace) => !keeping.has(workspace));
      await Promise.all([outages?.look().catch(onError), ...due.map(keepPresentIn)]);
    },
    /**
     * Must be called in each transaction that decides who is next: its changes may come before those of keep(), which
     * waited for the database just as long. Returns whether it extended the presence of any client. After an outage,
     * this includes the clients of other instances that were present at its start.
     */
    async keepOverdue(db: Database, deciding: readonly InWorkspace[]): Promise<boolean> {
      const due = performance.now() - overdueMs;
      const overdue = [...here].filter(({ keptAt, gone }) => keptAt < due && !gone.aborted);
      const agoMs = outages?.agoMs();
      if (overdue.length === 0 && agoMs === undefined) return false;
      const workspaces = new Set(deciding.map(({ workspace }) => workspace));
      const clients = overdue.filter(({ workspace }) => workspaces.has(workspace));
      if (clients.length > 0) await extend(db, clients);
      if (agoMs !== undefined)
        await extendLapsed(
          db,
          [...workspaces].map((workspace) => ({ workspace, agoMs })),
        );
      return clients.length > 0 || agoMs !== undefined;
    },
  };
}

/** The client was told to ask again, and the database may respond before that. */
function keepUntilRetry(here: Set<Client>, client: Client): void {
  const away = { ...client, gone: new AbortController().signal };
  here.add(away);
  setTimeout(() => here.delete(away), client.presentMs).unref();
}

function watchOutages(read: Database) {
  let answeredAt = performance.now();
  let last = { from: 0, until: 0 };
  let looking = 0;
  return {
    async look(): Promise<void> {
      // The second one finds a database that answers again on another connection. More would use up the connections.
      if (looking === 2) return;
      looking += 1;
      await timeOf(read).finally(() => {
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

const extend = (db: Database, clients: readonly Client[]) =>
  extendPresence(
    db,
    clients.map(({ id, requestId, presentMs }) => ({ id, requestId, presentMs })),
  );
