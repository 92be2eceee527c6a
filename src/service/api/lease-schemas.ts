import { z } from '@hono/zod-openapi';
import { maxLeasePaths, maxNoteLength } from '../../interface/lock-path.ts';
import { describedLockPath, lockRequestSchema, parsedBy } from '../contract/request-fields.ts';
import {
  asOfField,
  lockSchema,
  lostLockSchema,
  outdatedSchema,
  poolItemSchema,
  queueSchema,
  type Resource,
} from '../contract/schemas.ts';
import { maxProperties, maxPropertyNameLength } from '../pools/pool-item.ts';
import { parsePoolName, workspaceIdPattern } from '../workspaces/workspace-id.ts';

/** Enough for the longest list of paths of ordinary length. */
export const maxBodyBytes = 8 * 1024 * 1024;

const { type: typeField, ttl: ttlField, note: noteField } = lockRequestSchema.shape;

const countText = `It must be a whole number from 1 to ${maxLeasePaths}.`;

// A separate object, because the schema type lacks this keyword, which OpenAPI 3.0 did not have.
const propertyNames = { propertyNames: { maxLength: maxPropertyNameLength } };

const whereText = `It has at most ${maxProperties} properties, with names of at most ${maxPropertyNameLength} characters and values of at most ${maxNoteLength}.`;

function isWithinLimits(where: Readonly<Record<string, string>>): boolean {
  const entries = Object.entries(where);
  const isShort = ([name, value]: readonly [string, string]) =>
    name.length <= maxPropertyNameLength && value.length <= maxNoteLength;
  return entries.length <= maxProperties && entries.every(isShort);
}

export const leaseRequestSchema = z
  .object({
    // Parsed later, in slices.
    paths: z
      .array(z.string().openapi(describedLockPath))
      .min(1, 'It must name a path.')
      .max(maxLeasePaths, `A lease has at most ${maxLeasePaths} paths.`)
      .optional(),
    pool: z.string().transform(parsedBy(parsePoolName)).optional().openapi({
      type: 'string',
      pattern: workspaceIdPattern.source,
      description: 'Instead of paths: the items of this pool.',
      example: 'unity-pro',
    }),
    where: z
      .record(z.string(), z.string())
      .refine(isWithinLimits, whereText)
      .optional()
      .openapi({
        type: 'object',
        maxProperties,
        ...propertyNames,
        additionalProperties: { type: 'string', maxLength: maxNoteLength },
        description: 'Only items of the pool that have all of these properties. Secret properties never match.',
        example: { host: 'b1' },
      }),
    count: z.int().min(1, countText).max(maxLeasePaths, countText).optional().openapi({
      description: 'Number of paths to lock, at most all of them. Default: all of paths, or one item of a pool.',
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
    message: 'It applies only with pool.',
  })
  .openapi('LeaseRequest');

const heldLockSchema = lockSchema.extend({
  state: z.literal('held'),
  // Only locks on items of a pool have these.
  ...poolItemSchema.pick({ properties: true, secret: true }).partial().shape,
});

export const leaseSchema = z
  .object({
    id: z.string(),
    state: z.enum(['held', 'ended']),
    locks: z
      .array(z.discriminatedUnion('state', [heldLockSchema, lostLockSchema.extend({ state: z.literal('lost') })]))
      .openapi({ description: 'All locks that the lease was granted. After its end, only those that it had lost.' }),
    acquired_at: lockSchema.shape.acquired_at.nullable(),
    expires_at: lockSchema.shape.expires_at.nullable().openapi({ description: 'When the first of its locks expires.' }),
    outdated: z.array(outdatedSchema).optional().openapi({
      description: 'Newer versions of the files, in the response to PUT. Absent if comparison is off.',
    }),
    as_of: asOfField,
  })
  .openapi('Lease');

export const waitingLeaseSchema = z
  .object({
    id: z.string(),
    state: z.literal('waiting'),
    queue: queueSchema.openapi({ description: 'Its place among all requests that wait for one of its paths.' }),
    blocked: z.array(z.object({ path: lockSchema.shape.path, lock: lockSchema.optional() })).openapi({
      description: 'The first of the paths that are not free. One without a lock is kept for another request.',
    }),
  })
  .openapi('WaitingLease');

export type Lease = Resource<typeof leaseSchema>;

export const renewalSchema = z
  .object({ expires_at: lockSchema.shape.expires_at, lost: z.array(lostLockSchema) })
  .openapi('LeaseRenewal');

export const endSchema = z
  .object({ released: z.array(z.string()).openapi({ description: 'Paths.' }), lost: z.array(lostLockSchema) })
  .openapi('LeaseEnd');
