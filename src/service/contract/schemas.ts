import { z } from '@hono/zod-openapi';
import { problems, problemTypePrefix } from '../../interface/problem.ts';
import {
  hookEvents,
  hookFormats,
  lockTypes,
  maxNamedMissing,
  type Outdated,
  syncStatuses,
} from '../../interface/resources.ts';

export type Resource<Schema extends z.ZodType> = DeepReadonly<z.infer<Schema>>;

type DeepReadonly<T> = { readonly [Name in keyof T]: DeepReadonly<T[Name]> };

const timestamp = z.string().openapi({ format: 'date-time', example: '2026-03-01T12:00:00.000Z' });
const count = z.number().int().min(0);
const commit = z.string().openapi({ example: '9fceb02d0ae598e95dc970b74767f19372d61af8' });

export const workspaceSchema = z
  .object({
    id: z.string().openapi({ example: 'game' }),
    remote: z.string().openapi({ description: 'The address of the mirrored repository, without credentials.' }),
    created_at: timestamp,
  })
  .openapi('Workspace');

export type Workspace = Resource<typeof workspaceSchema>;

export const branchSchema = z
  .object({
    name: z.string().openapi({ example: 'main' }),
    head: commit.openapi({ description: 'The head of the branch on the remote.' }),
    synced_head: commit.nullable().openapi({ description: 'The commit of the last sync.' }),
    synced_at: timestamp.nullable(),
    default: z.boolean(),
  })
  .openapi('Branch');

/** An LFS object that a sync could not fetch. The next sync retries it. */
const missingObjectSchema = z.object({
  path: z.string().openapi({ description: 'The path of a file with this content.' }),
  oid: z.string(),
  size: count,
  detail: z.string(),
});

export type MissingObject = Resource<typeof missingObjectSchema>;

export const syncSchema = z
  .object({
    sync_id: z.string(),
    status: z.enum(syncStatuses),
    branch: z.string(),
    estimated_objects: count.openapi({
      description:
        'Number of objects to expect, from the last sync of the branch, or for a new branch from the remote; 0 if it is up to date. Exact once the commits are fetched; it then includes LFS objects, even those that an earlier sync missed.',
    }),
    received_objects: count.openapi({ description: 'Git objects and LFS objects.' }),
    received_bytes: count.openapi({ description: 'Received bytes of LFS objects.' }),
    total_bytes: count
      .nullable()
      .openapi({ description: 'Total bytes of the LFS objects to receive; null until known.' }),
    missing_objects: count.openapi({
      description: 'LFS objects that could not be fetched. They do not fail the sync, and the next sync retries them.',
    }),
    missing: z.array(missingObjectSchema).max(maxNamedMissing).openapi({ description: 'The first missing objects.' }),
    head: commit.nullable().openapi({ description: 'The commit that was fetched.' }),
    error: z.string().nullable(),
    created_at: timestamp,
    started_at: timestamp.nullable(),
    finished_at: timestamp.nullable(),
    clone_url: z.url().optional().openapi({
      description: 'The URL for git clone. Absent if the service has no public URL.',
      example: 'https://assets.example.com/v1/workspaces/game/git',
    }),
  })
  .openapi('Sync');

export type Sync = Resource<typeof syncSchema>;

export const lockSchema = z
  .object({
    id: z.string(),
    path: z.string().openapi({ example: 'Content/Hero.uasset' }),
    type: z.enum(lockTypes),
    owner: z.string().openapi({
      description:
        'The owner of the token that acquired it: the name of the token, unless it was created with another.',
    }),
    origin: z.string().nullable().openapi({
      description: 'URL that the lock was acquired from: the Referer of the request, or the verified run URL.',
    }),
    note: z.string().nullable().openapi({ description: 'Note from the owner to anyone who finds the path locked.' }),
    acquired_at: timestamp,
    expires_at: timestamp,
    fence: z
      .number()
      .int()
      .openapi({ description: 'Fencing token: greater than that of any earlier lock in this workspace.' }),
    lease: z.string().nullable().openapi({ description: 'The lease that it belongs to; null for a lock on its own.' }),
  })
  .openapi('Lock');

export type Lock = Resource<typeof lockSchema>;

export const outdatedSchema = z
  .object({
    path: z.string().openapi({ example: 'Content/Hero.uasset' }),
    branch: z.string().openapi({ description: 'The branch that has a newer version.', example: 'release/1.4' }),
    commit: commit.openapi({ description: 'The commit with the newest version.' }),
    author: z.string(),
    at: timestamp,
    deleted: z.literal(true).optional().openapi({ description: 'Set if the commit deleted the file.' }),
  })
  .openapi('Outdated') satisfies z.ZodType<Outdated>;

export const asOfField = timestamp.nullable().optional().openapi({
  description:
    'The age of the mirror, if it could not be brought up to date in time; null if not all branches could be compared.',
});

export const acquiredLockSchema = lockSchema.extend({
  outdated: outdatedSchema.nullable().optional().openapi({
    description: 'A newer version of the file that the branch lacks, or null. Absent if comparison is off.',
  }),
  as_of: asOfField,
});

export const poolItemSchema = z.object({
  path: z.string().openapi({ description: 'A lock path, which is locked like any other.', example: 'seats/1' }),
  properties: z.record(z.string(), z.string()).openapi({
    description: 'Omits the values of secret properties, unless the token owns the lock on the path.',
    example: { host: 'b1' },
  }),
  secret: z.array(z.string()).openapi({ description: 'The names of the secret properties.' }),
});

export const poolSchema = z
  .object({ name: z.string().openapi({ example: 'unity-pro' }), items: z.array(poolItemSchema) })
  .openapi('Pool');

export type Pool = Resource<typeof poolSchema>;

export const hookSchema = z
  .object({
    id: z.string(),
    url: z.string(),
    events: z.array(z.enum(hookEvents)),
    /** The branches whose syncs are reported; null means all. */
    branches: z.array(z.string()).nullable(),
    format: z.enum(hookFormats),
    /** The names of the extra headers; their values are never shown again. */
    header_names: z.array(z.string()),
    active: z.boolean(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .openapi('Hook');

export type Hook = Resource<typeof hookSchema>;

/** A lock that the lease was granted and no longer holds. */
export const lostLockSchema = z
  .object({
    id: lockSchema.shape.id,
    path: lockSchema.shape.path,
    reason: z.enum(['expired', 'forced', 'released']),
    lock: lockSchema.optional().openapi({ description: 'Who holds the path now. Absent if nobody does.' }),
  })
  .openapi('LostLock');

export type LostLock = Resource<typeof lostLockSchema>;

export const queueSchema = z.object({ position: z.int(), length: z.int() });

export const problemSchema = z
  .object({
    type: z.enum(Object.keys(problems).map((name) => problemTypePrefix + name)),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    request_id: z.string(),
    errors: z.array(z.object({ pointer: z.string().openapi({ example: '#/ttl' }), detail: z.string() })).optional(),
    lock: lockSchema.optional(),
    locks: z.array(lockSchema).optional().openapi({ description: 'The first of the locks in the way of a lease.' }),
    blocked: z.int().optional().openapi({ description: 'The number of paths of the lease that are not free.' }),
    lost: z.array(lostLockSchema).optional().openapi({ description: 'The locks that the lease has lost.' }),
    outdated: z
      .union([outdatedSchema, z.array(outdatedSchema)])
      .optional()
      .openapi({
        description: 'For a lock, the newer version of its file; for a lease, all newer versions.',
      }),
    queue: queueSchema
      .optional()
      .openapi({ description: 'The place in line of this request, or the one that it would get if it waited.' }),
  })
  .openapi('Problem');

export type Problem = Resource<typeof problemSchema>;
