import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WaitForReleaseRequest, WaitForReleaseResult } from '../../src/client/acquire-lock.ts';
import type { Client } from '../../src/client/client.ts';
import type { RequestFailure } from '../../src/client/service-error.ts';
import type { LockPath } from '../../src/interface/lock-path.ts';
import { acquireLocks } from '../../src/locks/acquire.ts';
import type { AcquireResult } from '../../src/locks/session.ts';
import { game, lockPath, ttl } from '../client/test-client.ts';
import { errorOf, grantOf, intentOf, iso, knownLock, lockOf, place, refused, sessionOf, start } from './samples.ts';

const second = 1_000;

/** Duration of each request in these tests. */
const requestMs = 20;

const origin = 'https://ci.example.com/runs/7';
const holderOf = (path: LockPath) => knownLock(path, { origin, acquired_at: iso(-120 * second) });

const held = (path: LockPath, retryAfterMs?: number, supportsWait = false): AcquireResult => ({
  kind: 'held',
  path,
  holder: holderOf(path),
  retryAfterMs,
  supportsWait,
  error: errorOf(refused(409)),
});

const taken = (path: LockPath): AcquireResult => ({
  kind: 'acquired',
  grant: grantOf(path, { lock: lockOf(path, { expires_at: iso(36_000 * second) }) }),
});

const failed = (failure: RequestFailure): AcquireResult => ({ kind: 'failed', error: errorOf(failure) });

interface Answering {
  /** Response to the request with this number, counted from 0. */
  readonly response: (path: LockPath, number: number) => AcquireResult;
  readonly paths?: readonly string[];
  readonly waitSeconds?: number;
  readonly random?: () => number;
  /** Response when the step asks about an unanswered request; the number counts from 0. */
  readonly settle?: (path: LockPath, number: number) => AcquireResult;
  /** Response to a request that waits for a release, and the delay before it; undefined if not supported. */
  readonly tell?: (
    request: WaitForReleaseRequest,
    number: number,
  ) => { readonly result: WaitForReleaseResult; readonly afterMs: number };
}

/** Waits in virtual time, which passes only in pauses and requests. */
async function waiting({
  response,
  paths = ['a'],
  waitSeconds = 600,
  random = () => 0.5,
  settle = () => {
    throw new Error('Nothing was unclear.');
  },
  tell,
}: Answering) {
  let now = start;
  const clock = (): number => now;
  const sleeps: number[] = [];
  const lines: string[] = [];
  /** All events in order: `ask a`, `give back a`, `sleep`, `listen a 30`. */
  const events: string[] = [];
  /** Start of each request, relative to the start of the wait. */
  const askedAt: number[] = [];
  /** Time limits of the rollback requests. */
  const givingBackMs: number[] = [];
  let listened = 0;
  const client: Pick<Client, 'serverNow' | 'waitForRelease'> = {
    serverNow: clock,
    async waitForRelease(request, { deadline }) {
      if (tell === undefined) return { kind: 'unsupported' };
      events.push(`listen ${request.path} ${request.seconds}`);
      const { result, afterMs } = tell(request, listened);
      listened += 1;
      const answersAt = now + afterMs;
      now = Math.min(deadline, answersAt);
      return answersAt > deadline ? { kind: 'failed' } : result;
    },
  };
  const result = await acquireLocks(
    {
      // A wait uses no other methods.
      client: client as Client,
      terms: { service: place.service, workspace: game, type: 'exclusive', ttl: ttl('1h') },
      clock,
      random,
      signal: new AbortController().signal,
      withoutWait: { deadline: clock() + 150_000 },
      log: { line: (text) => lines.push(text) },
      async sleep(ms) {
        events.push('sleep');
        sleeps.push(ms);
        now += ms;
      },
      session: sessionOf({
        async acquire(path) {
          events.push(`ask ${path}`);
          askedAt.push(now - start);
          now += requestMs;
          return response(path, askedAt.length - 1);
        },
        async settle({ path }) {
          events.push(`settle ${path}`);
          now += requestMs;
          return settle(lockPath(path), events.filter((event) => event.startsWith('settle')).length - 1);
        },
        async release({ path }, { deadline }) {
          events.push(`give back ${path}`);
          givingBackMs.push(deadline - now);
          return { kind: 'released' };
        },
      }),
    },
    { paths: paths.map(lockPath), count: paths.length },
    { seconds: waitSeconds },
  );
  return { result, sleeps, lines, events, askedAt, tookMs: now - start, givingBackMs };
}

const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('a wait', () => {
  test('never exceeds its limit, and pauses before a last request shortly before the limit', async () => {
    await fc.assert(
      fc.asyncProperty(chance, fc.integer({ min: 1, max: 600 }), async (random, waitSeconds) => {
        const { result, sleeps, askedAt, tookMs } = await waiting({
          response: (path) => held(path),
          waitSeconds,
          random: () => random,
        });
        expect(result.round.kind).toBe('held');
        expect(tookMs).toBeLessThanOrEqual(waitSeconds * second);
        expect(askedAt.at(-1)).toBeGreaterThan(waitSeconds * second - 2 * second);
        // The last pause is the remaining time; each earlier pause is at least half a second.
        expect(Math.min(...sleeps.slice(0, -1), 500)).toBe(500);
        expect(sleeps.at(-1)).toBeGreaterThan(0);
      }),
    );
  });

  test('is jittered: jobs that were rejected together do not retry together', async () => {
    const retryAfter = fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(chance, chance, retryAfter, async (one, other, seconds) => {
        fc.pre(Math.abs(one - other) > 0.1);
        const firstSleep = async (random: number): Promise<number> => {
          const response = (path: LockPath) => held(path, seconds && seconds * second);
          return (await waiting({ response, random: () => random })).sleeps[0] ?? 0;
        };
        expect(Math.abs((await firstSleep(one)) - (await firstSleep(other)))).toBeGreaterThan(40);
      }),
    );
  });

  test('pauses as long as Retry-After asks, both for a held path and for a busy service', async () => {
    const busy = failed(refused(429, { retryAfterMs: 20 * second }));
    const { sleeps } = await waiting({
      response: (path, number) => [held(path, 30 * second), busy][number] ?? taken(path),
      random: () => 0,
    });
    expect(sleeps).toEqual([30 * second, 20 * second]);
  });

  test.each<[string, RequestFailure]>([
    ['an attempt that timed out', { kind: 'timeout', limitMs: 30 * second }],
    [
      'a lost connection',
      { kind: 'connection', code: 'ECONNRESET', words: 'it was reset', mayHaveArrived: false, untrusted: false },
    ],
  ])('continues after %s', async (_, failure) => {
    const { result } = await waiting({
      response: (path, number) => [held(path), failed(failure)][number] ?? taken(path),
    });
    expect(result.round.kind).toBe('acquired');
  });

  test('logs with each poll who holds the path, from which run, since when and until when', async () => {
    const { lines, sleeps } = await waiting({ response: (path) => held(path), waitSeconds: 60 });
    expect(sleeps.length).toBeGreaterThan(5);
    expect(lines).toHaveLength(sleeps.length);
    for (const line of lines) {
      expect(line).toMatch(
        /^a is held by grace until 13:00 UTC \(in .*\), taken by https:\/\/ci\.example\.com\/runs\/7, since 11:58 UTC \(.* ago\)\. Waiting, \d+ s left\.$/,
      );
    }
  });

  test('holds none of the paths while it pauses: it rolls back first', async () => {
    const { events, result } = await waiting({
      paths: ['a', 'b'],
      response: (path, number) => (path === 'b' && number < 3 ? held(path) : taken(path)),
    });
    expect(events).toEqual(['ask a', 'ask b', 'give back a', 'sleep', 'ask b', 'sleep', 'ask b', 'ask a']);
    expect(result.round.kind).toBe('acquired');
  });
});

describe('an unanswered request', () => {
  const lost = (path: LockPath): AcquireResult => ({
    kind: 'unanswered',
    intent: intentOf(path),
    error: errorOf({ kind: 'timeout', limitMs: 1 }),
    conflict: undefined,
  });
  const away = { response: (path: LockPath, number: number) => (number === 0 ? lost(path) : taken(path)) };

  test('is resolved at the start of each round, before the path is requested again', async () => {
    const { events, result } = await waiting({ ...away, settle: (path, number) => (number < 3 ? lost : taken)(path) });
    expect(events).toEqual([
      ...['ask a', 'settle a', 'sleep', 'settle a', 'sleep', 'settle a', 'sleep', 'settle a'],
      ...['give back a', 'ask a'],
    ]);
    expect(result).toMatchObject({ round: { kind: 'acquired' }, unanswered: [] });
  });

  test('is not resolved forever if the service responds without the result', async () => {
    const error = errorOf(refused(409));
    const settle = (path: LockPath): AcquireResult => {
      const conflict = { path, holder: holderOf(path), retryAfterMs: undefined, supportsWait: false, error };
      return { kind: 'unanswered', intent: intentOf(path), error, conflict };
    };
    const { events, result } = await waiting({ ...away, settle });
    expect(events).toEqual(['ask a', 'settle a', 'sleep', 'ask a']);
    expect(result.unanswered.map(({ path }) => path)).toEqual(['a']);
  });
});

test('rolls back within ten seconds, and leaves the rest to the post-step', async () => {
  const response = (path: LockPath) => (path === 'b' ? held(path) : taken(path));
  const { givingBackMs } = await waiting({ paths: ['a', 'b'], response, waitSeconds: 0 });
  expect(givingBackMs).toEqual([10 * second]);
});

describe('a wait on a service that supports waiting', () => {
  const free = { kind: 'free' } as const;
  const stillHeld = (path: LockPath, afterMs: number) => ({
    result: { kind: 'held', holder: holderOf(path) } as const,
    afterMs,
  });
  const heldAtFirst = (times: number) => (path: LockPath, number: number) =>
    number < times ? held(path) : taken(path);

  test('requests the path as soon as it is reported free, and then the other paths', async () => {
    const { events, result } = await waiting({
      paths: ['a', 'b'],
      response: (path, number) => (path === 'b' && number === 1 ? held(path) : taken(path)),
      tell: () => ({ result: free, afterMs: 7 * second }),
    });
    expect(events).toEqual(['ask a', 'ask b', 'give back a', 'listen b 30', 'ask b', 'ask a']);
    expect(result).toMatchObject({ round: { kind: 'acquired' }, waitedMs: 7 * second + 4 * requestMs });
  });

  test('asks again while the path is still held, and logs the holder each time', async () => {
    const { events, lines } = await waiting({
      response: heldAtFirst(1),
      tell: ({ path, seconds }, number) =>
        number < 2 ? stillHeld(path, seconds * second) : { result: free, afterMs: 5 * second },
    });
    expect(events).toEqual(['ask a', 'listen a 30', 'listen a 30', 'listen a 30', 'ask a']);
    expect(lines.map((line) => /Waiting, .*$/.exec(line)?.[0])).toEqual(
      ['10', '10', '9'].map((minutes) => `Waiting, ${minutes} min left.`),
    );
    for (const line of lines) expect(line).toMatch(/^a is held by grace until 13:00 UTC/);
  });

  test('ends in time, after a last request', async () => {
    const late = fc.integer({ min: 0, max: 3_000 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 200 }), late, async (waitSeconds, lateMs) => {
        const { result, askedAt, tookMs, events } = await waiting({
          response: (path) => held(path),
          waitSeconds,
          tell: ({ path, seconds }) => stillHeld(path, seconds * second + lateMs),
        });
        expect(result.round.kind).toBe('held');
        expect(tookMs).toBeLessThanOrEqual(waitSeconds * second);
        expect(askedAt.at(-1)).toBeGreaterThan(waitSeconds * second - 2 * second);
        expect(events.at(-1)).toBe('ask a');
      }),
    );
  });

  test('polls if the service does not support waiting, and does not ask it to wait again', async () => {
    const { events, result } = await waiting({
      response: heldAtFirst(3),
      tell: () => ({ result: { kind: 'unsupported' }, afterMs: 10 }),
    });
    expect(events).toEqual(['ask a', 'listen a 30', 'sleep', 'ask a', 'sleep', 'ask a', 'sleep', 'ask a']);
    expect(result.round.kind).toBe('acquired');
  });

  test('retries an unavailable service within 300 ms until it is back', async () => {
    const { events, sleeps } = await waiting({
      response: heldAtFirst(1),
      tell: ({ path, seconds }, number) => {
        if (number === 0) return stillHeld(path, seconds * second);
        return { result: { kind: number < 50 ? 'failed' : 'free' }, afterMs: 5 };
      },
      random: () => 0.999,
    });
    expect(sleeps).toHaveLength(49);
    expect(Math.max(...sleeps)).toBeLessThan(250);
    expect(events.filter((event) => event === 'ask a')).toHaveLength(2);
  });

  test('treats a connection that is cut on the first wait as a restart as well', async () => {
    const { sleeps } = await waiting({
      response: heldAtFirst(1),
      tell: (_, number) => ({ result: { kind: number < 20 ? 'failed' : 'free' }, afterMs: number === 0 ? 2_500 : 5 }),
    });
    expect(sleeps).toHaveLength(20);
    expect(Math.max(...sleeps)).toBeLessThan(250);
  });

  test('retries a service that supports waiting within 300 ms even if it goes away at once', async () => {
    const { sleeps } = await waiting({
      response: (path, number) => (number === 0 ? held(path, undefined, true) : taken(path)),
      tell: (_, number) => ({ result: { kind: number < 20 ? 'failed' : 'free' }, afterMs: 5 }),
    });
    expect(sleeps).toHaveLength(20);
    expect(Math.max(...sleeps)).toBeLessThan(250);
  });

  test('asks again within 300 ms while a service that supports waiting shuts down and responds at once', async () => {
    const { sleeps, events } = await waiting({
      response: (path, number) => (number === 0 ? held(path, undefined, true) : taken(path)),
      tell: ({ path }, number) => (number < 20 ? stillHeld(path, 5) : { result: free, afterMs: 5 }),
    });
    expect(sleeps).toHaveLength(20);
    expect(Math.max(...sleeps)).toBeLessThan(250);
    expect(events.filter((event) => event === 'ask a')).toHaveLength(2);
  });

  test('requests the lock within a minute if a gateway rejects all requests that wait', async () => {
    const { result, tookMs } = await waiting({
      response: (path, number) => (number === 0 ? held(path, undefined, true) : taken(path)),
      tell: () => ({ result: { kind: 'failed' }, afterMs: 5 }),
    });
    expect(result.round.kind).toBe('acquired');
    expect(tookMs).toBeLessThan(60 * second);
  });

  test('falls back to polling if a service never responds to requests that wait', async () => {
    const { events } = await waiting({
      response: heldAtFirst(6),
      tell: ({ seconds }) => ({ result: { kind: 'failed' }, afterMs: seconds * second + 30 * second }),
    });
    expect(events.filter((event) => event.startsWith('listen'))).toHaveLength(3);
  });

  test('pauses as long as a gateway asks while the service is unavailable', async () => {
    const { sleeps } = await waiting({
      response: heldAtFirst(1),
      tell: ({ path }, number) => {
        if (number === 0) return stillHeld(path, 30 * second);
        return { result: number === 1 ? { kind: 'failed', retryAfterMs: 7 * second } : free, afterMs: 5 };
      },
    });
    expect(sleeps).toEqual([7 * second]);
  });

  test('waits for its path after a failed round, and so notices when the service is back', async () => {
    const { events, result } = await waiting({
      response: (path, number) => {
        if (number === 0) return held(path);
        return number === 1 ? failed({ kind: 'timeout', limitMs: 1 }) : taken(path);
      },
      tell: () => ({ result: free, afterMs: 2 * second }),
    });
    expect(events).toEqual(['ask a', 'listen a 30', 'ask a', 'listen a 30', 'ask a']);
    expect(result.round.kind).toBe('acquired');
  });

  test.each(['free', 'held'])('does not trust a service that keeps reporting %s at once', async (kind) => {
    const { events } = await waiting({
      response: (path) => held(path),
      waitSeconds: 60,
      tell: ({ path }) => (kind === 'free' ? { result: free, afterMs: 5 } : stillHeld(path, 5)),
    });
    expect(events.length).toBeLessThan(60);
    expect(events.filter((event) => event === 'sleep').length).toBeGreaterThan(4);
  });
});
