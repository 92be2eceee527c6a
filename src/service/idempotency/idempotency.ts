import { Refusal } from '../contract/problem.ts';
import type { Database, Storage } from '../storage/storage.ts';
import type { KeyedRequest } from './keyed-request.ts';
import { type IndexedRequest, keyReused, type Once, recallAll, rememberAll } from './remembered-results.ts';

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
