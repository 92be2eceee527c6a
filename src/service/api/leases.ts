import { createHash } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { milliseconds } from '../../interface/duration.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import { withoutSecrets } from '../../interface/resources.ts';
import { invalid, noSuchWorkspace, Refusal } from '../contract/problem.ts';
import { type ApiResponse, emptyResponse, jsonApiResponse } from '../contract/response.ts';
import {
  asOfField,
  lockRequestSchema,
  lockSchema,
  lostLockSchema,
  outdatedSchema,
  queueSchema,
  type Resource,
} from '../contract/schemas.ts';
import { admitRelease, refundRelease, requireFreeDisk } from '../http/access.ts';
import { bearerOf, type Environment, requestedWorkspace } from '../http/context.ts';
import { originHeader, runOriginOf } from '../http/origin.ts';
import { measureCost } from '../http/request-scheduler.ts';
import type { HeldLease, LeaseDecision, WaitingLease } from '../locks/leases.ts';
import { toLock } from '../locks/lock-row.ts';
import { findPools, poolWithName } from '../pools/pools.ts';
import type { Storage } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { maxWorkspaceIdLength, parseWorkspaceId } from '../workspaces/workspace-id.ts';
import { lockBranchHeader, lockBranchOf } from './lock-branch.ts';
import {
  heldBy,
  keptText,
  outdatedRefusal,
  quotaExceeded,
  retryAfterSeconds,
  supersededRefusal,
  tooManyWaits,
} from './lock-responses.ts';
import {
  type Api,
  addOperation,
  addWorkspaceOperation,
  jsonResponse,
  optionalHeaders,
  requiredHeaders,
} from './operation.ts';
import { leaseIdPattern, leaseParameter } from './parameters.ts';
import type { ApiParts } from './parts.ts';
import { waitHeaders, waitWith } from './waiting.ts';

const maxPaths = 20_000;

/** Room for the longest list of paths of usual length. */
const maxBodyBytes = 8 * 1024 * 1024;

const { path: pathField, type: typeField, ttl: ttlField, note: noteField } = lockRequestSchema.shape;

const leaseRequestSchema = z
  .object({
    paths: z
      .array(pathField)
      .min(1, 'It must name a path.')
      .max(maxPaths, `A lease has at most ${maxPaths} paths.`)
      .optional(),
    pool: z.string().optional().openapi({
      description: 'Instead of paths: the items of this pool.',
      maxLength: maxWorkspaceIdLength,
      example: 'unity-pro',
    }),
    where: z
      .record(z.string(), z.string())
      .optional()
      .openapi({ description: 'Only items of the pool that have all of these properties.', example: { host: 'b1' } }),
    count: z.int().min(1).optional().openapi({
      description: 'How many of the paths to lock. Default: all of paths, or one item of a pool.',
    }),
    type: typeField,
    ttl: ttlField,
    note: noteField,
  })
  .refine(({ paths, pool }) => (paths === undefined) !== (pool === undefined), {
    path: ['paths'],
    message: 'Either paths or pool is needed.',
  })
  .refine(({ pool, where }) => where === undefined || pool !== undefined, {
    path: ['where'],
    message: 'It is only for a pool.',
  })
  .openapi('LeaseRequest');

const heldLockSchema = lockSchema.extend({
  state: z.literal('held'),
  properties: z
    .record(z.string(), z.string())
    .optional()
    .openapi({ description: 'Of an item of a pool, with the values of secret ones.' }),
});

const leaseSchema = z
  .object({
    id: z.string(),
    state: z.enum(['held', 'ended']),
    locks: z
      .array(z.discriminatedUnion('state', [heldLockSchema, lostLockSchema.extend({ state: z.literal('lost') })]))
      .openapi({ description: 'All locks that it was granted. After its end, those that it had lost before.' }),
    acquired_at: lockSchema.shape.acquired_at.nullable(),
    expires_at: lockSchema.shape.expires_at.nullable().openapi({ description: 'The first end of its locks.' }),
    outdated: z.array(outdatedSchema).optional().openapi({
      description: 'Only with 201: newer versions of the files. Absent if the workspace compares no locks.',
    }),
    as_of: asOfField,
  })
  .openapi('Lease');

const waitingLeaseSchema = z
  .object({
    id: z.string(),
    state: z.literal('waiting'),
    queue: queueSchema.openapi({ description: 'The place among all who wait for one of its paths.' }),
    blocked: z
      .array(z.object({ path: lockSchema.shape.path, lock: lockSchema.optional() }))
      .openapi({ description: 'The first of the paths in its way. One without a lock is kept for another.' }),
  })
  .openapi('WaitingLease');

type Lease = Resource<typeof leaseSchema>;

const renewalSchema = z
  .object({ expires_at: lockSchema.shape.expires_at, lost: z.array(lostLockSchema) })
  .openapi('LeaseRenewal');

const endSchema = z
  .object({ released: z.array(z.string()).openapi({ description: 'Paths.' }), lost: z.array(lostLockSchema) })
  .openapi('LeaseEnd');

const path = '/v1/workspaces/{id}/leases/{lease}';

export function addLeaseRoutes(api: Api, parts: ApiParts): void {
  addPutRoute(api, parts);
  addGetRoute(api, parts);
  addRenewRoute(api, parts);
  addEndRoute(api, parts);
}

function addPutRoute(api: Api, parts: ApiParts): void {
  const { storage, locks } = parts;

  addWorkspaceOperation(api, parts, {
    operationId: 'putLease',
    summary: 'Acquire all of several locks, or some of them, as one lease',
    description:
      'All are acquired at once, or none. The same request again, also after a lost response, is about the same lease. After its end, its id stays in use for 7 days.',
    method: 'put',
    path,
    access: 'locks:write',
    params: leaseParameter,
    headers: z.object({ ...originHeader.shape, ...lockBranchHeader.shape, ...waitHeaders.shape }),
    body: leaseRequestSchema,
    maxBodyBytes,
    responses: {
      200: jsonResponse('The lease as it is now: it was acquired before.', leaseSchema),
      201: jsonResponse('Acquired.', leaseSchema, optionalHeaders('Preference-Applied')),
      202: jsonResponse('Waits in line, with Prefer.', waitingLeaseSchema, {
        ...requiredHeaders('Retry-After'),
        ...optionalHeaders('Preference-Applied'),
      }),
    },
    refusals: { 403: optionalHeaders('WWW-Authenticate'), 409: optionalHeaders('Retry-After'), 410: {} },
    async handle({ c, workspace, body }) {
      const id = leaseIdOf(c);
      const bearer = bearerOf(c);
      requireFreeDisk(parts);
      const { paths, pool } = await pathsOf(storage, workspace.id, body);
      const count = body.count ?? (pool === undefined ? paths.length : 1);
      if (count > paths.length) {
        const detail = `It is ${count}, and there ${paths.length === 1 ? 'is 1 path' : `are ${paths.length} paths`}.`;
        throw invalid({ pointer: '#/count', detail });
      }
      const branch = lockBranchOf(c);
      return waitWith(c, storage, async (waitOptions) => {
        const decision = await locks.leases.put({
          ...{ id, workspace: workspace.id, bearer, origin: runOriginOf(c), branch, paths, pool, count, waitOptions },
          ...{ type: body.type, ttlMs: milliseconds(body.ttl), note: body.note, fingerprint: fingerprintOf(body) },
          compare: () => parts.compare({ workspace, branch, syncsBranch: true, paths }),
        });
        return putResponse(storage, id, branch, decision, waitOptions?.seconds);
      });
    },
  });
}

function addGetRoute(api: Api, parts: ApiParts): void {
  const { storage, locks } = parts;

  addWorkspaceOperation(api, parts, {
    operationId: 'getLease',
    summary: 'Get a lease of the same owner, with the locks that it holds and has lost',
    method: 'get',
    path,
    access: 'locks:read',
    params: leaseParameter,
    responses: { 200: jsonResponse('The lease.', z.union([leaseSchema, waitingLeaseSchema])) },
    refusals: { 403: optionalHeaders('WWW-Authenticate') },
    async handle({ c, workspace }) {
      const id = leaseIdOf(c);
      const found = await measureCost(parts.scheduler, [bearerOf(c).id], () =>
        locks.leases.find({ workspace: workspace.id, id }, bearerOf(c)),
      );
      switch (found.kind) {
        case 'absent':
          throw noSuchLease(id);
        case 'another-owner':
          throw anotherOwner(id);
        case 'ended':
          return jsonApiResponse(200, endedLease(id, found.end?.lost ?? []));
        case 'waiting':
          return jsonApiResponse(200, waitingLease(id, found));
        case 'held':
          return jsonApiResponse(200, await heldLease(storage, found));
      }
    },
  });
}

function addRenewRoute(api: Api, parts: ApiParts): void {
  const { locks } = parts;

  addWorkspaceOperation(api, parts, {
    operationId: 'renewLease',
    summary: 'Renew all locks that a lease holds',
    method: 'post',
    path: `${path}/renew`,
    access: 'locks:write',
    params: leaseParameter,
    body: z.object({ ttl: ttlField }).openapi('LeaseRenewalRequest'),
    responses: { 200: jsonResponse('They end at the same time.', renewalSchema) },
    refusals: { 403: optionalHeaders('WWW-Authenticate'), 410: {} },
    async handle({ c, workspace, body }) {
      const id = leaseIdOf(c);
      const renewal = await locks.leases.renew({ workspace: workspace.id, id }, bearerOf(c), milliseconds(body.ttl));
      switch (renewal.kind) {
        case 'absent':
          throw noSuchLease(id);
        case 'another-owner':
          throw anotherOwner(id);
        case 'ended':
          throw leaseEnded(id, renewal.end);
        case 'renewed': {
          const { expiresAt, lost } = renewal;
          const renewed: Resource<typeof renewalSchema> = { expires_at: asTimestamp(expiresAt), lost };
          return jsonApiResponse(200, renewed);
        }
      }
    },
  });
}

function addEndRoute(api: Api, parts: ApiParts): void {
  const { storage, locks } = parts;

  addOperation(api, parts, {
    operationId: 'endLease',
    summary: 'End a lease: release the locks that it holds',
    description:
      'May be repeated, with the same response. A lease that was never requested is ended as well: a request that arrives later acquires nothing. Ending a lease of the same owner that holds locks is never refused with 429 and does not count.',
    method: 'delete',
    path,
    access: 'locks:write',
    ownReleaseIsFree: true,
    params: leaseParameter,
    responses: {
      200: jsonResponse('Ended.', endSchema),
      204: { description: 'It was never requested, and will never acquire anything.' },
    },
    refusals: { 403: optionalHeaders('WWW-Authenticate') },
    async handle({ c }) {
      const id = leaseIdOf(c);
      await admitRelease(c, () => isOwnLease(c, parts, id));
      const { id: workspace } = await requestedWorkspace(c, storage);
      const ending = await locks.leases.end({ workspace, id }, bearerOf(c));
      switch (ending.kind) {
        case 'absent':
          return emptyResponse(204);
        case 'another-owner':
          throw anotherOwner(id);
        case 'released':
          refundRelease(c, parts);
          return endResponse(ending.end);
        case 'released-before':
        case 'left':
          return endResponse(ending.end);
      }
    },
  });
}

const endResponse = (end: Resource<typeof endSchema>): ApiResponse => jsonApiResponse(200, end);

async function isOwnLease(c: Context<Environment>, { locks }: ApiParts, id: string): Promise<boolean> {
  const workspace = c.req.param('id') ?? '';
  if (!parseWorkspaceId(workspace).ok) throw noSuchWorkspace(workspace);
  const { kind } = await locks.leases.find({ workspace, id }, bearerOf(c));
  return kind === 'held' || kind === 'waiting';
}

function leaseIdOf(c: Context<Environment>): string {
  const id = c.req.param('lease') ?? '';
  if (leaseIdPattern.test(id)) return id;
  throw invalid({ pointer: '#/lease', detail: 'It must have 16 to 64 letters, digits, dashes and underscores.' });
}

type LeaseBody = z.infer<typeof leaseRequestSchema>;

/** What must be the same if the request is sent again. */
const fingerprintOf = ({ paths, pool, where = {}, count, type, ttl, note }: LeaseBody): string => {
  const content = [paths?.toSorted(), pool, Object.entries(where).toSorted(), count, type, milliseconds(ttl), note];
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
};

async function pathsOf(
  storage: Storage,
  workspace: string,
  { paths, pool, where = {} }: LeaseBody,
): Promise<{ readonly paths: readonly LockPath[]; readonly pool?: string }> {
  if (pool === undefined) return { paths: [...new Set(paths)] };
  const { items } = await poolWithName(storage.read, workspace, pool);
  const wanted = Object.entries(where);
  const matching = items
    .map(withoutSecrets)
    .filter(({ properties }) => wanted.every(([name, value]) => properties[name] === value));
  if (matching.length === 0) {
    throw invalid({ pointer: '#/where', detail: `No item of the pool ${JSON.stringify(pool)} has these properties.` });
  }
  // The paths of items were parsed before they were stored.
  return { paths: matching.map(({ path }) => path as LockPath), pool };
}

async function putResponse(
  storage: Storage,
  id: string,
  branch: string | undefined,
  decision: LeaseDecision,
  seconds: number | undefined,
): Promise<ApiResponse> {
  switch (decision.kind) {
    case 'held': {
      const lease = await heldLease(storage, decision);
      if (!decision.isNew) return jsonApiResponse(200, lease);
      const { latest = 'off', outdated, as_of } = decision.comparison ?? {};
      const compared = { outdated, ...(as_of !== undefined && { as_of }) };
      const applied = seconds !== undefined && { 'preference-applied': `wait=${seconds}` };
      return jsonApiResponse(201, { ...lease, ...(latest !== 'off' && compared) }, { ...applied });
    }
    case 'waiting': {
      const applied = decision.waited && { 'preference-applied': `wait=${seconds}` };
      const headers = { 'retry-after': retryAfterSeconds(decision.blocked.remainingSeconds), ...applied };
      return jsonApiResponse(202, waitingLease(id, decision), headers);
    }
    case 'blocked': {
      const { paths, count, next, remainingSeconds } = decision;
      const locks = paths.flatMap(({ lock }) => lock ?? []);
      const [first] = locks;
      const more = count > 1 ? ` ${count - 1} more of the paths ${count === 2 ? 'is' : 'are'} not free.` : '';
      const detail = first === undefined ? keptText(paths[0]?.path ?? '', next) : `${first.path} is ${heldBy(first)}.`;
      const headers = { 'retry-after': retryAfterSeconds(remainingSeconds) };
      throw new Refusal('locked', `${detail}${more}`, { locks, blocked: count, headers });
    }
    case 'superseded':
      throw supersededRefusal(`the lease ${id}`);
    case 'too-many-waits':
      throw tooManyWaits();
    case 'outdated':
      throw outdatedRefusal({ branch }, decision.comparison, decision.comparison.outdated);
    case 'exceeded':
      throw quotaExceeded(decision);
    case 'invalid-path':
      throw invalid({ pointer: `#/paths/${decision.index}`, detail: decision.reason });
    case 'another-request':
      throw new Refusal(
        'lease-reused',
        `The lease ${id} was requested with another body. Use a new id for each lease.`,
      );
    case 'another-owner':
      throw anotherOwner(id);
    case 'ended':
    case 'absent':
      throw leaseEnded(id, decision.kind === 'ended' ? decision.end : null);
  }
}

const waitingLease = (id: string, { queue, blocked }: WaitingLease): Resource<typeof waitingLeaseSchema> => ({
  ...{ id, state: 'waiting', queue },
  blocked: blocked.paths,
});

const noSuchLease = (id: string): Refusal =>
  new Refusal('not-found', `There is no lease ${id}: it was never requested, or ended more than 7 days ago.`);

const anotherOwner = (id: string): Refusal =>
  new Refusal('lease-of-another-owner', `The lease ${id} belongs to another owner.`);

const leaseEnded = (id: string, end: { readonly lost: Resource<typeof endSchema>['lost'] } | null): Refusal =>
  new Refusal('lease-ended', `The lease ${id} has ended, and holds no locks.`, { lost: [...(end?.lost ?? [])] });

/** Only its owner gets it: it has the secret properties of a pool. */
async function heldLease(storage: Storage, { row, locks, lost }: HeldLease): Promise<Lease> {
  const [pool] =
    row.pool === null ? [] : await findPools(storage.read, { workspace: row.workspace_id, name: row.pool });
  const properties = new Map(pool?.items.map((item) => [item.path, item.properties]));
  return {
    id: row.id,
    state: 'held',
    locks: [
      ...locks.map((lock) => {
        const ofItem = row.pool === null ? undefined : (properties.get(lock.path) ?? {});
        return { ...toLock(lock), state: 'held' as const, ...(ofItem && { properties: ofItem }) };
      }),
      ...lostOf(lost),
    ],
    acquired_at: asTimestamp(locks[0]?.acquired_at ?? row.expires_at),
    expires_at: asTimestamp(
      locks.reduce((first, { expires_at }) => Math.min(first, expires_at), Number.MAX_SAFE_INTEGER),
    ),
  };
}

const endedLease = (id: string, lost: HeldLease['lost']): Lease => ({
  ...{ id, state: 'ended', locks: lostOf(lost) },
  ...{ acquired_at: null, expires_at: null },
});

const lostOf = (lost: HeldLease['lost']) => lost.map((lock) => ({ ...lock, state: 'lost' as const }));
