import { hash } from 'node:crypto';
import { sql } from 'kysely';
import { invalid, Refusal } from '../contract/response.ts';
import {
  batchQuery,
  excludedOf,
  inInputOrder,
  inputIndex,
  insertFrom,
  textOf,
  textsOf,
} from '../storage/batch-query.ts';
import { removeOldOfWorkspaces } from '../storage/remove-old.ts';
import type { Database, Storage } from '../storage/storage.ts';
import { now } from '../storage/timestamp.ts';

export type Idempotency = ReturnType<typeof createIdempotency>;
export type Idempotent = Idempotency['idempotent'];

interface Rules<Details, Result> {
  /** Returns one result per request, in input order. */
  readonly decide: (db: Database, details: readonly Details[]) => Promise<readonly Result[]>;
  /** Whether the request was carried out: only then is its key used up. Such results must be JSON. */
  readonly isDone: (result: Result) => boolean;
}

interface Asked<Details> {
  readonly request: KeyedRequest | undefined;
  readonly details: Details;
}

/** Runs a request once per key, in one transaction with its result. */
export function createIdempotency(storage: Storage) {
  const running = new Set<string>();

  async function runExclusively<Result>(
    request: KeyedRequest | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> {
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

  /** Decides the requests that were not carried out before, by this instance or, in the meantime, by another. */
  async function decideNew<Details, Result>(
    db: Database,
    asked: readonly Asked<Details>[],
    { decide, isDone }: Rules<Details, Result>,
  ): Promise<readonly (Result | 'key-reused' | undefined)[]> {
    const requests = asked.map(({ request }) => request);
    const before = await recallAll<Result>(db, requests);
    const open = asked.filter((_, index) => before[index] === undefined);
    const details = open.map((each) => each.details);
    const decided = await decide(db, details);
    const done = decided.flatMap((result, index) => {
      const request = open[index]?.request;
      return request !== undefined && isDone(result) ? { ...request, result: JSON.stringify(result) } : [];
    });
    if (done.length > 0) await insertResults(db, done);
    const outcomes = decided.values();
    return before.map((outcome) => outcome ?? outcomes.next().value);
  }

  /** `prepare` runs before the transaction. A refusal in any step leaves the key unused. Results must be JSON. */
  async function idempotent<Prepared, Result>(
    workspace: string,
    request: KeyedRequest | undefined,
    prepare: () => Promise<Prepared>,
    respond: (db: Database, prepared: Prepared) => Promise<Result>,
  ): Promise<Result> {
    return runExclusively(request, async () => {
      const [before] = await recallAll<Result>(storage.read, [request]);
      if (before !== undefined) return orThrow(before);
      const asked = [{ request, details: await prepare() }];
      const decide = (db: Database, all: readonly Prepared[]) => Promise.all(all.map((each) => respond(db, each)));
      const [outcome] = await storage.commit({ workspace }, (db) =>
        decideNew(db, asked, { decide, isDone: () => true }),
      );
      return orThrow(outcome);
    });
  }

  /** For requests that are decided in batches. A result that is not done leaves the key unused. */
  function idempotentBatch<Details extends { readonly workspace: string }, Result>(rules: Rules<Details, Result>) {
    const commit = storage.batchCommits(
      ({ details: { workspace } }: Asked<Details>) => ({ workspace }),
      (db, waiting) => decideNew(db, waiting, rules),
    );
    return (request: KeyedRequest | undefined, details: Details): Promise<Result> =>
      runExclusively(request, async () => orThrow(await commit({ request, details })));
  }

  return { idempotent, idempotentBatch };
}

function orThrow<Result>(outcome: Result | 'key-reused' | undefined): Result {
  if (outcome === undefined) throw new Error('The request was not decided.');
  if (outcome !== 'key-reused') return outcome;
  throw new Refusal(
    'idempotency-key-reused',
    'This Idempotency-Key was used for a request with a different path, body or If-Match. Use a new key for each request.',
  );
}

const rememberedForMs = 24 * 60 * 60 * 1_000;

const selectResults = batchQuery((db, members) =>
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

/** The remembered results, in the order of the requests. */
async function recallAll<Result>(
  db: Database,
  requests: readonly (KeyedRequest | undefined)[],
): Promise<readonly (Result | 'key-reused' | undefined)[]> {
  if (requests.every((request) => request === undefined)) return requests.map(() => undefined);
  return inInputOrder(requests, await selectResults(db, requests)).map((row, index) => {
    if (row === undefined) return undefined;
    if (row.fingerprint !== requests[index]?.fingerprint) return 'key-reused';
    // Only decideNew() writes the column, and the fingerprint identifies the operation.
    return JSON.parse(row.result) as Result;
  });
}

/** Whether the key was used: such a request gets the remembered response, and is not carried out again. */
export const isKeyUsed = async (storage: Storage, request: KeyedRequest | undefined): Promise<boolean> =>
  (await recallAll(storage.read, [request]))[0] !== undefined;

const insertResults = batchQuery((db, members) =>
  insertFrom(db, members, 'remembered_answers', {
    ...textsOf(['key', 'fingerprint', 'result']),
    token_id: textOf('tokenId'),
    workspace_id: textOf('workspace'),
    created_at: now,
  })
    // Any existing row is too old, or recallAll() would have found it.
    .onConflict((conflict) =>
      conflict
        .columns(['token_id', 'workspace_id', 'key'])
        .doUpdateSet(excludedOf(['fingerprint', 'result', 'created_at'])),
    ),
);

/** Per workspace: about a gigabyte. */
const maxRemembered = 1_000_000;

/** Called periodically. If there are too many, removes the oldest early. */
export const removeOldResults = (storage: Storage, max = maxRemembered): Promise<void> =>
  removeOldOfWorkspaces(storage, { table: 'remembered_answers', time: 'created_at', keptForMs: rememberedForMs, max });

export const maxKeyLength = 255;
export const keyPattern = /^[\x21-\x7e]+$/;

/**
 * A request sent with an Idempotency-Key. Keys are scoped to a token and a workspace, because requests for different
 * workspaces run in parallel and could not see each other.
 */
export interface KeyedRequest {
  readonly tokenId: string;
  readonly workspace: string;
  readonly key: string;
  /** Detects different requests with the same key. */
  readonly fingerprint: string;
}

/**
 * `content` is everything that must be the same when the request is repeated. Its order must not change, because
 * fingerprints are stored.
 */
export function keyedRequest(
  { key, ...scope }: Omit<KeyedRequest, 'fingerprint'>,
  content: readonly unknown[],
): KeyedRequest {
  if (key.length > maxKeyLength || !keyPattern.test(key)) {
    throw invalid({
      pointer: '#/Idempotency-Key',
      detail: `It must be 1 to ${maxKeyLength} visible ASCII characters.`,
    });
  }
  return { ...scope, key, fingerprint: hash('sha256', JSON.stringify(content)) };
}
