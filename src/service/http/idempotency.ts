import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { atTheirPlaces, batchQuery, numberOf, placeInList, textOf } from '../storage/batch-query.ts';
import { removeOld } from '../storage/remove-old.ts';
import type { CommitScope, Database, Storage } from '../storage/storage.ts';
import type { Answer } from './problem-answer.ts';
import { Refusal } from './refusal.ts';

const rememberedFor = 24 * 60 * 60 * 1_000;

export const longestKey = 255;
export const keyPattern = /^[\x21-\x7e]+$/;

/**
 * A request that was sent with a key, so that sending it again does not do it again. A key is the token's own, and in each
 * workspace another: requests of two workspaces are not made one after the other, and could not look each other up.
 */
export interface KeyedRequest {
  readonly tokenId: string;
  readonly key: string;
  /** Tells apart different requests that use the same key by mistake. */
  readonly fingerprint: string;
}

export interface RequestParts {
  readonly tokenId: string;
  readonly key: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly ifMatch: string | undefined;
  readonly body: string;
}

export function keyedRequest({ tokenId, key, method, path, ifMatch, body }: RequestParts): KeyedRequest | undefined {
  if (key === undefined) return undefined;
  if (key.length > longestKey || !keyPattern.test(key)) {
    const detail = `It has 1 to ${longestKey} visible ASCII characters.`;
    throw new Refusal('invalid-request', `Idempotency-Key: ${detail}`, {
      errors: [{ pointer: '#/Idempotency-Key', detail }],
    });
  }
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([method, path, ifMatch ?? null, body]))
    .digest('hex');
  return { tokenId, key, fingerprint };
}

const keyReused = (): Refusal =>
  new Refusal(
    'idempotency-key-reused',
    'This Idempotency-Key was used for a request with another path, body or If-Match. Use a new key for a new request.',
  );

/** With the workspace that it is about; empty for one that is about none. */
interface PlacedRequest extends KeyedRequest {
  readonly workspace: string;
}

const placed = (request: KeyedRequest, scope: CommitScope): PlacedRequest => ({
  ...request,
  workspace: scope === 'global' ? '' : scope.workspace,
});

const selectAnswers = batchQuery((db, members, now) =>
  db
    .selectFrom(members)
    .innerJoin('remembered_answers', (join) =>
      join
        .on('token_id', '=', textOf('tokenId'))
        .on('workspace_id', '=', textOf('workspace'))
        .on('remembered_answers.key', '=', textOf('key')),
    )
    .select([placeInList.as('place'), 'fingerprint', 'status', 'headers', 'body'])
    .where(sql<boolean>`created_at > ${now} - ${sql.lit(rememberedFor)}`),
);

/** What was answered to each request before, at its place in the list; a refusal where its key was used for another. */
async function recallAll(
  db: Database,
  { now }: Storage,
  requests: readonly (PlacedRequest | undefined)[],
): Promise<readonly (Answer | Refusal | undefined)[]> {
  if (requests.every((request) => request === undefined)) return requests.map(() => undefined);
  const rows = await selectAnswers(
    db,
    now,
    requests.map((request) => request ?? {}),
  );
  return atTheirPlaces(requests, rows).map((row, index) => {
    if (row === undefined) return undefined;
    if (row.fingerprint !== requests[index]?.fingerprint) return keyReused();
    // Only rememberAll() writes this column.
    const headers = JSON.parse(row.headers) as Record<string, string>;
    return { status: row.status, headers: { ...headers, 'idempotency-replayed': 'true' }, body: row.body };
  });
}

const insertAnswers = batchQuery((db, members, now) =>
  db
    .insertInto('remembered_answers')
    .columns(['token_id', 'workspace_id', 'key', 'fingerprint', 'status', 'headers', 'body', 'created_at'])
    .expression((from) =>
      from
        .selectFrom(members)
        .select([
          textOf('tokenId').as('token_id'),
          textOf('workspace').as('workspace_id'),
          textOf('key').as('key'),
          textOf('fingerprint').as('fingerprint'),
          numberOf('status').as('status'),
          textOf('headers').as('headers'),
          textOf('body').as('body'),
          now.as('created_at'),
        ])
        // Without a condition SQLite would take the conflict for that of a join.
        .where(sql<boolean>`true`),
    )
    // What is there has outlived its time, or recallAll() would have found it.
    .onConflict((conflict) =>
      conflict.columns(['token_id', 'workspace_id', 'key']).doUpdateSet(({ ref }) => ({
        fingerprint: ref('excluded.fingerprint'),
        status: ref('excluded.status'),
        headers: ref('excluded.headers'),
        body: ref('excluded.body'),
        created_at: ref('excluded.created_at'),
      })),
    ),
);

interface Answered {
  readonly request: PlacedRequest;
  readonly answer: Answer;
}

/** Gives how many bytes that are, about. */
async function rememberAll(db: Database, { now }: Storage, answered: readonly Answered[]): Promise<number> {
  if (answered.length === 0) return 0;
  const rows = answered.map(({ request, answer }) => ({
    ...request,
    ...answer,
    headers: JSON.stringify(answer.headers),
  }));
  await insertAnswers(db, now, rows);
  return rows.reduce((bytes, { headers, body }) => bytes + headers.length + body.length, 0);
}

function orThrow(outcome: Answer | Refusal): Answer {
  if (outcome instanceof Refusal) throw outcome;
  return outcome;
}

/** What is asked many times at once, such as for locks: a refusal is a result like another, and ends no other request. */
export interface ManyAtOnce<Asked> {
  readonly scopeOf: (asked: Asked) => CommitScope;
  /** What refuses it already, by what has been committed. */
  readonly refusedBefore: (asked: Asked) => Promise<Refusal | undefined>;
  /** In the order in which they came, with an outcome at the place of each. */
  readonly decide: (db: Database, asked: readonly Asked[]) => Promise<readonly (Answer | Refusal)[]>;
}

/**
 * Does what a request asks, once for each key: a change and its remembered answer are one transaction. `onRemembered` is told
 * how many bytes that took.
 */
export function createIdempotency(storage: Storage, onRemembered: (bytes: number) => void = () => undefined) {
  const running = new Set<string>();

  async function recall(db: Database, request: PlacedRequest): Promise<Answer | undefined> {
    const [before] = await recallAll(db, storage, [request]);
    return before === undefined ? undefined : orThrow(before);
  }

  async function whileNoOtherRuns(request: PlacedRequest, work: () => Promise<Answer>): Promise<Answer> {
    const inFlight = JSON.stringify([request.tokenId, request.workspace, request.key]);
    if (running.has(inFlight)) {
      throw new Refusal(
        'request-in-progress',
        'A request with this Idempotency-Key is still running. Send it again in a moment.',
        {
          headers: { 'retry-after': '1' },
        },
      );
    }
    running.add(inFlight);
    try {
      return await work();
    } finally {
      running.delete(inFlight);
    }
  }

  /** `prepare` is what has to be found out before the transaction; a refusal anywhere keeps the key free. */
  async function idempotent<Prepared>(
    scope: CommitScope,
    keyed: KeyedRequest | undefined,
    prepare: () => Promise<Prepared>,
    change: (db: Database, prepared: Prepared) => Promise<Answer>,
  ): Promise<Answer> {
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
        // Again, in the transaction: another instance may have done it meanwhile.
        const meanwhile = await recall(db, request);
        if (meanwhile !== undefined) return meanwhile;
        const answer = await change(db, prepared);
        onRemembered(await rememberAll(db, storage, [{ request, answer }]));
        return answer;
      });
    });
  }

  /** The same for requests that are decided together, as many as wait. */
  function idempotentBatch<Asked>({ scopeOf, refusedBefore, decide }: ManyAtOnce<Asked>) {
    interface Waiting {
      readonly request: PlacedRequest | undefined;
      readonly asked: Asked;
    }

    const commit = storage.batchCommits(
      ({ asked }: Waiting) => scopeOf(asked),
      async (db, waiting) => {
        const before = await recallAll(
          db,
          storage,
          waiting.map(({ request }) => request),
        );
        const open = waiting.filter((_, index) => before[index] === undefined);
        const decided = await decide(
          db,
          open.map(({ asked }) => asked),
        );
        const answered = open.flatMap(({ request }, index): Answered[] => {
          const answer = decided[index];
          return request === undefined || answer === undefined || answer instanceof Refusal
            ? []
            : [{ request, answer }];
        });
        onRemembered(await rememberAll(db, storage, answered));
        const outcomes = decided.values();
        return before.flatMap((outcome) => outcome ?? outcomes.next().value ?? []);
      },
    );

    async function ask(request: PlacedRequest | undefined, asked: Asked): Promise<Answer> {
      const refusal = await refusedBefore(asked);
      if (refusal === undefined) return orThrow(await commit({ request, asked }));
      // What stands in the way may be what the same request has done before.
      const before = request === undefined ? undefined : await recall(storage.read, request);
      if (before === undefined) throw refusal;
      return before;
    }

    return (keyed: KeyedRequest | undefined, asked: Asked): Promise<Answer> => {
      if (keyed === undefined) return ask(keyed, asked);
      const request = placed(keyed, scopeOf(asked));
      return whileNoOtherRuns(request, () => ask(request, asked));
    };
  }

  return { idempotent, idempotentBatch };
}

export type Idempotent = ReturnType<typeof createIdempotency>['idempotent'];
export type IdempotentBatch = ReturnType<typeof createIdempotency>['idempotentBatch'];

export const forgetOldAnswers = (storage: Storage): Promise<void> =>
  removeOld(storage, { table: 'remembered_answers', time: 'created_at', keptForMs: rememberedFor });
