import { sql } from 'kysely';
import { Refusal } from '../contract/problem.ts';
import type { ApiResponse } from '../contract/response.ts';
import {
  batchQuery,
  excludedOf,
  inInputOrder,
  inputIndex,
  insertFrom,
  numberOf,
  textOf,
  textsOf,
} from '../storage/batch-query.ts';
import { removeOld } from '../storage/remove-old.ts';
import type { Database, Storage } from '../storage/storage.ts';
import type { KeyedRequest } from './keyed-request.ts';

export interface IndexedRequest extends KeyedRequest {
  readonly workspace: string;
}

const rememberedForMs = 24 * 60 * 60 * 1_000;

const selectResponses = batchQuery((db, members, now) =>
  db
    .selectFrom(members)
    .innerJoin('remembered_answers', (join) =>
      join
        .on('token_id', '=', textOf('tokenId'))
        .on('workspace_id', '=', textOf('workspace'))
        .on('remembered_answers.key', '=', textOf('key')),
    )
    .select([inputIndex.as('index'), 'fingerprint', 'status', 'headers', 'body'])
    .where(sql<boolean>`created_at > ${now} - ${sql.lit(rememberedForMs)}`),
);

/** Remembered responses, in the order of the requests; a refusal if the key was used for a different request. */
export async function recallAll(
  db: Database,
  { now }: Storage,
  requests: readonly (IndexedRequest | undefined)[],
): Promise<readonly (ApiResponse | Refusal | undefined)[]> {
  if (requests.every((request) => request === undefined)) return requests.map(() => undefined);
  return inInputOrder(requests, await selectResponses(db, now, requests)).map((row, index) => {
    if (row === undefined) return undefined;
    if (row.fingerprint !== requests[index]?.fingerprint) return keyReused();
    // Only rememberAll() writes this column.
    const headers = JSON.parse(row.headers) as Record<string, string>;
    return { status: row.status, headers: { ...headers, 'idempotency-replayed': 'true' }, body: row.body };
  });
}

export const isReplayed = ({ headers }: ApiResponse): boolean => headers['idempotency-replayed'] !== undefined;

const insertResponses = batchQuery((db, members, now) =>
  insertFrom(db, members, 'remembered_answers', {
    ...textsOf(['key', 'fingerprint', 'headers', 'body']),
    token_id: textOf('tokenId'),
    workspace_id: textOf('workspace'),
    status: numberOf('status'),
    created_at: now,
  })
    // An existing row is too old, or recallAll() would have found it.
    .onConflict((conflict) =>
      conflict
        .columns(['token_id', 'workspace_id', 'key'])
        .doUpdateSet(excludedOf(['fingerprint', 'status', 'headers', 'body', 'created_at'])),
    ),
);

interface DecidedRequest {
  readonly request: IndexedRequest | undefined;
  readonly response: ApiResponse | Refusal | undefined;
}

/** Stores the responses to requests with a key, except refusals. Returns the approximate number of stored bytes. */
export async function rememberAll(db: Database, { now }: Storage, decided: readonly DecidedRequest[]): Promise<number> {
  const rows = decided.flatMap(({ request, response }) =>
    request === undefined || response === undefined || response instanceof Refusal
      ? []
      : [{ ...request, ...response, headers: JSON.stringify(response.headers) }],
  );
  if (rows.length > 0) await insertResponses(db, now, rows);
  return rows.reduce((bytes, { headers, body }) => bytes + headers.length + body.length, 0);
}

export const removeOldResponses = (storage: Storage): Promise<void> =>
  removeOld(storage, { table: 'remembered_answers', time: 'created_at', keptForMs: rememberedForMs });

const keyReused = (): Refusal =>
  new Refusal(
    'idempotency-key-reused',
    'This Idempotency-Key was used for a request with a different path, body or If-Match. Use a new key for each request.',
  );
