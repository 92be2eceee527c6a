import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Grant } from '../../../src/action/ledger/entry.ts';
import { acquireLocks, type WaitResult } from '../../../src/action/locks/acquire.ts';
import type { AcquireResult } from '../../../src/action/locks/session.ts';
import { type Client, createClient, parseWorkspaceId } from '../../../src/client/client.ts';
import type { Failure } from '../../../src/client/service-error.ts';
import { ServiceError } from '../../../src/client/service-error.ts';
import type { WaitResult as WaitAnswer, WaitRequest } from '../../../src/client/wait-for-release.ts';
import { type LockPath, parseLockPath } from '../../../src/interface/lock-path.ts';
import { parseTtl } from '../../../src/interface/ttl.ts';

const start = Date.UTC(2026, 2, 1, 12);
const second = 1_000;

/** How long each request takes in these tests. */
const requestMs = 20;

function lockPath(text: string): LockPath {
  const path = parseLockPath(text);
  if (!path.ok) throw new Error(path.why);
  return path.value;
}

function hour() {
  const ttl = parseTtl('1h');
  if (!ttl.ok) throw new Error(ttl.why);
  return ttl.value;
}

function game() {
  const workspace = parseWorkspaceId('game');
  if (!workspace.ok) throw new Error(workspace.why);
  return workspace.value;
}

const errorOf = (failure: Failure): ServiceError =>
  new ServiceError({ method: 'POST', path: '/v1/workspaces/game/locks', attempts: 1 }, failure);

const refusedBecauseHeld = errorOf({
  kind: 'refused',
  status: 409,
  requestId: undefined,
  words: 'It is held.',
  fields: [],
  missingScope: undefined,
  retryAfterMs: undefined,
});

const holderOf = (path: LockPath) => ({
  path,
  type: 'exclusive',
  id: undefined,
  etag: undefined,
  owner: 'grace',
  origin: 'https://ci.example.com/runs/7',
  acquired_at: new Date(start - 120 * second).toISOString(),
  expires_at: new Date(start + 3_600 * second).toISOString(),
  fence: undefined,
  raw: {},
});

const held = (path: LockPath, retryAfterMs?: number): AcquireResult => ({
  kind: 'held',
  path,
  holder: holderOf(path),
  retryAfterMs,
  error: refusedBecauseHeld,
});

const grantOf = (path: LockPath): Grant => ({
  kind: 'granted',
  service: 'https://workspaces.example.com/v1',
  workspace: 'game',
  path,
  step: 'step',
  key: path,
  at: new Date(start).toISOString(),
  waitedMs: 0,
  lock: { path, type: 'exclusive', expires_at: new Date(start + 36_000 * second).toISOString() },
});

const taken = (path: LockPath): AcquireResult => ({ kind: 'acquired', grant: grantOf(path), isNew: true });

interface Answering {
  /** What the service says to a request, the first of which has the number 0. */
  readonly answer: (path: LockPath, number: number) => AcquireResult;
  readonly paths?: readonly string[];
  readonly waitSeconds: number;
  readonly random?: () => number;
  /** What the service says to who asks to be told, and after how long; it knows nothing of that if this is not given. */
  readonly tell?: (request: WaitRequest, number: number) => { readonly result: WaitAnswer; readonly afterMs: number };
}

interface Waited {
  readonly result: WaitResult;
  readonly sleeps: readonly number[];
  readonly lines: readonly string[];
  /** What happened, in its order: `ask a`, `give back a`, `sleep`, `listen a 30`. */
  readonly events: readonly string[];
  /** When each request began, since the beginning. */
  readonly askedAt: readonly number[];
  readonly tookMs: number;
  /** How long each lock that is given back may take for it. */
  readonly givingBackMs: readonly number[];
}

/** A wait whose time passes only while it sleeps or asks. */
async function waiting({ answer, paths = ['a'], waitSeconds, random = () => 0.5, tell }: Answering): Promise<Waited> {
  let now = start;
  const clock = (): number => now;
  const real = createClient({
    baseUrl: 'https://workspaces.example.com/v1',
    token: 'wsa_x',
    userAgent: 'test',
    clock,
  });
  onTestFinished(() => real.dispose());
  const sleeps: number[] = [];
  const lines: string[] = [];
  const events: string[] = [];
  const askedAt: number[] = [];
  const givingBackMs: number[] = [];
  let listened = 0;
  const client: Client = {
    ...real,
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
  const nothing = (): void => undefined;
  const result = await acquireLocks(
    {
      client,
      terms: { service: 'https://workspaces.example.com/v1', workspace: game(), type: 'exclusive', ttl: hour() },
      clock,
      random,
      signal: new AbortController().signal,
      connection: { requestTimeout: { seconds: 30 } },
      log: { line: (text) => lines.push(text), warn: nothing, debug: nothing, group: nothing },
      async sleep(ms) {
        events.push('sleep');
        sleeps.push(ms);
        now += ms;
      },
      session: {
        async acquire(path) {
          events.push(`ask ${path}`);
          askedAt.push(now - start);
          now += requestMs;
          return answer(path, askedAt.length - 1);
        },
        settle: () => Promise.reject(new Error('Nothing was unclear.')),
        async release({ path }, { deadline }) {
          events.push(`give back ${path}`);
          givingBackMs.push(deadline - now);
          return { kind: 'released' };
        },
      },
    },
    paths.map(lockPath),
    { seconds: waitSeconds },
  );
  return { result, sleeps, lines, events, askedAt, tookMs: now - start, givingBackMs };
}

const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('a wait', () => {
  test('is never longer than was said, and its last request comes shortly before its end, with a pause before it', async () => {
    await fc.assert(
      fc.asyncProperty(chance, fc.integer({ min: 1, max: 600 }), async (random, waitSeconds) => {
        const { result, sleeps, askedAt, tookMs } = await waiting({
          answer: (path) => held(path),
          waitSeconds,
          random: () => random,
        });
        expect(result.round.kind).toBe('held');
        expect(tookMs).toBeLessThanOrEqual(waitSeconds * second);
        expect(askedAt.at(-1)).toBeGreaterThan(waitSeconds * second - 2 * second);
        // The last pause is what was left; each before it is half a second at least.
        expect(Math.min(...sleeps.slice(0, -1), 500)).toBe(500);
        expect(sleeps.at(-1)).toBeGreaterThan(0);
      }),
    );
  });

  test('of one is not the wait of another: those who were sent away together do not come back together', async () => {
    await fc.assert(
      fc.asyncProperty(
        chance,
        chance,
        fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined }),
        async (one, other, retryAfter) => {
          fc.pre(Math.abs(one - other) > 0.1);
          const wait = (random: number) =>
            waiting({
              answer: (path) => held(path, retryAfter && retryAfter * second),
              waitSeconds: 600,
              random: () => random,
            });
          const [[first = 0], [later = 0]] = [(await wait(one)).sleeps, (await wait(other)).sleeps];
          expect(Math.abs(first - later)).toBeGreaterThan(40);
        },
      ),
    );
  });

  test('is as long as the service asks for with Retry-After, whether somebody holds the path or it is too busy', async () => {
    const tooBusy = errorOf({
      kind: 'refused',
      status: 429,
      requestId: undefined,
      words: undefined,
      fields: [],
      missingScope: undefined,
      retryAfterMs: 20 * second,
    });
    const { sleeps } = await waiting({
      answer: (path, number) => {
        if (number === 0) return held(path, 30 * second);
        return number === 1 ? { kind: 'failed', error: tooBusy } : taken(path);
      },
      waitSeconds: 600,
      random: () => 0,
    });
    expect(sleeps).toEqual([30 * second, 20 * second]);
  });

  test.each<[string, Failure]>([
    ['an attempt that took too long', { kind: 'timeout', limitMs: 30 * second }],
    [
      'a lost connection',
      { kind: 'connection', code: 'ECONNRESET', words: 'it was reset', mayHaveArrived: false, untrusted: false },
    ],
  ])('goes on after %s', async (_, failure) => {
    const { result } = await waiting({
      answer: (path, number) =>
        number === 1 ? { kind: 'failed', error: errorOf(failure) } : number === 0 ? held(path) : taken(path),
      waitSeconds: 600,
    });
    expect(result.round.kind).toBe('acquired');
  });

  test('says with each poll who holds what, from which run, since when, and until when', async () => {
    const { lines, sleeps } = await waiting({ answer: (path) => held(path), waitSeconds: 60 });
    expect(sleeps.length).toBeGreaterThan(5);
    expect(lines).toHaveLength(sleeps.length);
    for (const line of lines) {
      expect(line).toMatch(
        /^a is held by grace until 13:00 UTC \(in .*\), taken by https:\/\/ci\.example\.com\/runs\/7, since 11:58 UTC \(.* ago\)\. Waiting, \d+ s left\.$/,
      );
    }
  });

  test('has none of the paths in the meantime: what was taken is given back before the pause', async () => {
    const { events, result } = await waiting({
      paths: ['a', 'b'],
      answer: (path, number) => (path === 'b' && number < 3 ? held(path) : taken(path)),
      waitSeconds: 600,
    });
    expect(events).toEqual(['ask a', 'ask b', 'give back a', 'sleep', 'ask b', 'sleep', 'ask b', 'ask a']);
    expect(result.round.kind).toBe('acquired');
  });
});

test('what could not be had is given back within ten seconds, and the rest is left to the post-step', async () => {
  const { givingBackMs } = await waiting({
    paths: ['a', 'b'],
    answer: (path) => (path === 'b' ? held(path) : taken(path)),
    waitSeconds: 0,
  });
  expect(givingBackMs).toEqual([10 * second]);
});

describe('a wait on a service that tells when a path is free', () => {
  const stillHeld = ({ path, seconds }: WaitRequest) =>
    ({ result: { kind: 'held', holder: holderOf(path) }, afterMs: seconds * second }) as const;

  test('asks for the path as soon as it is told, and then for the others', async () => {
    const { events, result } = await waiting({
      paths: ['a', 'b'],
      answer: (path, number) => (path === 'b' && number === 1 ? held(path) : taken(path)),
      waitSeconds: 600,
      tell: () => ({ result: { kind: 'free' }, afterMs: 7 * second }),
    });
    expect(events).toEqual(['ask a', 'ask b', 'give back a', 'listen b 30', 'ask b', 'ask a']);
    expect(result.round.kind).toBe('acquired');
    expect(result.waitedMs).toBe(7 * second + 4 * requestMs);
  });

  test('asks to be told again when it is still held, and says each time who holds it', async () => {
    const { events, lines } = await waiting({
      answer: (path, number) => (number === 0 ? held(path) : taken(path)),
      waitSeconds: 600,
      tell: (request, number) =>
        number < 2 ? stillHeld(request) : { result: { kind: 'free' } as const, afterMs: 5 * second },
    });
    expect(events).toEqual(['ask a', 'listen a 30', 'listen a 30', 'listen a 30', 'ask a']);
    expect(lines.map((line) => /Waiting, .*$/.exec(line)?.[0])).toEqual([
      'Waiting, 10 min left.',
      'Waiting, 10 min left.',
      'Waiting, 9 min left.',
    ]);
    for (const line of lines) expect(line).toMatch(/^a is held by grace until 13:00 UTC/);
  });

  test('ends in time, with a last request before it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 200 }),
        fc.integer({ min: 0, max: 3_000 }),
        async (waitSeconds, late) => {
          const { result, askedAt, tookMs, events } = await waiting({
            answer: (path) => held(path),
            waitSeconds,
            tell: ({ path, seconds }) => ({
              result: { kind: 'held', holder: holderOf(path) },
              afterMs: seconds * second + late,
            }),
          });
          expect(result.round.kind).toBe('held');
          expect(tookMs).toBeLessThanOrEqual(waitSeconds * second);
          expect(askedAt.at(-1)).toBeGreaterThan(waitSeconds * second - 2 * second);
          expect(events.at(-1)).toBe('ask a');
        },
      ),
    );
  });

  test('looks now and then where the service does not wait, and does not ask it to again', async () => {
    const { events, result } = await waiting({
      answer: (path, number) => (number < 3 ? held(path) : taken(path)),
      waitSeconds: 600,
      tell: () => ({ result: { kind: 'unsupported' }, afterMs: 10 }),
    });
    expect(events).toEqual(['ask a', 'listen a 30', 'sleep', 'ask a', 'sleep', 'ask a', 'sleep', 'ask a']);
    expect(result.round.kind).toBe('acquired');
  });

  test('goes on listening after an interruption', async () => {
    const { events } = await waiting({
      answer: (path, number) => (number < 2 ? held(path) : taken(path)),
      waitSeconds: 600,
      tell: (request, number) => {
        if (number === 0) return stillHeld(request);
        return { result: { kind: number === 1 ? 'failed' : 'free' }, afterMs: 2 * second };
      },
    });
    expect(events).toEqual(['ask a', 'listen a 30', 'listen a 30', 'sleep', 'ask a', 'listen a 30', 'ask a']);
  });

  test.each(['free', 'held'] as const)('does not believe one that says %s at once, again and again', async (kind) => {
    const { events } = await waiting({
      answer: (path) => held(path),
      waitSeconds: 60,
      tell: ({ path }) => ({
        result: kind === 'free' ? { kind } : { kind, holder: holderOf(path) },
        afterMs: 5,
      }),
    });
    expect(events.length).toBeLessThan(60);
    expect(events.filter((event) => event === 'sleep').length).toBeGreaterThan(4);
  });
});
