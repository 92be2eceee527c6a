import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { Refusal } from '../../contract/problem.ts';
import { disconnection } from '../../http/context.ts';
import { authenticateSession } from '../../sessions/sessions.ts';
import { addWorkspacePage, type PageSite, type Site, type WorkspaceCall, type WorkspaceRoute } from './page.ts';

/** A page that receives events. */
interface Listener {
  /** `note` is shown once the page has reloaded its parts. Resolves when more can be sent; rejects when the listener is gone. */
  send(event: 'changed' | 'over', note?: string): Promise<void>;
  /** Aborted when the page is closed, its session ends, or the service stops. */
  readonly gone: AbortSignal;
}

/**
 * Heartbeat interval. Proxies may close a connection without traffic, and `assets/event-stream.js` reconnects after two
 * missing heartbeats. The heartbeat is an event, because browsers do not report comments to scripts.
 */
const heartbeatMs = 10_000;

/** Delay before a page reconnects. Browsers would wait about three seconds. */
const retryAfterMs = 1_000;

const headers = {
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  // nginx would buffer small events.
  'x-accel-buffering': 'no',
};

/** Sends the current state and then its changes, until the listener is gone. */
type Follow = (listener: Listener) => Promise<void>;

/**
 * Adds a route for server-sent events. `find` looks up the subject before the response starts, because an unknown one
 * can only be refused then. The session is checked for each event, so that a revoked token receives no more events.
 */
export function addLivePage(
  site: PageSite & Pick<Site, 'stopping' | 'takeLivePage'>,
  route: WorkspaceRoute,
  find: (call: WorkspaceCall) => Promise<Follow>,
): void {
  const { storage, stopping, takeLivePage } = site;

  async function listen(stream: SSEStreamingApi, disconnected: AbortSignal, secret: string, follow: Follow) {
    const left = new AbortController();
    // The stream itself never learns of the end of the response to a HEAD request.
    const gone = AbortSignal.any([left.signal, disconnected, stopping]);
    const end = once(gone, 'abort');

    async function send(event: string, note = ''): Promise<void> {
      gone.throwIfAborted();
      if ((await authenticateSession(storage, secret)).kind === 'refused') left.abort();
      gone.throwIfAborted();
      await stream.writeSSE({ event, data: JSON.stringify(note), retry: retryAfterMs });
      // The stream ignores write errors.
      gone.throwIfAborted();
    }

    /** At most one heartbeat waits for a page that does not read. */
    async function beat(): Promise<void> {
      for (;;) {
        await send('alive');
        await sleep(heartbeatMs, undefined, { signal: gone });
      }
    }
    // Errors are ignored: the page reconnects, and then receives the reason.
    await Promise.race([follow({ send, gone }), beat(), end]).catch(() => undefined);
    left.abort();
  }

  addWorkspacePage(site, route, async (call) => {
    const { c } = call;
    const follow = await find(call);
    if (stopping.aborted) throw new Refusal('unavailable', 'The service is stopping.');
    const { secret } = c.get('session');
    const free = takeLivePage({ token: call.bearer.id, workspace: call.workspace.id });
    const response = streamSSE(c, (stream) => listen(stream, disconnection(c.env), secret, follow).finally(free));
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
    response.headers.set('x-request-id', c.get('requestId'));
    return response;
  });
}

/** All live pages are limited, because each holds a connection and receives every change; the shares leave room for others. */
const livePageLimits = { total: 256, perToken: 64, perWorkspace: 128 };

export function createLivePageQuota(limits = livePageLimits): Site['takeLivePage'] {
  const open = new Set<Parameters<Site['takeLivePage']>[0]>();

  return ({ token, workspace }) => {
    const page = { token, workspace };
    const pages = [...open];
    if (pages.filter((other) => other.token === token).length >= limits.perToken) {
      throw full(`At most ${limits.perToken} live pages can be open per token. Close some.`);
    }
    if (pages.filter((other) => other.workspace === workspace).length >= limits.perWorkspace) {
      throw full(`At most ${limits.perWorkspace} live pages can be open per workspace.`);
    }
    if (pages.length >= limits.total) throw full(`At most ${limits.total} live pages can be open.`);
    open.add(page);
    return () => open.delete(page);
  };
}

const full = (reason: string): Refusal => new Refusal('unavailable', reason, { headers: { 'retry-after': '30' } });
