import { z } from '@hono/zod-openapi';
import { wholeNumber } from '../../interface/parsed.ts';
import { bearerOf } from '../access/caller.ts';
import {
  lockPathField,
  maxCursorLength,
  parsedBy,
  plainText,
  readCursor,
  writeCursor,
} from '../contract/request-fields.ts';
import { type ApiResponse, jsonApiResponse } from '../contract/response.ts';
import { lockSchema } from '../contract/schemas.ts';
import { clientIsGone } from '../http/context.ts';
import { type LockQuery, listLocks, toLock } from '../locks/find.ts';
import { appliedWait } from '../locks/refusals.ts';
import { maxWaitSeconds } from '../locks/wait-terms.ts';
import { maxPreferLength, waitWith } from './lock-headers.ts';
import { type Api, type ApiParts, addWorkspaceOperation, jsonResponse } from './operation.ts';

const pageSize = 100;
const maxPageSize = 1_000;

const querySchema = z.object({
  path: lockPathField.optional().openapi({ description: 'Only the lock on this path.' }),
  prefix: plainText.optional().openapi({ description: 'Only locks whose path starts with this.', example: 'Content/' }),
  owner: plainText.optional().openapi({ description: 'Only the locks of this owner. Case-sensitive.', example: 'ada' }),
  limit: z
    .string()
    .transform(parsedBy(wholeNumber(1, maxPageSize)))
    .default(pageSize)
    .openapi({ type: 'integer', minimum: 1, maximum: maxPageSize, default: pageSize }),
  cursor: z.string().transform(parsedBy(readCursor)).optional().openapi({
    type: 'string',
    maxLength: maxCursorLength,
    description: 'The next_cursor of the previous page; anything else is refused.',
  }),
});

const pageSchema = z
  .object({
    locks: z.array(lockSchema),
    next_cursor: z.string().nullable().openapi({ description: 'Null on the last page.' }),
  })
  .openapi('LockPage');

const preferHeader = z.object({
  Prefer: z
    .string()
    .optional()
    .openapi({
      maxLength: maxPreferLength,
      description: `With path, and without prefix, owner and cursor: wait=N delays the response until the path is free, for at most N seconds (up to ${maxWaitSeconds}). It keeps no place in line. Preference-Applied confirms the wait; if too many requests are waiting, the response is immediate (RFC 7240). Invalid and longer values are ignored.`,
      example: 'wait=30',
    }),
});

export function addLockListRoute(api: Api, parts: ApiParts): void {
  addWorkspaceOperation(api, parts, {
    operationId: 'listLocks',
    summary: 'List the active locks of a workspace by path, or wait until a path is free (Prefer)',
    method: 'get',
    path: '/v1/workspaces/{id}/locks',
    access: 'locks:read',
    query: querySchema,
    headers: preferHeader,
    responses: {
      200: jsonResponse('A page of locks.', pageSchema),
    },
    async handle({ c, workspace: { id: workspace }, query: { cursor, ...filter } }) {
      const query: LockQuery = { ...filter, after: cursor, workspace };
      const { path, prefix, owner } = filter;
      const list = async (headers: ApiResponse['headers']): Promise<ApiResponse> =>
        pageResponse(query, await listLocks(parts.storage.read, query), headers);
      if (path === undefined || [prefix, owner, cursor].some((narrower) => narrower !== undefined)) return list({});
      return waitWith(c, parts.storage, async (options) => {
        if (options === undefined) return list({ vary: 'Prefer' });
        const { seconds, gone, authenticate } = options;
        const client = { workspace, path, owner: bearerOf(c).owner };
        const outcome = await parts.locks.waitUntilFree({ ...client, ms: seconds * 1_000, gone });
        // Too many clients are already waiting.
        if (outcome === undefined) return list({ vary: 'Prefer' });
        if (outcome === 'gone') return clientIsGone;
        await authenticate();
        const headers = { vary: 'Prefer', ...appliedWait(seconds) };
        return outcome === 'turn' ? pageResponse(query, { locks: [], next: undefined }, headers) : list(headers);
      });
    },
  });
}

function pageResponse(
  query: LockQuery,
  { locks, next }: Awaited<ReturnType<typeof listLocks>>,
  headers: ApiResponse['headers'],
): ApiResponse {
  const cursor = next === undefined ? null : writeCursor(next);
  const link = cursor !== null && { link: linkToNext(query, cursor) };
  return jsonApiResponse(200, { locks: locks.map(toLock), next_cursor: cursor }, { ...headers, ...link });
}

/** Link header (RFC 8288): the same request with another cursor. */
function linkToNext(query: LockQuery, cursor: string): string {
  const { workspace, path, prefix, owner, limit } = query;
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries({ path, prefix, owner, limit, cursor })) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  return `</v1/workspaces/${workspace}/locks?${parameters}>; rel="next"`;
}
