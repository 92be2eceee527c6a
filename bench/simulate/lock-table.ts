import type { JsonObject } from '../../src/client/json.ts';
import type { ClientResponse } from '../../src/client/response.ts';
import { type ProblemName, problemTypePrefix } from '../../src/interface/problem.ts';
import { maxRetryAfterSeconds } from '../../src/service/api/lock-responses.ts';

/** Locks as src/service keeps them, and what it answers to a request about one. */

interface Lock {
  readonly id: string;
  readonly expiresAt: number;
  readonly body: JsonObject;
}

export interface TakeRequest {
  readonly path: string;
  readonly key: string;
  readonly ttlMs: number;
}

const response = (status: number, headers: ClientResponse['headers'], value: JsonObject): ClientResponse => ({
  ...{ status, headers },
  body: { kind: 'json', value, byteLength: 0 },
});

const refusal = (
  status: number,
  name: ProblemName,
  headers: ClientResponse['headers'] = {},
  lock?: Lock,
): ClientResponse =>
  response(status, headers, { type: `${problemTypePrefix}${name}`, status, ...(lock && { lock: lock.body }) });

const granted = (lock: Lock, headers: ClientResponse['headers'] = {}): ClientResponse =>
  response(201, { ...headers, etag: `"${lock.id}"` }, lock.body);

export const rateLimited = (retryAfterSeconds: number): ClientResponse =>
  refusal(429, 'rate-limited', { 'retry-after': String(retryAfterSeconds) });

export const stillRunning: ClientResponse = refusal(409, 'request-in-progress', { 'retry-after': '1' });

/** What came of a change: whether anything was written is what it costs. */
export interface Changed {
  readonly response: ClientResponse;
  readonly wrote: boolean;
}

export function createLockTable(now: () => number) {
  const locks = new Map<string, Lock>();
  const byKey = new Map<string, Lock>();
  let count = 0;

  const replayed = (key: string): ClientResponse | undefined => {
    const lock = byKey.get(key);
    return lock && granted(lock, { 'idempotency-replayed': 'true' });
  };

  /** An expired lock is in nobody's way, whether its entry is still there or not. */
  function find(path: string) {
    const lock = locks.get(path);
    const remainingMs = (lock?.expiresAt ?? 0) - now();
    return lock === undefined || remainingMs <= 0 ? undefined : { ...lock, live: true, remainingMs };
  }

  const listed = (path: string, headers: ClientResponse['headers'] = {}): ClientResponse => {
    const held = find(path);
    return response(200, headers, { locks: held ? [held.body] : [] });
  };

  return {
    find,
    replayed,
    listed,

    take({ path, key, ttlMs }: TakeRequest): Changed {
      const before = replayed(key);
      if (before !== undefined) return { response: before, wrote: false };
      const held = find(path);
      if (held !== undefined) {
        const retryAfter = String(Math.min(Math.ceil(held.remainingMs / 1_000), maxRetryAfterSeconds));
        return { response: refusal(409, 'locked', { 'retry-after': retryAfter }, held), wrote: false };
      }
      count += 1;
      const id = `lock_${count}`;
      const expiresAt = now() + ttlMs;
      const [acquired_at, expires_at] = [new Date(now()).toISOString(), new Date(expiresAt).toISOString()];
      const body = { id, path, type: 'exclusive', owner: 'somebody', acquired_at, expires_at };
      const lock = { id, expiresAt, body };
      locks.set(path, lock);
      byKey.set(key, lock);
      return { response: granted(lock), wrote: true };
    },

    release(path: string, match: string | undefined): Changed {
      const held = find(path);
      if (held === undefined) return { response: refusal(404, 'not-found'), wrote: false };
      if (match !== `"${held.id}"`) return { response: refusal(412, 'lock-changed', {}, held), wrote: false };
      locks.delete(path);
      return { response: { status: 204, headers: {}, body: { kind: 'empty' } }, wrote: true };
    },

    /** To a request that has waited for the path to come free. */
    waited: (path: string, seconds: number): ClientResponse =>
      listed(path, { 'preference-applied': `wait=${seconds}` }),

    /** Removes what has expired, as the service does in the background. */
    removeExpired(): void {
      for (const [path, { expiresAt }] of locks) if (expiresAt <= now()) locks.delete(path);
    },

    size: () => locks.size,
  };
}
