import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { Actor } from '../audit/audit.ts';
import { noSuchWorkspace } from '../contract/response.ts';
import type { Environment } from '../http/context.ts';
import { type KeyedRequest, keyedRequest } from '../idempotency/idempotency.ts';
import type { Storage } from '../storage/storage.ts';
import { type Bearer, maySee } from '../tokens/tokens.ts';
import { parseWorkspaceId } from '../workspaces/workspace-id.ts';
import { type FoundWorkspace, workspaceWithId } from '../workspaces/workspaces.ts';

declare module 'hono' {
  interface ContextVariableMap {
    /** Set by the access rule of every route that needs a token. */
    bearer: Bearer;
    /** Set if it is looked up together with the token, to save a round trip to the database. */
    workspace?: ReturnType<typeof workspaceWithId>;
  }
}

/** The token of a request that an access rule has admitted. */
export const bearerOf = (c: Context<Environment>): Bearer => c.get('bearer');

export const actorOf = (c: Context<Environment>): Actor => ({
  name: bearerOf(c).name,
  tokenId: bearerOf(c).id,
  address: c.get('clientAddress'),
});

export function keyedRequestOf(c: Context<Environment>): KeyedRequest | undefined {
  const key = c.req.header('idempotency-key');
  if (key === undefined) return undefined;
  const content = [c.req.method, c.req.path, c.req.header('if-match') ?? null, c.get('bodyText')];
  return keyedRequest({ tokenId: bearerOf(c).id, workspace: c.req.param('id') ?? '', key }, content);
}

/** Starts to look up the workspace in the path of the request. */
export function lookUpWorkspace(c: Context<Environment>, storage: Storage): ReturnType<typeof workspaceWithId> {
  const id = c.req.param('id') ?? '';
  // Invalid ids are not passed to the database, which may reject some characters.
  const found = parseWorkspaceId(id).ok ? workspaceWithId(storage, id) : Promise.resolve(undefined);
  // If the token is invalid, nobody awaits the lookup.
  found.catch(() => undefined);
  c.set('workspace', found);
  return found;
}

/** The workspace in the path of the request. Throws if the token may not see it. */
export async function requestedWorkspace(c: Context<Environment>, storage: Storage): Promise<FoundWorkspace> {
  const id = c.req.param('id') ?? '';
  const found = maySee(bearerOf(c), id) ? (c.get('workspace') ?? lookUpWorkspace(c, storage)) : undefined;
  const workspace = await found;
  if (workspace === undefined) throw noSuchWorkspace(id);
  return workspace;
}

const maxOriginLength = 2_048;

export const originHeader = z.object({
  Referer: z.string().optional().openapi({
    maxLength: maxOriginLength,
    description:
      'URL that the lock is acquired from, such as the run URL. Stored as origin, without user name, password and fragment. Ignored if it is too long, or not an http or https URL.',
    example: 'https://ci.example.com/runs/1',
  }),
});

/** The run URL: the verified one of a job, or else that in the Referer header, without credentials. */
export function runOriginOf(c: Context<Environment>): string | null {
  const proven = bearerOf(c).run?.origin ?? null;
  const referer = c.req.header('referer') ?? '';
  const url = referer.length > maxOriginLength ? null : URL.parse(referer);
  if (proven !== null || url === null || !/^https?:$/.test(url.protocol)) return proven;
  // A Referer must not contain these (RFC 9110 section 10.1.3), so the client sent them by mistake.
  url.username = '';
  url.password = '';
  url.hash = '';
  return url.href;
}
