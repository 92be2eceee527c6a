import { sql } from 'kysely';
import { Refusal } from '../contract/problem.ts';
import {
  batchQuery,
  excludedOf,
  inInputOrder,
  inputIndex,
  insertFrom,
  textOf,
  textsOf,
} from '../storage/batch-query.ts';
import { removeOld } from '../storage/remove-old.ts';
import type { Database, Storage } from '../storage/storage.ts';
import type { KeyedRequest } from './keyed-request.ts';

export interface IndexedRequest extends KeyedRequest {
  readonly workspace: string;
}

/** The result of a request, or of an earlier one with the same key. */
export interface Once<Result> {
  readonly result: Result;
  readonly replayed: boolean;
}

const rememberedForMs = 24 * 60 * 60 * 1_000;

const selectResults = batchQuery((db, members, now) =>
  db
    .selectFrom(members)
    .innerJoin('remembered_answers', (join) =>
      join
        .on('token_id', '=', textOf('tokenId'))
        .on('workspace_id', '=', textOf('workspace'))
        .on('remembered_answers.key', '=', textOf('key')),
    )
    .select([inputIndex.as('index'), 'fingerprint', 'result'])
    .where(sql<boolean>`created_at > ${now} - ${sql.lit(rememberedForMs)}`),
);

/** Remembered results, in the order of the requests. */
export async function recallAll<Result>(
  db: Database,
  { now }: Storage,
  requests: readonly (IndexedRequest | undefined)[],
): Promise<readonly (Once<Result> | 'key-reused' | undefined)[]> {
  if (requests.every((request) => request === undefined)) return requests.map(() => undefined);
  return inInputOrder(requests, await selectResults(db, now, requests)).map((row, index) => {
    if (row === undefined) return undefined;
    if (row.fingerprint !== requests[index]?.fingerprint) return 'key-reused';
    // Only rememberAll() writes the column, and the fingerprint says which operation it was.
    return { result: JSON.parse(row.result) as Result, replayed: true };
  });
}

const insertResults = batchQuery((db, members, now) =>
  insertFrom(db, members, 'remembered_answers', {
    ...textsOf(['key', 'fingerprint', 'result']),
    token_id: textOf('tokenId'),
    workspace_id: textOf('workspace'),
    created_at: now,
  })
    // An existing row is too old, or recallAll() would have found it.
    .onConflict((conflict) =>
      conflict
        .columns(['token_id', 'workspace_id', 'key'])
        .doUpdateSet(excludedOf(['fingerprint', 'result', 'created_at'])),
    ),
);

interface DoneRequest {
  readonly request: IndexedRequest | undefined;
  readonly result: unknown;
}

/** Stores the results of requests with a key. Returns the approximate number of stored bytes. */
export async function rememberAll(db: Database, { now }: Storage, done: readonly DoneRequest[]): Promise<number> {
  const rows = done.flatMap(({ request, result }) =>
    request === undefined ? [] : [{ ...request, result: JSON.stringify(result) }],
  );
  if (rows.length > 0) await insertResults(db, now, rows);
  return rows.reduce((bytes, { result }) => bytes + result.length, 0);
}

export const removeOldResults = (storage: Storage): Promise<void> =>
  removeOld(storage, { table: 'remembered_answers', time: 'created_at', keptForMs: rememberedForMs });

export const keyReused = (): Refusal =>
  new Refusal(
    'idempotency-key-reused',
    'This Idempotency-Key was used for a request with a different path, body or If-Match. Use a new key for each request.',
  );
