import { hash } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { type LockPath, parseLockPath } from '../../interface/lock-path.ts';
import { withoutSecrets } from '../../interface/resources.ts';
import { admitEmptyRelease, requireFreeDisk } from '../access/access.ts';
import { bearerOf, originHeader, runOriginOf } from '../access/caller.ts';
import { lockRequestSchema } from '../contract/request-fields.ts';
import { emptyResponse, invalid, jsonApiResponse, maxErrors } from '../contract/response.ts';
import type { Resource } from '../contract/schemas.ts';
import type { Environment } from '../http/context.ts';
import { findLease } from '../locks/lease-store.ts';
import { type LeaseRequest, readLease } from '../locks/leases.ts';
import { poolWithName } from '../pools/pools.ts';
import { mapInSlices } from '../runtime/map-in-slices.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { leaseResponse, putLeaseResponse, waitingLease } from './lease-responses.ts';
import {
  endSchema,
  leaseRequestSchema,
  leaseSchema,
  maxBodyBytes,
  renewalSchema,
  waitingLeaseSchema,
} from './lease-schemas.ts';
import { lockBranchHeader, lockBranchOf, waitHeaders, waitWith } from './lock-headers.ts';
import { type Api, type ApiParts, addWorkspaceOperation, jsonResponse, workspaceParameter } from './operation.ts';

const path = '/v1/workspaces/{id}/leases/{lease}';

const leaseIdPattern = /^[A-Za-z0-9_-]{16,64}$/;

const leaseParameter = workspaceParameter.extend({
  lease: z.string().openapi({
    param: { name: 'lease', in: 'path' },
    pattern: leaseIdPattern.source,
    description: 'An id that the client chooses for each lease, such as a UUID. Invalid ids are refused with 422.',
    example: '0198c1a2-6f1b-7c3d-9e4f-5a6b7c8d9e0f',
  }),
});

export function addLeaseRoutes(api: Api, parts: ApiParts): void {
  addPutLease(api, parts);
  addHeldLeaseRoutes(api, parts);
}

function addPutLease(api: Api, parts: ApiParts): void {
  const { storage, locks } = parts;
  addWorkspaceOperation(api, parts, {
    operationId: 'putLease',
    summary: 'Acquire several locks as one lease',
    description:
      'All are acquired at once, or none. Repeating the request, for example after a lost response, returns the same lease. The id can be reused 7 days after the lease has ended.',
    method: 'put',
    path,
    access: 'locks:write',
    params: leaseParameter,
    headers: z.object({ ...originHeader.shape, ...lockBranchHeader.shape, ...waitHeaders.shape }),
    body: leaseRequestSchema,
    maxBodyBytes,
    responses: {
      200: jsonResponse('The current state of a lease that was acquired before.', leaseSchema),
      201: jsonResponse('Acquired.', leaseSchema),
      202: jsonResponse('With Prefer: the request waits in line.', waitingLeaseSchema),
    },
    async handle({ c, workspace, body }) {
      const id = leaseIdOf(c);
      const bearer = bearerOf(c);
      await requireFreeDisk(
        parts,
        async () => (await findLease(storage.read, { workspace: workspace.id, id })) !== undefined,
      );
      const branch = lockBranchOf(c);
      const request: LeaseRequest = {
        ...body,
        count: body.count ?? (body.pool === undefined ? undefined : 1),
        id,
        workspace: workspace.id,
        bearer,
        origin: runOriginOf(c),
        fingerprint: hash('sha256', c.get('bodyText')),
        readPaths: await readPathsOf(workspace.id, body),
        compare: (paths) => parts.compare({ workspace, branch, paths }),
      };
      return waitWith(c, storage, async (options) =>
        putLeaseResponse(storage.read, id, await locks.acquireLease(request, options)),
      );
    },
  });
}

function addHeldLeaseRoutes(api: Api, parts: ApiParts): void {
  const { storage, locks } = parts;

  addWorkspaceOperation(api, parts, {
    operationId: 'getLease',
    summary: 'Get a lease of the same owner, with its held and lost locks',
    method: 'get',
    path,
    access: 'locks:read',
    params: leaseParameter,
    responses: { 200: jsonResponse('The lease.', z.union([leaseSchema, waitingLeaseSchema])) },
    async handle({ c, workspace }) {
      const id = leaseIdOf(c);
      const found = await readLease(storage.read, { workspace: workspace.id, id }, bearerOf(c));
      if (found.kind === 'granted') return leaseResponse(storage.read, found);
      return jsonApiResponse(200, waitingLease(id, found.paths, found.queue));
    },
  });

  addWorkspaceOperation(api, parts, {
    operationId: 'renewLease',
    summary: 'Renew all locks that a lease holds',
    method: 'post',
    path: `${path}/renew`,
    access: 'locks:write',
    params: leaseParameter,
    body: z.object({ ttl: lockRequestSchema.shape.ttl }).openapi('LeaseRenewalRequest'),
    responses: { 200: jsonResponse('All of them now expire at the same time.', renewalSchema) },
    async handle({ c, workspace, body }) {
      const key = { workspace: workspace.id, id: leaseIdOf(c) };
      const { expiresAt, lost } = await locks.renewLease(key, bearerOf(c), body.ttl);
      const renewed: Resource<typeof renewalSchema> = { expires_at: asTimestamp(expiresAt), lost: [...lost] };
      return jsonApiResponse(200, renewed);
    },
  });

  addWorkspaceOperation(api, parts, {
    operationId: 'endLease',
    summary: 'End a lease: release the locks that it holds',
    description:
      'Can be repeated for 7 days, with the same response. A lease that was never requested can be ended, too: a request that arrives later acquires nothing. Ending a lease that holds locks or waits is never refused with 429, and does not count towards the rate limit.',
    method: 'delete',
    path,
    access: 'locks:write',
    charge: 'never',
    params: leaseParameter,
    responses: {
      200: jsonResponse('Ended.', endSchema),
      204: { description: 'The lease was never requested, and can no longer acquire anything.' },
    },
    async handle({ c, workspace }) {
      const key = { workspace: workspace.id, id: leaseIdOf(c) };
      const bearer = bearerOf(c);
      const ending = await locks.endLease(key, bearer, () => admitEmptyRelease(parts, bearer));
      if (ending === undefined) return emptyResponse(204);
      const ended: Resource<typeof endSchema> = { released: ending.released, lost: ending.lost };
      return jsonApiResponse(200, ended);
    },
  });
}

function leaseIdOf(c: Context<Environment>): string {
  const id = c.req.param('lease') ?? '';
  if (leaseIdPattern.test(id)) return id;
  throw invalid({ pointer: '#/lease', detail: 'It must have 16 to 64 letters, digits, dashes and underscores.' });
}

type LeaseBody = z.infer<typeof leaseRequestSchema>;

async function readPathsOf(
  workspace: string,
  { paths, pool, where = {} }: LeaseBody,
): Promise<LeaseRequest['readPaths']> {
  if (pool === undefined) {
    const parsed = await parsedPaths(paths ?? []);
    return async () => parsed;
  }
  const wanted = Object.entries(where);
  return async (db) => {
    const { items } = await poolWithName(db, workspace, pool);
    const matching = items
      .map(withoutSecrets)
      .filter(({ properties }) => wanted.every(([name, value]) => properties[name] === value));
    if (matching.length === 0) {
      const detail = `No item of the pool ${JSON.stringify(pool)} has these properties.`;
      throw invalid({ pointer: '#/where', detail });
    }
    // The paths of items were parsed when they were stored.
    return matching.map(({ path }) => path as LockPath);
  };
}

/** Without duplicates, and sorted, so that each page of the tables and their indexes is written once. */
async function parsedPaths(texts: readonly string[]): Promise<readonly LockPath[]> {
  const parsed = await mapInSlices(texts, parseLockPath);
  const paths = new Set<LockPath>();
  const errors = parsed.flatMap((path, index) => {
    if (!path.ok) return { pointer: `#/paths/${index}`, detail: path.reason };
    paths.add(path.value);
    return [];
  });
  const [first, ...more] = errors;
  if (first !== undefined) throw invalid(first, ...more.slice(0, maxErrors - 1));
  return [...paths].sort();
}
