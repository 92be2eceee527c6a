import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { Refusal } from '../../contract/problem.ts';
import { disconnection } from '../../http/context.ts';
import type { Sight } from '../../locks/watch-locks.ts';
import { authenticateSession } from '../../sessions/sessions.ts';
import type { PageCall, Site } from './page.ts';

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

/**
 * The response with server-sent events for a page that shows what `see` finds: `changed` at the start and after each
 * change. An unknown subject can only be refused before the response starts. The session is checked for each event, so
 * that a revoked token receives no more of them.
 */
export const livePage =
  <Call extends PageCall>(site: LiveSite, see: (call: Call) => Promise<Sight>) =>
  async (call: Call): Promise<Response> => {
    const { c } = call;
    const sight = await see(call);
    if (site.stopping.aborted) throw new Refusal('unavailable', 'The service is stopping.');
    const { secret } = c.get('session');
    const free = site.takeLivePage(call.bearer.id);
    const response = streamSSE(c, (stream) => listen(site, stream, disconnection(c.env), secret, sight).finally(free));
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
    response.headers.set('x-request-id', c.get('requestId'));
    return response;
  };

type LiveSite = Pick<Site, 'storage' | 'locks' | 'stopping' | 'takeLivePage'>;

async function listen(
  { storage, locks, stopping }: LiveSite,
  stream: SSEStreamingApi,
  disconnected: AbortSignal,
  secret: string,
  sight: Sight,
): Promise<void> {
  const left = new AbortController();
  // The stream itself never learns of the end of the response to a HEAD request.
  const gone = AbortSignal.any([left.signal, disconnected, stopping]);
  const end = once(gone, 'abort');

  /** Resolves when the page can take more. */
  async function send(event: string): Promise<void> {
    gone.throwIfAborted();
    if ((await authenticateSession(storage, secret)).kind === 'refused') left.abort();
    gone.throwIfAborted();
    await stream.writeSSE({ event, data: '', retry: retryAfterMs });
    // The stream ignores write errors.
    gone.throwIfAborted();
  }

  async function follow(): Promise<void> {
    for await (const _ of locks.follow(sight, gone)) await send('changed');
  }

  /** At most one heartbeat waits for a page that does not read. */
  async function beat(): Promise<void> {
    for (;;) {
      await send('alive');
      await sleep(heartbeatMs, undefined, { signal: gone });
    }
  }
  // Errors are ignored: the page reconnects, and then receives the reason.
  await Promise.race([follow(), beat(), end]).catch(() => undefined);
  left.abort();
}

/** All live pages are limited, because each holds a connection; the share of a token leaves room for others. */
const livePageLimits = { total: 256, perToken: 64 };

export function createLivePageQuota(limits = livePageLimits): Site['takeLivePage'] {
  const open = new Set<{ readonly token: string }>();

  return (token) => {
    if ([...open].filter((other) => other.token === token).length >= limits.perToken) {
      throw full(`At most ${limits.perToken} live pages can be open per token. Close some.`);
    }
    if (open.size >= limits.total) throw full(`At most ${limits.total} live pages can be open.`);
    const page = { token };
    open.add(page);
    return () => open.delete(page);
  };
}

const full = (reason: string): Refusal => new Refusal('unavailable', reason, { headers: { 'retry-after': '30' } });
