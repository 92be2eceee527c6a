import type { HttpBindings } from '@hono/node-server';
import type { Context, Hono } from 'hono';
import type { Actor } from '../audit/audit.ts';
import { noSuchWorkspace } from '../contract/problem.ts';
import { type ApiResponse, emptyResponse } from '../contract/response.ts';
import { type KeyedRequest, keyedRequest } from '../idempotency/keyed-request.ts';
import type { Admission } from '../runtime/limit-rate.ts';
import type { Storage } from '../storage/storage.ts';
import { type Bearer, maySee } from '../tokens/tokens.ts';
import { parseWorkspaceId } from '../workspaces/workspace-id.ts';
import { type FoundWorkspace, workspaceWithId } from '../workspaces/workspaces.ts';

export interface Environment {
  Bindings: HttpBindings;
  Variables: {
    requestId: string;
    clientAddress: string | null;
    /** The time of the database in milliseconds. */
    databaseNow: () => number;
    /** Set by the access rule of every route that needs a token. */
    bearer: Bearer;
    /** Set when a request has released a lock of the token's own owner: it does not count against the rate limit. */
    isFree: boolean;
    /** Set for releases, which are only refused beyond the rate limit if they would store something. */
    admission: Admission;
    /** Time spent waiting at the client's request, with Prefer. */
    waitedMs: number;
    /** The body exactly as received. */
    bodyText: string;
    body: unknown;
    responseHeaders: Readonly<Record<string, string>>;
  };
}

export type App = Hono<Environment>;

export const actorOf = (c: Context<Environment>): Actor => ({
  name: bearerOf(c).name,
  tokenId: bearerOf(c).id,
  address: addressOf(c),
});

/** Sends a response, with the headers that all responses to this request get. */
export function send(c: Context<Environment>, { status, headers, body }: ApiResponse): Response {
  return new Response(body === '' ? null : body, {
    status,
    headers: { ...(body !== '' && { 'content-type': 'application/json' }), ...responseHeaders(c, headers) },
  });
}

/** The token of a request that an access rule has admitted. */
export const bearerOf = (c: Context<Environment>): Bearer => c.get('bearer');

export function keyedRequestOf(c: Context<Environment>): KeyedRequest | undefined {
  const key = c.req.header('idempotency-key');
  if (key === undefined) return undefined;
  const content = [c.req.method, c.req.path, c.req.header('if-match') ?? null, c.get('bodyText')];
  return keyedRequest(bearerOf(c).id, key, content);
}

/** The workspace in the path of the request. Throws if the token may not see it. */
export async function requestedWorkspace(c: Context<Environment>, storage: Storage): Promise<FoundWorkspace> {
  const id = c.req.param('id') ?? '';
  // Invalid ids are not passed to the database, which may reject some characters.
  const isVisible = parseWorkspaceId(id).ok && maySee(bearerOf(c), id);
  const workspace = isVisible ? await workspaceWithId(storage, id) : undefined;
  if (workspace === undefined) throw noSuchWorkspace(id);
  return workspace;
}

/** IP address of the client, for the audit log, the log and limits per address. */
export const addressOf = (c: Context<Environment>): string | null => c.get('clientAddress');

type Headers = Readonly<Record<string, string>>;

/** These headers, plus those for any response to this request. */
export const responseHeaders = (c: Context<Environment>, headers: Headers): Headers => ({
  'cache-control': 'no-store',
  // Clients compare it with the times of locks, which are those of the database.
  date: new Date(c.get('databaseNow')()).toUTCString(),
  'x-content-type-options': 'nosniff',
  ...c.get('responseHeaders'),
  ...headers,
  'x-request-id': c.get('requestId'),
});

/** Aborted when the client has disconnected. */
export function disconnection({ outgoing }: Pick<HttpBindings, 'outgoing'>): AbortSignal {
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  if (outgoing.destroyed) gone.abort();
  return gone.signal;
}

/** For the log only: the client disconnected before the response. */
export const clientIsGone = emptyResponse(499);
