import { sql } from 'kysely';
import { Refusal } from '../contract/problem.ts';
import type { Metrics } from '../runtime/metrics.ts';
import {
  batchQuery,
  excludedOf,
  inInputOrder,
  inputIndex,
  insertFrom,
  textOf,
  textsOf,
} from '../storage/batch-query.ts';
import { removeBeyond, removeOld } from '../storage/remove-old.ts';
import type { Database, Storage } from '../storage/storage.ts';
import type { KeyedRequest } from './keyed-request.ts';

export type Idempotency = ReturnType<typeof createIdempotency>;
export type Idempotent = Idempotency['idempotent'];

/** Rules for requests that are decided in batches. */
interface BatchRules<Details, Result> {
  /** Decides early, based on committed data. */
  readonly decideEarly: (details: Details) => Promise<Result | undefined>;
  /** Returns one result per request, in the same order. */
  readonly decide: (db: Database, details: readonly Details[]) => Promise<readonly Result[]>;
  /** Whether the request has been carried out: only then is its key used. Such results must be JSON. */
  readonly isDone: (result: Result) => boolean;
}

/** Runs a request once per key, in one transaction with its result. `onRemembered` receives its bytes. */
export function createIdempotency(storage: Storage, onRemembered: (bytes: number) => void = () => undefined) {
  const running = new Set<string>();

  async function runExclusively<Result>(
    request: IndexedRequest | undefined,
    work: () => Promise<Once<Result>>,
  ): Promise<Once<Result>> {
    if (request === undefined) return work();
    const inFlight = JSON.stringify([request.tokenId, request.workspace, request.key]);
    if (running.has(inFlight)) {
      const detail = 'A request with this Idempotency-Key is still running. Try again in a moment.';
      throw new Refusal('request-in-progress', detail, { headers: { 'retry-after': '1' } });
    }
    running.add(inFlight);
    try {
      return await work();
    } finally {
      running.delete(inFlight);
    }
  }

  async function recall<Result>(db: Database, request: IndexedRequest | undefined): Promise<Once<Result> | undefined> {
    const [before] = await recallAll<Result>(db, storage, [request]);
    return before && orThrow(before);
  }

  /** `prepare` runs before the transaction. A refusal anywhere, or a result that is not done, leaves the key unused. */
  function idempotent<Prepared, Result>(
    workspace: string,
    keyed: KeyedRequest | undefined,
    prepare: () => Promise<Prepared>,
    change: (db: Database, prepared: Prepared) => Promise<Result>,
    isDone: (result: Result) => boolean = () => true,
  ): Promise<Once<Result>> {
    const request = keyed && { ...keyed, workspace };
    return runExclusively(request, async () => {
      const before = await recall<Result>(storage.read, request);
      if (before !== undefined) return before;
      const prepared = await prepare();
      return storage.commit({ workspace }, async (db) => {
        // Check again in the transaction: another instance may have committed the request in the meantime.
        const meanwhile = await recall<Result>(db, request);
        if (meanwhile !== undefined) return meanwhile;
        const result = await change(db, prepared);
        if (isDone(result)) onRemembered(await rememberAll(db, storage, [{ request, result }]));
        return { result, replayed: false };
      });
    });
  }

  /** Like idempotent(), for requests that are decided in batches of all waiting ones. */
  function idempotentBatch<Details extends { readonly workspace: string }, Result>({
    decideEarly,
    decide,
    isDone,
  }: BatchRules<Details, Result>) {
    const commit = storage.batchCommits(
      ({ details }: { readonly details: Details; readonly request: IndexedRequest | undefined }) => ({
        workspace: details.workspace,
      }),
      async (db, waiting) => {
        const before = await recallAll<Result>(
          db,
          storage,
          waiting.map(({ request }) => request),
        );
        const open = waiting.filter((_, index) => before[index] === undefined);
        const decided = await decide(
          db,
          open.map(({ details }) => details),
        );
        const done = decided.flatMap((result, index) =>
          isDone(result) ? { request: open[index]?.request, result } : [],
        );
        onRemembered(await rememberAll(db, storage, done));
        const outcomes = decided.map((result) => ({ result, replayed: false })).values();
        return before.flatMap((outcome) => outcome ?? outcomes.next().value ?? []);
      },
    );

    return (keyed: KeyedRequest | undefined, details: Details): Promise<Once<Result>> => {
      const request = keyed && { ...keyed, workspace: details.workspace };
      return runExclusively(request, async () => {
        const early = await decideEarly(details);
        if (early === undefined) return orThrow(await commit({ request, details }));
        // The refusal may be caused by an earlier success of the same request.
        return (await recall<Result>(storage.read, request)) ?? { result: early, replayed: false };
      });
    };
  }

  return { idempotent, idempotentBatch };
}

function orThrow<Result>(outcome: Once<Result> | 'key-reused'): Once<Result> {
  if (outcome === 'key-reused') throw keyReused();
  return outcome;
}

interface IndexedRequest extends KeyedRequest {
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
async function recallAll<Result>(
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
async function rememberAll(db: Database, { now }: Storage, done: readonly DoneRequest[]): Promise<number> {
  const rows = done.flatMap(({ request, result }) =>
    request === undefined ? [] : [{ ...request, result: JSON.stringify(result) }],
  );
  if (rows.length > 0) await insertResults(db, now, rows);
  return rows.reduce((bytes, { result }) => bytes + result.length, 0);
}

export const removeOldResults = (storage: Storage): Promise<void> =>
  removeOld(storage, { table: 'remembered_answers', time: 'created_at', keptForMs: rememberedForMs });

const keyReused = (): Refusal =>
  new Refusal(
    'idempotency-key-reused',
    'This Idempotency-Key was used for a request with a different path, body or If-Match. Use a new key for each request.',
  );

/** Part of the limit that may be added before the bytes are counted again. */
const uncounted = 1 / 16;

/** Limits the total size of the remembered responses of all tokens. */
export function createRememberedLimit({
  storage,
  maxRememberedBytes,
  metrics,
}: {
  readonly storage: Pick<Storage, 'read' | 'commit'>;
  readonly maxRememberedBytes: number;
  readonly metrics: Pick<Metrics, 'droppedResponses'>;
}) {
  // The amount stored by an earlier process is unknown.
  let added = Number.POSITIVE_INFINITY;
  return {
    /** Must be called with the size of each stored response. */
    add(bytes: number): void {
      added += bytes;
    },
    async enforce(): Promise<void> {
      if (added < maxRememberedBytes * uncounted) return;
      added = 0;
      metrics.droppedResponses.inc(await removeResponsesBeyond(storage, maxRememberedBytes));
    },
  };
}

/** Estimated size of column overhead, numbers and index entries, in addition to the texts. */
const bytesPerRow = 300;

const bytes = sql<number>`octet_length(key) + octet_length(result) + ${sql.lit(bytesPerRow)}`;

export const removeResponsesBeyond = (storage: Pick<Storage, 'read' | 'commit'>, maxBytes: number): Promise<number> =>
  removeBeyond(
    storage,
    { table: 'remembered_answers', time: 'created_at' },
    { max: maxBytes, size: bytes, countedAtOnce: rowsAtOnce(maxBytes) },
  );

/** Batch size: small enough that the last batch hardly exceeds the limit, and that none takes long. */
const rowsAtOnce = (maxBytes: number): number => Math.min(5_000, Math.max(10, Math.floor(maxBytes / 20_000)));
