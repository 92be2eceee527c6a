import { Refusal } from '../contract/problem.ts';
import type { ApiResponse } from '../contract/response.ts';
import type { CommitScope, Database, Storage } from '../storage/storage.ts';
import type { KeyedRequest } from './keyed-request.ts';
import { type Answered, type IndexedRequest, placed, recallAll, rememberAll } from './remembered-responses.ts';

export type Idempotency = ReturnType<typeof createIdempotency>;
export type Idempotent = Idempotency['idempotent'];

/**
 * Rules for requests that are decided in batches, such as for locks. A refusal is a possible result of each request.
 */
export interface BatchRules<Asked> {
  readonly scopeOf: (asked: Asked) => CommitScope;
  /** Refuses early, based on committed data. */
  readonly refusedBefore: (asked: Asked) => Promise<Refusal | undefined>;
  /** Returns one result per request, in the same order. */
  readonly decide: (db: Database, asked: readonly Asked[]) => Promise<readonly (ApiResponse | Refusal)[]>;
}

/**
 * Runs a request once per key: the change and its remembered response are one transaction. `onRemembered` receives the
 * size of the response in bytes.
 */
export function createIdempotency(storage: Storage, onRemembered: (bytes: number) => void = () => undefined) {
  const running = new Set<string>();

  async function recall(db: Database, request: IndexedRequest): Promise<ApiResponse | undefined> {
    const [before] = await recallAll(db, storage, [request]);
    return before && orThrow(before);
  }

  async function whileNoOtherRuns(request: IndexedRequest, work: () => Promise<ApiResponse>): Promise<ApiResponse> {
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
    scope: CommitScope,
    keyed: KeyedRequest | undefined,
    prepare: () => Promise<Prepared>,
    change: (db: Database, prepared: Prepared) => Promise<ApiResponse>,
  ): Promise<ApiResponse> {
    if (keyed === undefined) {
      const prepared = await prepare();
      return storage.commit(scope, (db) => change(db, prepared));
    }
    const request = placed(keyed, scope);
    return whileNoOtherRuns(request, async () => {
      const before = await recall(storage.read, request);
      if (before !== undefined) return before;
      const prepared = await prepare();
      return storage.commit(scope, async (db) => {
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
  function idempotentBatch<Asked>({ scopeOf, refusedBefore, decide }: BatchRules<Asked>) {
    const commit = storage.batchCommits(
      ({ asked }: { readonly asked: Asked; readonly request: IndexedRequest | undefined }) => scopeOf(asked),
      async (db, waiting) => {
        const keyed = waiting.map(({ request }) => request);
        const before = await recallAll(db, storage, keyed);
        const open = waiting.filter((_, index) => before[index] === undefined);
        const asked = open.map((each) => each.asked);
        const decided = await decide(db, asked);
        const answered = open.flatMap(({ request }, index): Answered[] => {
          const response = decided[index];
          return request && response && !(response instanceof Refusal) ? [{ request, response }] : [];
        });
        onRemembered(await rememberAll(db, storage, answered));
        const outcomes = decided.values();
        return before.flatMap((outcome) => outcome ?? outcomes.next().value ?? []);
      },
    );

    async function ask(request: IndexedRequest | undefined, asked: Asked): Promise<ApiResponse> {
      const refusal = await refusedBefore(asked);
      if (refusal === undefined) return orThrow(await commit({ request, asked }));
      // The refusal may be caused by an earlier success of the same request.
      const before = request && (await recall(storage.read, request));
      return before ?? orThrow(refusal);
    }

    return (keyed: KeyedRequest | undefined, asked: Asked): Promise<ApiResponse> => {
      if (keyed === undefined) return ask(keyed, asked);
      const request = placed(keyed, scopeOf(asked));
      return whileNoOtherRuns(request, () => ask(request, asked));
    };
  }

  return { idempotent, idempotentBatch };
}

function orThrow(outcome: ApiResponse | Refusal): ApiResponse {
  if (outcome instanceof Refusal) throw outcome;
  return outcome;
}
