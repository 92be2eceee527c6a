import { randomUUID } from 'node:crypto';
import { Refusal, unavailableRetrySeconds } from '../contract/response.ts';
import type { Database, Storage } from '../storage/storage.ts';
import { timeOf } from '../storage/timestamp.ts';
import type { LockWaiters, Wait, WatchedPath } from './local-waiters.ts';
import { placeInLine } from './queue.ts';
import type { LockRequest } from './store-locks.ts';
import { type Place, presenceMs, requestGapMs, type Waited, type WaitOptions } from './wait-terms.ts';
import { extendEarlier, extendLapsed, extendPresence } from './waits.ts';

export type WaitInLine = ReturnType<typeof createWaitInLine>;

/** A request that must wait has paths to watch. */
interface Decided<Decision> {
  readonly kind: string;
  readonly watched?: readonly WatchedPath[];
  readonly retryAfterSeconds?: number;
  readonly lookAgain?: (read: Database) => Promise<Decision>;
}

/** Waits of clients in line at this instance. */
export function createWaitInLine(read: Database, { wait }: Pick<LockWaiters, 'wait'>, presence: Presence) {
  /** Attempts once, or with options at each turn of the client, until the decision is final or the wait ends. */
  return async function inLine<Decision extends Decided<Decision>>(
    id: string,
    { workspace, bearer: { owner } }: Pick<LockRequest, 'workspace' | 'bearer'>,
    options: WaitOptions | undefined,
    attempt: (place: Place | undefined, during: During) => Promise<Decision>,
  ): Promise<Waited<Decision>> {
    if (options === undefined) return attempt(undefined, (work) => work());
    const { seconds, urgency, gone, authenticate } = options;
    const deadline = performance.now() + seconds * 1_000;
    const requestId = randomUUID();
    const client = { id, workspace, requestId, gone, presentMs: presenceMs, keptAt: performance.now() };
    const place = { requestId, urgency, gone, presentMs: seconds > 0 ? presenceMs : untilRetryMs(placeRetrySeconds) };
    async function decide(isFirst: boolean, during: During): Promise<Decision> {
      try {
        if (!isFirst) await authenticate();
        return await attempt({ ...place, isFirst }, during);
      } catch (error) {
        if (!isFirst || gone.aborted) await presence.leave(client, presentAfter(error, gone));
        throw error;
      }
    }
    let last = await sinceArrival(presence, client, (during) => decide(true, during));
    let waitedSeconds: number | undefined = seconds;
    let retryAfterSeconds = seconds > 0 ? 0 : placeRetrySeconds;
    let isAnswered = false;
    if (last.watched !== undefined && seconds > 0) presence.enter(client);
    try {
      while (last.watched !== undefined && seconds > 0) {
        const ms = Math.max(0, deadline - performance.now());
        const outcome = await wait({ id, workspace, owner, gone, ms, watched: last.watched });
        // Too many clients are waiting. A response without `Preference-Applied` tells the client that it did not wait.
        if (outcome === undefined) {
          waitedSeconds = undefined;
          retryAfterSeconds = last.retryAfterSeconds ?? retryAfterSeconds;
        }
        if (outcome !== 'turn') {
          if (outcome === 'gone') await presence.leave(client, 0);
          // When this instance stops, the client retries at another one.
          isAnswered = outcome === 'timeout' || outcome === undefined;
          // The paths may have changed hands during the wait. If none is in the way, its turn came too late.
          const now = outcome === 'timeout' ? await last.lookAgain?.(read) : undefined;
          if (now?.watched?.length) last = now;
          break;
        }
        last = await decide(false, (work) => work());
      }
      const queue = last.watched && (await placeInLine(read, id));
      // Others look again within requestGapMs, even at a path that was kept for this client: see lookAgainMs().
      if (isAnswered) await presence.leave(client, untilRetryMs(retryAfterSeconds));
      return { ...last, waitedSeconds, queue, ...(last.watched && { retryAfterSeconds }) };
    } finally {
      presence.exit(client);
    }
  };
}

/** For a request that only takes a place: it could be repeated at once, but each repetition is a change. */
const placeRetrySeconds = 1;

/** A client that asks again after the `Retry-After` of its response is not overtaken until then. */
const untilRetryMs = (retryAfterSeconds: number): number => retryAfterSeconds * 1_000 + requestGapMs;

/**
 * Others must not wait for a client that was refused at its turn, or has disconnected, but for one that was told to try
 * again: by a refusal with a `Retry-After`, or after a failure of the database.
 */
function presentAfter(error: unknown, { aborted }: AbortSignal): number {
  if (aborted) return 0;
  const retryAfter = error instanceof Refusal ? error.extras.headers?.['retry-after'] : unavailableRetrySeconds;
  return retryAfter === undefined ? 0 : untilRetryMs(Number(retryAfter));
}

/** Makes the first decision about a request, and keeps its client in the place of an earlier one until then. */
async function sinceArrival<Decision>(
  presence: Presence,
  client: Client,
  decide: (during: During) => Promise<Decision>,
): Promise<Decision> {
  let arrival: Promise<Client | undefined> | undefined;
  async function during<Result>(work: () => Promise<Result>): Promise<Result> {
    const timer = setTimeout(() => {
      arrival = presence.arrive(client);
    }, arrivedMs);
    return work().finally(() => clearTimeout(timer));
  }
  try {
    return await decide(during);
  } catch (error) {
    const presentMs = presentAfter(error, client.gone);
    if (presentMs > 0) arrival ??= presence.arrive(client);
    const earlier = await arrival;
    if (earlier !== undefined) await presence.leave(earlier, presentMs);
    throw error;
  } finally {
    const earlier = await arrival;
    if (earlier !== undefined) presence.exit(earlier);
  }
}

export type Presence = ReturnType<typeof createPresence>;

/** Does work that may take seconds before a request can be decided. */
type During = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** A client in line whose request is at this instance: others wait for it, and for `presentMs` longer. */
interface Client extends Pick<Wait, 'id' | 'workspace' | 'gone'> {
  readonly requestId: string;
  presentMs: number;
  /** When its presence was last extended, or a little earlier, by the clock of this process. */
  keptAt: number;
}

type InWorkspace = Pick<Client, 'workspace'>;

/** Far less than requestGapMs. Most requests are decided sooner, and need no extension. */
const arrivedMs = 20;

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
    await commitPresence(client).catch(onError);
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
