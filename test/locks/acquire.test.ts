import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import type { ReleaseLockResult } from '../../src/client/release-lock.ts';
import { type Failure, unanswered } from '../../src/client/service-error.ts';
import type { LockPath } from '../../src/interface/lock-path.ts';
import type { QueuePosition } from '../../src/interface/problem.ts';
import { openHistory } from '../../src/locks/ledger/history.ts';
import type { IntentResult } from '../../src/locks/path-by-path.ts';
import { lockPath } from '../client/test-client.ts';
import {
  acquiring,
  conflictOf,
  errorOf,
  grantedTo,
  iso,
  knownLock,
  refused,
  serviceOf,
  start,
  type WaitingRequest,
} from './samples.ts';

const second = 1_000;

/** Duration of each request in these tests. */
const requestMs = 20;

type HeldPath = Extract<IntentResult, { readonly kind: 'held' }>;

const origin = 'https://ci.example.com/runs/7';
const holderOf = (path: LockPath) => knownLock(path, { origin, acquired_at: iso(-120 * second) });

const held = (path: LockPath, retryAfterMs?: number, more: Partial<HeldPath> = {}): IntentResult => ({
  kind: 'held',
  path,
  holder: holderOf(path),
  ...{ hasWaited: false, queue: undefined, mayBeDone: false },
  error: errorOf(refused(409, { retryAfterMs })),
  ...more,
});

/** The response of a service that confirms the wait, with the place in line if it reports one. */
const inLine = (path: LockPath, queue?: QueuePosition): IntentResult =>
  held(path, undefined, { hasWaited: true, queue });

const taken = (path: LockPath): IntentResult => grantedTo(path, iso(36_000 * second));

const failed = (failure: Failure): IntentResult => ({
  kind: 'failed',
  error: errorOf(failure),
  mayBeDone: false,
});

/** The request may have been granted. */
const lost = (failure: Failure = unanswered('deadline', 'The service', 'in time')): IntentResult => ({
  kind: 'failed',
  error: errorOf(failure),
  mayBeDone: true,
});

interface Answering {
  /** Response to the request with this number, counted from 0. */
  readonly response: (path: LockPath, number: number) => IntentResult;
  readonly paths?: readonly string[];
  readonly count?: number;
  readonly waitSeconds?: number;
  readonly random?: () => number;
  /** Response when the step asks about an unanswered request; the number counts from 0. */
  readonly settle?: (path: LockPath, number: number) => IntentResult;
  /** Response to a request that waits in line, and the delay before it. */
  readonly waitInLine?: (
    request: WaitingRequest,
    number: number,
  ) => { readonly result: IntentResult; readonly afterMs: number };
  /** Response to the release of a lock. */
  readonly release?: (path: LockPath) => ReleaseLockResult;
  readonly signal?: AbortSignal;
  /** Receives all events in order: `ask a`, `roll back a`, `sleep`, `wait a 30`. */
  readonly events?: string[];
}

/** Waits in virtual time, which passes only in pauses and requests. */
async function waiting({
  response,
  paths = ['a'],
  waitSeconds = 600,
  random = () => 0.5,
  settle = () => {
    throw new Error('No request was unanswered.');
  },
  waitInLine = () => {
    throw new Error('The service does not support waiting.');
  },
  count = paths.length,
  release = () => ({ kind: 'released' }),
  signal = new AbortController().signal,
  events = [],
}: Answering) {
  let now = start;
  const clock = (): number => now;
  const sleeps: number[] = [];
  const lines: string[] = [];
  /** Start of each request, relative to the start of the wait. */
  const askedAt: number[] = [];
  /** Time limits of the rollback requests. */
  const rollbackMs: number[] = [];
  /** The keys of the requests that wait. */
  const keys: string[] = [];
  const history = openHistory();
  const client: Partial<Client> = {
    serverNow: clock,
    ...serviceOf({
      async acquire(path) {
        events.push(`ask ${path}`);
        askedAt.push(now - start);
        now += requestMs;
        return response(path, askedAt.length - 1);
      },
      async settle(path) {
        events.push(`settle ${path}`);
        now += requestMs;
        return settle(path, events.filter((event) => event.startsWith('settle')).length - 1);
      },
      async waitInLine(request) {
        events.push(`wait ${request.path} ${request.seconds}`);
        const { result, afterMs } = waitInLine(request, keys.length);
        keys.push(request.key);
        const answersAt = now + afterMs;
        now = Math.min(request.deadline, answersAt);
        return answersAt > request.deadline ? lost() : result;
      },
      async release(path, { deadline }) {
        events.push(`roll back ${path}`);
        rollbackMs.push(deadline - now);
        return release(path);
      },
    }),
  };
  const result = await acquiring(
    client,
    {
      ...{ clock, random, signal, record: (...entries) => history.add(entries), line: (text) => lines.push(text) },
      async sleep(ms) {
        events.push('sleep');
        sleeps.push(ms);
        now += ms;
      },
    },
    { paths: paths.map(lockPath), count },
    waitSeconds,
  );
  const unanswered = history.read().unanswered.map(({ path }) => path);
  return { result, unanswered, keys, sleeps, lines, events, askedAt, tookMs: now - start, rollbackMs };
}

const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('a wait', () => {
  test('never exceeds its limit, and pauses before a last request shortly before the limit', async () => {
    await fc.assert(
      fc.asyncProperty(chance, fc.integer({ min: 1, max: 600 }), async (random, waitSeconds) => {
        const given = { response: (path: LockPath) => held(path), waitSeconds, random: () => random };
        const { result, sleeps, askedAt, tookMs } = await waiting(given);
        expect(result.kind).toBe('held');
        expect(tookMs).toBeLessThanOrEqual(waitSeconds * second);
        expect(askedAt.at(-1)).toBeGreaterThan(waitSeconds * second - 2 * second);
        // The last pause is the remaining time; each earlier pause is at least half a second.
        expect(Math.min(...sleeps.slice(0, -1), 500)).toBe(500);
        expect(sleeps.at(-1)).toBeGreaterThan(0);
      }),
    );
  });

  test('is jittered: jobs that were refused together do not retry together', async () => {
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

  test('logs with each poll who holds the path, from which run, since when and until when', async () => {
    const { lines, sleeps } = await waiting({ response: (path) => held(path), waitSeconds: 60 });
    expect(sleeps.slice(0, 2)).toEqual([0.75 * second, 1.125 * second]);
    expect(sleeps.length).toBeGreaterThan(5);
    expect(lines).toHaveLength(sleeps.length);
    for (const line of lines) {
      expect(line).toMatch(
        /^a is held by grace until 13:00 UTC \(in .*\), locked in https:\/\/ci\.example\.com\/runs\/7, since 11:58 UTC \(.* ago\)\. Waiting, \d+ s left\.$/,
      );
    }
  });
});

test('a service that fails for hours is asked more and more rarely, and logged once', async () => {
  const hours = 3_600 * second;
  const { sleeps, lines, askedAt } = await waiting({
    response: (path, number) => (number === 0 ? held(path) : failed(refused(502))),
    waitSeconds: 6 * 3_600,
    random: () => 0.999,
  });
  const inTenMinutes = askedAt.findIndex((at) => at > 600 * second) - 1;
  expect(Math.max(...sleeps.slice(1, inTenMinutes))).toBeLessThan(250);
  expect(Math.min(...sleeps.slice(1, inTenMinutes))).toBeGreaterThan(150);
  expect(Math.max(...sleeps.slice(1, -1))).toBeLessThan(5 * second);
  expect(askedAt.filter((at) => at > 5 * hours).length).toBeLessThan(730);
  expect(lines).toHaveLength(2);
});

describe('an unanswered request', () => {
  const response = (path: LockPath, number: number) => (number === 0 ? lost() : taken(path));

  test('is repeated with its key until it is answered, and keeps the lock that it was granted', async () => {
    const { events, result, unanswered } = await waiting({
      response,
      settle: (path, number) => (number < 2 ? lost() : taken(path)),
    });
    expect(events).toEqual(['ask a', 'sleep', 'settle a', 'sleep', 'settle a', 'sleep', 'settle a']);
    expect({ kind: result.kind, unanswered }).toEqual({ kind: 'acquired', unanswered: [] });
  });

  test('is not settled again after the service has responded without the result', async () => {
    const settle = (path: LockPath) => held(path, undefined, { mayBeDone: true });
    const { events, unanswered } = await waiting({ paths: ['a', 'b'], response, settle });
    expect(events).toEqual(['ask a', 'settle a', 'sleep', 'ask a', 'ask b']);
    expect(unanswered).toEqual(['a']);
  });
});

test('a path that stays held after an unanswered request is requested again with a new key', async () => {
  const { events, result, unanswered } = await waiting({
    response: (path, number) => [lost(), held(path)][number] ?? taken(path),
    settle: (path) => ({ kind: 'held', mayBeDone: true, ...conflictOf(path, 60) }),
  });
  expect(events).toEqual(['ask a', 'sleep', 'settle a', 'sleep', 'ask a', 'sleep', 'ask a']);
  expect({ kind: result.kind, unanswered }).toEqual({ kind: 'acquired', unanswered: ['a'] });
});

test('a cancelled step asks about an unanswered request once, and leaves the rest to the post-step', async () => {
  const stop = new AbortController();
  const { events, result, unanswered } = await waiting({
    response() {
      stop.abort();
      return lost();
    },
    settle: () => lost(),
    signal: stop.signal,
  });
  expect(events).toEqual(['ask a', 'settle a']);
  expect({ kind: result.kind, unanswered }).toEqual({ kind: 'cancelled', unanswered: ['a'] });
});

test('rolls back within ten seconds, and leaves the rest to the post-step', async () => {
  const response = (path: LockPath) => (path === 'b' ? held(path) : taken(path));
  const { rollbackMs } = await waiting({ paths: ['a', 'b'], response, waitSeconds: 0 });
  expect(rollbackMs).toEqual([10 * second]);
});

describe('a wait in line', () => {
  const third = { position: 3, length: 5 };
  const stillHeld = (path: LockPath, afterMs: number, queue = third) => ({ result: inLine(path, queue), afterMs });
  const granted = (path: LockPath, afterMs: number) => ({ result: taken(path), afterMs });
  const cut = (afterMs: number, failure: Failure = refused(502)) => ({ result: lost(failure), afterMs });
  const blockedAtFirst = (times: number) => (path: LockPath, number: number) =>
    number < times ? inLine(path, third) : taken(path);

  test('asks again with a new key while the path is held, and logs the holder and its place each time', async () => {
    const { events, keys, lines } = await waiting({
      response: blockedAtFirst(1),
      waitInLine: ({ path, seconds }, number) =>
        number < 2 ? stillHeld(path, seconds * second, { position: 2 - number, length: 4 }) : granted(path, 5 * second),
    });
    expect(events).toEqual(['ask a', 'wait a 30', 'wait a 30', 'wait a 30']);
    expect(new Set(keys).size).toBe(3);
    expect(lines.map((line) => /You are .*$/.exec(line)?.[0])).toEqual([
      'You are number 3 of 5 in line. Waiting, 10 min left.',
      'You are number 2 of 4 in line. Waiting, 10 min left.',
      'You are number 1 of 4 in line. Waiting, 9 min left.',
    ]);
    for (const line of lines) expect(line).toMatch(/^a is held by grace until 13:00 UTC/);
  });

  test('ends in time, and not before', async () => {
    const late = fc.integer({ min: 0, max: 3_000 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 200 }), late, async (waitSeconds, lateMs) => {
        const { result, unanswered, tookMs } = await waiting({
          response: (path) => inLine(path, third),
          settle: (path) => held(path),
          waitSeconds,
          waitInLine: ({ path, seconds }) => stillHeld(path, seconds * second + lateMs),
        });
        expect(result.kind).toBe('held');
        // An unanswered request is settled after the wait.
        expect(tookMs).toBeLessThanOrEqual(waitSeconds * second + requestMs);
        expect(tookMs).toBeGreaterThan(waitSeconds * second - second);
        expect(unanswered).toEqual([]);
      }),
    );
    const { events } = await waiting({
      response: (path) => inLine(path, third),
      waitSeconds: 45,
      waitInLine: ({ path, seconds }) => stillHeld(path, seconds * second),
    });
    expect(events).toEqual(['ask a', 'wait a 30', 'wait a 14', 'sleep', 'ask a']);
  });

  test('polls a service that confirms only a wait of 0 s', async () => {
    const { events } = await waiting({
      response: blockedAtFirst(9),
      waitInLine: ({ path }) => ({ result: held(path), afterMs: 10 }),
    });
    expect(events.filter((event) => event === 'wait a 30')).toHaveLength(3);
    expect(events.filter((event) => event === 'sleep').length).toBeGreaterThan(6);
  });

  test('repeats an unanswered request with its key within 300 ms until the service is back', async () => {
    const { events, sleeps, result, unanswered } = await waiting({
      response: blockedAtFirst(1),
      waitInLine: () => cut(5 * second),
      settle: (path, number) => (number < 50 ? lost(refused(502)) : taken(path)),
      random: () => 0.999,
    });
    expect(sleeps).toHaveLength(51);
    expect(Math.max(...sleeps)).toBeLessThan(250);
    expect(events.filter((event) => event === 'ask a')).toHaveLength(1);
    expect({ kind: result.kind, unanswered }).toEqual({ kind: 'acquired', unanswered: [] });
  });

  test('asks again within 300 ms while a service shuts down and responds at once', async () => {
    const { sleeps, events } = await waiting({
      response: blockedAtFirst(1),
      waitInLine: ({ path }, number) => (number < 10 ? stillHeld(path, 5) : granted(path, 5)),
    });
    expect(sleeps).toHaveLength(10);
    expect(Math.max(...sleeps)).toBeLessThan(250);
    expect(events.filter((event) => event === 'ask a')).toHaveLength(1);
  });

  test('asks less and less often if its place is reported at once again and again', async () => {
    const { events, sleeps } = await waiting({
      response: (path) => inLine(path, third),
      waitInLine: ({ path }) => stillHeld(path, 5),
    });
    expect(events.filter((event) => event.startsWith('wait')).length).toBeLessThan(100);
    expect(Math.max(...sleeps)).toBeGreaterThan(5 * second);
  });

  test('asks without a wait after a gateway has rejected three requests that wait', async () => {
    const { result, unanswered, events } = await waiting({
      response: blockedAtFirst(6),
      settle: (path) => inLine(path, third),
      waitInLine: () => cut(5),
    });
    expect(events.filter((event) => event === 'wait a 30')).toHaveLength(3);
    expect({ kind: result.kind, unanswered }).toEqual({ kind: 'acquired', unanswered: [] });
  });

  test('keeps to the Retry-After of a service that keeps its place, but has no capacity for its wait', async () => {
    await fc.assert(
      fc.asyncProperty(chance, fc.integer({ min: 1, max: 5 }), async (random, seconds) => {
        const { sleeps } = await waiting({
          response: (path) => held(path, seconds * second, { queue: third }),
          random: () => random,
        });
        const pauses = sleeps.slice(0, -1);
        expect(pauses.length).toBeGreaterThan(10);
        expect(Math.min(...pauses)).toBeGreaterThanOrEqual(seconds * second);
        expect(Math.max(...pauses)).toBeLessThanOrEqual(seconds * second + 100);
      }),
    );
  });

  test('does not trust a service without places that keeps responding at once', async () => {
    const { events } = await waiting({
      response: (path) => inLine(path),
      waitSeconds: 60,
      waitInLine: ({ path }) => ({ result: inLine(path), afterMs: 5 }),
    });
    expect(events.length).toBeLessThan(60);
    expect(events.filter((event) => event === 'sleep').length).toBeGreaterThan(4);
  });
});
