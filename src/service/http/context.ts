import type { HttpBindings } from '@hono/node-server';
import type { Context, Hono } from 'hono';
import { type ApiResponse, commonHeaders, emptyResponse } from '../contract/response.ts';

export interface Environment {
  Bindings: HttpBindings;
  Variables: {
    requestId: string;
    /** For the audit log, the log, and limits per address. */
    clientAddress: string | null;
    /** The time of the database in milliseconds. */
    databaseNow: () => number;
    /** For the log: the id of the token that the access rule admitted. */
    callerId: string;
    /** Time spent waiting at the client's request, with Prefer. */
    waitedMs: number;
    /** The body exactly as received. */
    bodyText: string;
    responseHeaders: Readonly<Record<string, string>>;
  };
}

export type App = Hono<Environment>;

/** Sends a response, with the headers that are common to all responses to this request. */
export function send(c: Context<Environment>, { status, headers, body }: ApiResponse): Response {
  return new Response(body === '' ? null : body, {
    status,
    headers: { ...(body !== '' && { 'content-type': 'application/json' }), ...responseHeaders(c, headers) },
  });
}

type Headers = Readonly<Record<string, string>>;

/** These headers, and those common to all responses to this request. */
export const responseHeaders = (c: Context<Environment>, headers: Headers): Headers => ({
  ...commonHeaders(c.get('requestId')),
  // The clock of the database, because clients compare the time with those of locks.
  date: new Date(c.get('databaseNow')()).toUTCString(),
  ...c.get('responseHeaders'),
  ...headers,
});

export function disconnection({ outgoing }: Pick<HttpBindings, 'outgoing'>): AbortSignal {
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  if (outgoing.destroyed) gone.abort();
  return gone.signal;
}

/** For the log only: the client disconnected before the response. */
export const clientIsGone = emptyResponse(499);
