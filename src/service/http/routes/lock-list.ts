import { z } from '@hono/zod-openapi';
import { parseLockPath } from '../../../interface/lock-path.ts';
import { type LockPage, type LockQuery, listLocks } from '../../locks/list.ts';
import type { AccessControl } from '../access.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import { type App, addOperation, jsonAnswer, jsonResponse } from '../operation.ts';
import { addressedWorkspace, workspaceParameter } from '../parameters.ts';
import { lockSchema, parsedBy, plainText } from '../schemas.ts';

const pageSize = 100;
const largestPage = 1_000;

const querySchema = z.object({
  path: z
    .string()
    .transform(parsedBy(parseLockPath))
    .optional()
    .openapi({ type: 'string', description: 'Only the lock on this path.' }),
  prefix: plainText.optional().openapi({ description: 'Only locks whose path starts so.', example: 'Content/' }),
  limit: z
    .string()
    .regex(/^\d{1,4}$/, `It has to be a whole number from 1 to ${largestPage}.`)
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= largestPage, `It has to be a whole number from 1 to ${largestPage}.`)
    .default(pageSize)
    .openapi({ type: 'integer', minimum: 1, maximum: largestPage, default: pageSize }),
  cursor: z
    .string()
    .transform(parsedBy(readCursor))
    .optional()
    .openapi({ type: 'string', description: 'From next_cursor of the page before.' }),
});

const pageSchema = z
  .object({
    locks: z.array(lockSchema),
    next_cursor: z.string().nullable().openapi({ description: 'Null on the last page.' }),
  })
  .openapi('LockPage');

/** RFC 8288: the same request with another cursor, so that a client only has to follow it. */
function linkToNext(query: LockQuery, cursor: string): string {
  const parameters = new URLSearchParams({
    ...(query.path !== undefined && { path: query.path }),
    ...(query.prefix !== undefined && { prefix: query.prefix }),
    limit: String(query.limit),
    cursor,
  });
  return `</v1/workspaces/${query.workspace}/locks?${parameters}>; rel="next"`;
}

function answerPage(query: LockQuery, { locks, next }: LockPage) {
  if (next === undefined) return jsonAnswer(200, { locks, next_cursor: null });
  const cursor = writeCursor(next);
  return jsonAnswer(200, { locks, next_cursor: cursor }, { link: linkToNext(query, cursor) });
}

export function addLockListRoute(app: App, control: AccessControl): void {
  addOperation(
    app,
    control,
    {
      operationId: 'listLocks',
      summary: 'List the active locks of a workspace, by path',
      method: 'get',
      path: '/v1/workspaces/{id}/locks',
      access: 'locks:read',
      params: workspaceParameter,
      query: querySchema,
      responses: { 200: jsonResponse('A page of locks.', pageSchema) },
      refusals: [404],
    },
    async ({ c, query: { cursor, ...filter } }) => {
      const { id } = await addressedWorkspace(c, control.storage);
      const query: LockQuery = { ...filter, after: cursor, workspace: id };
      return answerPage(query, await listLocks(control.storage, query));
    },
  );
}
