import { once } from 'node:events';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { Refusal } from '../../contract/problem.ts';
import type { AccessControl } from '../../http/access.ts';
import type { App } from '../../http/context.ts';
import { authenticateSession } from '../../sessions/sessions.ts';
import { callOf, type PageCall, type PageRoute } from './page.ts';
import { requireSession } from './session.ts';

export interface LiveControl extends AccessControl {
  /** The service is about to stop: nobody is kept listening. */
  readonly stopping: AbortSignal;
  readonly takeLivePage: LivePageQuota;
}

/** A page that listens. */
export interface Listener {
  /** Fulfilled when there is room for more; rejected when nobody listens any more. */
  send(event: string, data: unknown): Promise<void>;
  /** The page was closed, its session has ended, or the service stops. */
  readonly gone: AbortSignal;
}

/**
 * A proxy that hears nothing for longer may take the connection for a dead one; and so does a page, which is not told of
 * comments: it is an event. `assets/event-stream.js` waits for two of them.
 */
const heartbeatMs = 10_000;

/** Until a page whose connection broke asks again. */
const retryAfterMs = 1_000;

const headers = {
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  // nginx would keep what is small until there is more of it.
  'x-accel-buffering': 'no',
};

/** Sends what there is, and then what happens, until nobody listens. */
export type Follow = (listener: Listener) => Promise<void>;

/**
 * Server-sent events. `find` looks up what is to be followed, and refuses what is not there: once the answer has begun,
 * a browser can no longer be told. With each event the session is looked up anew, so that a revoked token is told
 * nothing more.
 */
export function addLivePage(
  app: App,
  control: LiveControl,
  { path, access }: PageRoute,
  find: (call: PageCall) => Promise<Follow>,
): void {
  const { storage, stopping, takeLivePage } = control;

  async function listen(stream: SSEStreamingApi, secret: string, follow: Follow): Promise<void> {
    const left = new AbortController();
    const gone = AbortSignal.any([left.signal, stopping]);
    const end = once(gone, 'abort');
    stream.onAbort(() => left.abort());

    async function send(event: string, data: unknown, retry?: number): Promise<void> {
      gone.throwIfAborted();
      if ((await authenticateSession(storage, secret)).kind === 'refused') left.abort();
      gone.throwIfAborted();
      await stream.writeSSE({ event, data: JSON.stringify(data), ...(retry !== undefined && { retry }) });
      // The stream says nothing of a write that failed.
      gone.throwIfAborted();
    }

    let isWaiting = false;
    async function beat(retry?: number): Promise<void> {
      // Whoever does not read has one of these waiting, and no more.
      if (isWaiting) return;
      isWaiting = true;
      await send('alive', 0, retry).catch(() => left.abort());
      isWaiting = false;
    }
    const heartbeat = setInterval(beat, heartbeatMs);
    // Sooner than the three seconds or so that browsers wait by themselves.
    void beat(retryAfterMs);
    // Whatever ends it, the page asks again, and is then told what is wrong.
    await Promise.race([follow({ send, gone }).catch(() => undefined), end]);
    clearInterval(heartbeat);
    left.abort();
  }

  app.get(path, requireSession(control, access), async (c) => {
    const follow = await find(callOf(c));
    if (stopping.aborted) throw new Refusal('unavailable', 'The service is stopping.');
    const { secret } = c.get('session');
    const free = takeLivePage({ session: secret, workspace: c.req.param('id') ?? '' });
    const response = streamSSE(c, (stream) => listen(stream, secret, follow).finally(free));
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
    response.headers.set('x-request-id', c.get('requestId'));
    return response;
  });
}

export interface LivePageLimits {
  /** Each page holds a connection, and is sent every change. */
  readonly total: number;
  readonly perSession: number;
  /** So that the pages of one workspace leave room for those of all others. */
  readonly perWorkspace: number;
}

export const livePageLimits: LivePageLimits = { total: 256, perSession: 16, perWorkspace: 128 };

/** Takes a place for a page, and gives what frees it; refuses the page where there is none. */
export type LivePageQuota = (page: { readonly session: string; readonly workspace: string }) => () => void;

const retryAfterSeconds = 30;

const full = (why: string): Refusal =>
  new Refusal('unavailable', `${why} This page shows the state as of when it was opened.`, {
    headers: { 'retry-after': String(retryAfterSeconds) },
  });

export function createLivePageQuota(limits: LivePageLimits = livePageLimits): LivePageQuota {
  const bySession = new Map<string, number>();
  const byWorkspace = new Map<string, number>();
  let total = 0;

  function add(counts: Map<string, number>, key: string, difference: 1 | -1): void {
    const count = (counts.get(key) ?? 0) + difference;
    if (count === 0) counts.delete(key);
    else counts.set(key, count);
  }

  return ({ session, workspace }) => {
    if ((bySession.get(session) ?? 0) >= limits.perSession) {
      throw full(`At most ${limits.perSession} live pages can be open per sign-in. Close some.`);
    }
    if ((byWorkspace.get(workspace) ?? 0) >= limits.perWorkspace) {
      throw full(`At most ${limits.perWorkspace} live pages can be open per workspace.`);
    }
    if (total >= limits.total) throw full(`At most ${limits.total} live pages can be open.`);
    const count = (difference: 1 | -1): void => {
      add(bySession, session, difference);
      add(byWorkspace, workspace, difference);
      total += difference;
    };
    count(1);
    let isOpen = true;
    return () => {
      if (isOpen) count(-1);
      isOpen = false;
    };
  };
}
