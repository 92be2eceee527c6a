import { Refusal } from '../../contract/problem.ts';
import type { AccessControl } from '../../http/access.ts';
import type { App } from '../../http/context.ts';
import { authenticateSession } from '../../sessions/sessions.ts';
import { requireSession } from '../access/require-session.ts';
import { callOf, type PageCall, type PageRoute } from '../page.ts';
import type { LivePageQuota } from './live-page-quota.ts';

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
const againAfterMs = 1_000;

const headers = {
  'content-type': 'text/event-stream',
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

  function listen(secret: string, follow: Follow, free: () => void): ReadableStream<Uint8Array> {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const left = new AbortController();
    const gone = AbortSignal.any([left.signal, stopping]);
    const encoder = new TextEncoder();

    async function write(text: string): Promise<void> {
      gone.throwIfAborted();
      if ((await authenticateSession(storage, secret)).kind === 'refused') left.abort();
      gone.throwIfAborted();
      await writer.write(encoder.encode(text));
    }

    const heartbeat = setInterval(() => write('event: alive\ndata: 0\n\n').catch(() => left.abort()), heartbeatMs);
    const send = (event: string, data: unknown) => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    const end = (): void => {
      clearInterval(heartbeat);
      free();
      writer.close().catch(() => undefined);
    };
    // Sooner than the three seconds or so that browsers wait by themselves.
    write(`retry: ${againAfterMs}\n\n`).catch(() => undefined);
    writer.closed.catch(() => left.abort());
    gone.addEventListener('abort', end, { once: true });
    // Whatever ends it, the page asks again, and is then told what is wrong.
    follow({ send, gone })
      .catch(() => undefined)
      .finally(() => left.abort());
    return readable;
  }

  app.get(path, requireSession(control, access), async (c) => {
    const call = callOf(c);
    const follow = await find(call);
    if (stopping.aborted) throw new Refusal('unavailable', 'The service is stopping.');
    const { secret } = c.get('session');
    const free = takeLivePage({ session: secret, workspace: c.req.param('id') ?? '' });
    return new Response(listen(secret, follow, free), { headers: { ...headers, 'x-request-id': c.get('requestId') } });
  });
}
