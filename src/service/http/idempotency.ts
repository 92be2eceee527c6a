import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { removeOld } from '../storage/remove-old.ts';
import type { Database, Storage } from '../storage/storage.ts';
import type { Answer } from './problem-answer.ts';
import { Refusal } from './refusal.ts';

const rememberedFor = 24 * 60 * 60 * 1_000;

const longestKey = 255;

/** A request that was sent with a key, so that sending it again does not do it again. */
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
  if (!/^[\x21-\x7e]+$/.test(key) || key.length > longestKey) {
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

async function recall(
  db: Database,
  { now }: Storage,
  { tokenId, key, fingerprint }: KeyedRequest,
): Promise<Answer | undefined> {
  const remembered = await db
    .selectFrom('remembered_answers')
    .selectAll()
    .where('token_id', '=', tokenId)
    .where('key', '=', key)
    .where(sql<boolean>`created_at > ${now} - ${sql.lit(rememberedFor)}`)
    .executeTakeFirst();
  if (remembered === undefined) return undefined;
  if (remembered.fingerprint !== fingerprint) {
    throw new Refusal(
      'idempotency-key-reused',
      'This Idempotency-Key was used for a request with another path, body or If-Match. Use a new key for a new request.',
    );
  }
  return {
    status: remembered.status,
    // Only remember() writes this column.
    headers: { ...(JSON.parse(remembered.headers) as Record<string, string>), 'idempotency-replayed': 'true' },
    body: remembered.body,
  };
}

async function remember(db: Database, { now }: Storage, request: KeyedRequest, answer: Answer): Promise<void> {
  const values = {
    fingerprint: request.fingerprint,
    status: answer.status,
    headers: JSON.stringify(answer.headers),
    body: answer.body,
    created_at: now,
  };
  await db
    .insertInto('remembered_answers')
    .values({ token_id: request.tokenId, key: request.key, ...values })
    // What is there has outlived its time, or recall() would have found it.
    .onConflict((conflict) => conflict.columns(['token_id', 'key']).doUpdateSet(values))
    .execute();
}

/** Does what a request asks, once for each key: a change and its remembered answer are one transaction. */
export function createOnce(storage: Storage) {
  const running = new Set<string>();

  /** `prepare` is what has to be found out before the transaction; a refusal anywhere keeps the key free. */
  return async function once<Prepared>(
    request: KeyedRequest | undefined,
    prepare: () => Promise<Prepared>,
    change: (db: Database, prepared: Prepared) => Promise<Answer>,
  ): Promise<Answer> {
    if (request === undefined) {
      const prepared = await prepare();
      return storage.commit((db) => change(db, prepared));
    }
    const inFlight = `${request.tokenId} ${request.key}`;
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
      const before = await recall(storage.read, storage, request);
      if (before !== undefined) return before;
      const prepared = await prepare();
      return await storage.commit(async (db) => {
        // Again, in the transaction: another instance may have done it meanwhile.
        const meanwhile = await recall(db, storage, request);
        if (meanwhile !== undefined) return meanwhile;
        const answer = await change(db, prepared);
        await remember(db, storage, request, answer);
        return answer;
      });
    } finally {
      running.delete(inFlight);
    }
  };
}

export type Once = ReturnType<typeof createOnce>;

export const forgetOldAnswers = (storage: Storage): Promise<void> =>
  removeOld(storage, { table: 'remembered_answers', time: 'created_at', keptForMs: rememberedFor });
