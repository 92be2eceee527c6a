import { z } from '@hono/zod-openapi';
import { type BranchName, parseBranchName } from '../../interface/branch-name.ts';
import { lockPathField, parsedBy, readCursor } from '../contract/request-fields.ts';
import { parseOid } from './pointer.ts';

/** Schemas of client requests. `ref` and `refspec` matter only in a request for a lock: locks hold on all branches. */

const maxPageSize = 1_000;

/** Default: the maximum, because a client requests all pages before each push. Zero or less counts as omitted. */
const pageSize = (requested: number): number => (requested < 1 ? maxPageSize : Math.min(requested, maxPageSize));

const cursorField = z.preprocess(
  (cursor) => (cursor === '' || cursor === null ? undefined : cursor),
  z.string().transform(parsedBy(readCursor)).optional(),
);

/** A client without a branch sends no `ref`, or an empty one. Other invalid values also count as no branch. */
const refField = z.unknown().optional().transform(branchOfRef);

export const acquireSchema = z.object({ path: lockPathField, ref: refField });

export const releaseSchema = z.object({ force: z.boolean().default(false) });

export const verifySchema = z.object({
  cursor: cursorField,
  limit: z.number().int().default(0).transform(pageSize),
});

export const querySchema = z.object({
  path: lockPathField.optional(),
  id: z.string().optional(),
  cursor: cursorField,
  limit: z
    .string()
    .regex(/^-?\d{1,9}$/, 'It must be a whole number.')
    .default('0')
    .transform((limit) => pageSize(Number(limit))),
});

function branchOfRef(ref: unknown): BranchName | undefined {
  const name = typeof ref === 'object' && ref !== null && 'name' in ref ? ref.name : undefined;
  const branch = typeof name === 'string' ? parseBranchName(name.replace(/^refs\/heads\//, '')) : undefined;
  return branch?.ok ? branch.value : undefined;
}

const objectSchema = z.object({
  oid: z.string().transform(parsedBy(parseOid)),
  size: z.number().refine((size) => Number.isSafeInteger(size) && size >= 0, 'It must be a whole number of bytes.'),
});

/**
 * https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md. Fields for uploads are ignored: uploads go to another
 * store.
 */
export const batchSchema = z.discriminatedUnion(
  'operation',
  [
    z.object({ operation: z.literal('upload') }),
    z.object({
      operation: z.literal('download'),
      transfers: z.array(z.string()).default(['basic']),
      hash_algo: z.string().default('sha256'),
      objects: z.array(objectSchema),
    }),
  ],
  { error: 'It must be download or upload.' },
);

export type DownloadBatch = Extract<z.output<typeof batchSchema>, { operation: 'download' }>;

export const lfsQueryNames = Object.keys(querySchema.shape);

/** Other texts are not passed to the database, which may reject some characters. */
export const looksLikeLockId = (text: string): boolean => /^lock_[\w-]{1,64}$/.test(text);
