import { Refusal } from '../contract/problem.ts';
import type { ApiResponse } from '../contract/response.ts';
import type { Database, Storage } from '../storage/storage.ts';
import type { KeyedRequest } from './keyed-request.ts';
import { type IndexedRequest, recallAll, rememberAll } from './remembered-responses.ts';

export type Idempotency = ReturnType<typeof createIdempotency>;
export type Idempotent = Idempotency['idempotent'];

/** Rules for requests that are decided in batches. A refusal is a possible result of each request. */
interface BatchRules<Details> {
  /** Refuses early, based on committed data. */
  readonly refuseEarly: (details: Details) => Promise<Refusal | undefined>;
  /** Returns one result per request, in the same order. */
  readonly decide: (db: Database, details: readonly Details[]) => Promise<readonly (ApiResponse | Refusal)[]>;
}

/** Runs a request once per key, in one transaction with its response. `onRemembered` receives its bytes. */
export function createIdempotency(storage: Storage, onRemembered: (bytes: number) => void = () => undefined) {
  const running = new Set<string>();

  async function recall(db: Database, request: IndexedRequest | undefined): Promise<ApiResponse | undefined> {
    const [before] = await recallAll(db, storage, [request]);
    return before && orThrow(before);
  }

  async function runExclusively(
    request: IndexedRequest | undefined,
    work: () => Promise<ApiResponse>,
  ): Promise<ApiResponse> {
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

  /** `prepare` runs before the transaction. A refusal anywhere leaves the key unused. */
  async function idempotent<Prepared>(
    workspace: string,
    keyed: KeyedRequest | undefined,
    prepare: () => Promise<Prepared>,
    change: (db: Database, prepared: Prepared) => Promise<ApiResponse>,
  ): Promise<ApiResponse> {
    const request = keyed && { ...keyed, workspace };
    return runExclusively(request, async () => {
      const before = await recall(storage.read, request);
      if (before !== undefined) return before;
      const prepared = await prepare();
      return storage.commit({ workspace }, async (db) => {
        // Check again in the transaction: another instance may have committed the request in the meantime.
        const meanwhile = await recall(db, request);
        if (meanwhile !== undefined) return meanwhile;
        const response = await change(db, prepared);
        onRemembered(await rememberAll(db, storage, [{ request, response }]));
        return response;
      });
    });
  }

  /** Like idempotent(), for requests that are decided in batches of all waiting ones. */
  function idempotentBatch<Details extends { readonly workspace: string }>({
    refuseEarly,
    decide,
  }: BatchRules<Details>) {
    const commit = storage.batchCommits(
      ({ details }: { readonly details: Details; readonly request: IndexedRequest | undefined }) => ({
        workspace: details.workspace,
      }),
      async (db, waiting) => {
        const before = await recallAll(
          db,
          storage,
          waiting.map(({ request }) => request),
        );
        const open = waiting.filter((_, index) => before[index] === undefined);
        const decided = await decide(
          db,
          open.map(({ details }) => details),
        );
        const decidedRequests = open.map(({ request }, index) => ({ request, response: decided[index] }));
        onRemembered(await rememberAll(db, storage, decidedRequests));
        const outcomes = decided.values();
        return before.flatMap((outcome) => outcome ?? outcomes.next().value ?? []);
      },
    );

    return (keyed: KeyedRequest | undefined, details: Details): Promise<ApiResponse> => {
      const request = keyed && { ...keyed, workspace: details.workspace };
      return runExclusively(request, async () => {
        const refusal = await refuseEarly(details);
        if (refusal === undefined) return orThrow(await commit({ request, details }));
        // The refusal may be caused by an earlier success of the same request.
        return (await recall(storage.read, request)) ?? orThrow(refusal);
      });
    };
  }

  return { idempotent, idempotentBatch };
}

function orThrow(outcome: ApiResponse | Refusal): ApiResponse {
  if (outcome instanceof Refusal) throw outcome;
  return outcome;
}
