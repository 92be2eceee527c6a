import type { Answer } from '../../src/client/answer.ts';
import { type ProblemName, problemTypePrefix } from '../../src/interface/problem.ts';
import { maxRetryAfterSeconds } from '../../src/service/api/locks.ts';

/** Locks as src/service keeps them, and what it answers to a request about one. */

export interface HeldLock {
  readonly id: string;
  readonly path: string;
  readonly expiresAt: number;
  readonly body: Readonly<Record<string, string>>;
}

export interface TakeRequest {
  readonly path: string;
  readonly key: string;
  readonly ttlMs: number;
}

const refusal = (
  status: number,
  name: ProblemName,
  headers: Readonly<Record<string, string>> = {},
  lock?: HeldLock,
): Answer => ({
  status,
  headers,
  body: {
    kind: 'json',
    value: { type: `${problemTypePrefix}${name}`, status, ...(lock && { lock: lock.body }) },
    byteLength: 0,
  },
});

const granted = (lock: HeldLock, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status: 201,
  headers: { ...headers, etag: `"${lock.id}"` },
  body: { kind: 'json', value: lock.body, byteLength: 0 },
});

const released: Answer = { status: 204, headers: {}, body: { kind: 'empty' } };

export const rateLimited = (retryAfterSeconds: number): Answer =>
  refusal(429, 'rate-limited', { 'retry-after': String(retryAfterSeconds) });

export const stillRunning: Answer = refusal(409, 'request-in-progress', { 'retry-after': '1' });

const replayed = (lock: HeldLock): Answer => granted(lock, { 'idempotency-replayed': 'true' });

/** What came of a change: whether anything was written is what it costs. */
export interface Changed {
  readonly answer: Answer;
  readonly wrote: boolean;
}

export function createLockTable(now: () => number) {
  const locks = new Map<string, HeldLock>();
  const remembered = new Map<string, HeldLock>();
  let made = 0;

  /** An expired lock holds nobody up, whether its entry is still there or not. */
  function liveOn(path: string): HeldLock | undefined {
    const lock = locks.get(path);
    return lock === undefined || lock.expiresAt <= now() ? undefined : lock;
  }

  return {
    recall(key: string): Answer | undefined {
      const lock = remembered.get(key);
      return lock === undefined ? undefined : replayed(lock);
    },

    take({ path, key, ttlMs }: TakeRequest): Changed {
      const before = remembered.get(key);
      if (before !== undefined) return { answer: replayed(before), wrote: false };
      const held = liveOn(path);
      if (held !== undefined) {
        const remainingSeconds = Math.ceil((held.expiresAt - now()) / 1_000);
        const retryAfter = String(Math.min(remainingSeconds, maxRetryAfterSeconds));
        return { answer: refusal(409, 'locked', { 'retry-after': retryAfter }, held), wrote: false };
      }
      made += 1;
      const id = `lock_${made}`;
      const expiresAt = now() + ttlMs;
      const body = {
        id,
        path,
        type: 'exclusive',
        owner: 'somebody',
        acquired_at: new Date(now()).toISOString(),
        expires_at: new Date(expiresAt).toISOString(),
      };
      const lock = { id, path, expiresAt, body };
      locks.set(path, lock);
      remembered.set(key, lock);
      return { answer: granted(lock), wrote: true };
    },

    release(path: string, match: string | undefined): Changed {
      const held = liveOn(path);
      if (held === undefined) return { answer: refusal(404, 'not-found'), wrote: false };
      if (match !== `"${held.id}"`) return { answer: refusal(412, 'lock-changed', {}, held), wrote: false };
      locks.delete(path);
      return { answer: released, wrote: true };
    },

    /** Removes what has expired, as the service does in the background. */
    tidy(): void {
      for (const [path, { expiresAt }] of locks) if (expiresAt <= now()) locks.delete(path);
    },

    count: () => locks.size,
  };
}

export type LockTable = ReturnType<typeof createLockTable>;
