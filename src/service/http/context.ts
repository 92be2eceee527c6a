import type { HttpBindings } from '@hono/node-server';
import type { Context, Hono } from 'hono';
import type { Actor } from '../audit/audit.ts';
import type { ApiResponse } from '../contract/response.ts';
import type { Bearer } from '../tokens/tokens.ts';
import type { ReleaseAdmission } from './rate-limit.ts';

/** Variables that the middleware sets on a request. */
export interface Environment {
  Bindings: HttpBindings;
  Variables: {
    requestId: string;
    /** See client-address.ts. */
    clientAddress: string | null;
    /** Set by the access rule of every route but those for anyone. */
    bearer: Bearer;
    /** Set for requests that release a lock. */
    releaseAdmission: ReleaseAdmission;
    /** Spent waiting because the client asked for it, with Prefer. */
    waitedMs: number;
    /** The body exactly as it was sent. */
    bodyText: string;
    /** Parsed JSON of the body, not validated yet. */
    body: unknown;
    /** Headers that every answer to this request gets. */
    answerHeaders: Readonly<Record<string, string>>;
  };
}

export type App = Hono<Environment>;

/** The caller, for the audit. */
export const actorOf = (c: Context<Environment>): Actor => ({
  name: bearerOf(c).name,
  tokenId: bearerOf(c).id,
  address: addressOf(c),
});

/** Sends what a rule answered. */
export function send(c: Context<Environment>, { status, headers, body }: ApiResponse): Response {
  return new Response(body === '' ? null : body, {
    status,
    headers: { ...(body !== '' && { 'content-type': 'application/json' }), ...answerHeaders(c, headers) },
  });
}

/** The token of a request that an access rule has let through. */
export const bearerOf = (c: Context<Environment>): Bearer => c.get('bearer');

/** Address of the client, for the audit, the log and limits by address. */
export const addressOf = (c: Context<Environment>): string | null => c.get('clientAddress');

type Headers = Readonly<Record<string, string>>;

/** These headers, and those that every answer to this request gets. */
export const answerHeaders = (c: Context<Environment>, headers: Headers): Headers => ({
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  ...c.get('answerHeaders'),
  ...headers,
  'x-request-id': c.get('requestId'),
});
