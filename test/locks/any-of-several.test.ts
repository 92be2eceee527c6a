import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import type { LockPath } from '../../src/interface/lock-path.ts';
import { type AcquireAllResult, acquireLocks } from '../../src/locks/acquire.ts';
import type { Grant, Intent } from '../../src/locks/ledger/entry.ts';
import type { SessionAcquireResult } from '../../src/locks/session.ts';
import { lockPath } from '../client/test-client.ts';
import { runs } from '../support/runs.ts';
import { createVirtualTime, type VirtualTime } from '../support/virtual-time.ts';
import {
  errorOf,
  grantOf,
  intentOf,
  iso,
  knownLock,
  lockOf,
  refused,
  sessionOf,
  start,
  terms,
  type WaitingRequest,
} from './samples.ts';

const second = 1_000;
const requestMs = 20;

/** Fate of a request: fails at once; or is unanswered, with or without effect; or gets the 409 of a repetition. */
type Trouble = 'none' | 'busy' | 'refused' | 'unanswered' | 'granted-unanswered' | 'granted-held';
type ReleaseTrouble = 'none' | 'busy' | 'done-busy';

interface Waiter {
  readonly path: LockPath;
  readonly end: (how: 'granted' | 'held' | 'gone') => void;
}

/** The current holders, and the requests that wait for a path, in the order in which their steps first asked for it. */
function createTable(time: VirtualTime) {
  const holders = new Map<LockPath, string>();
  const waiting = new Map<string, Waiter>();
  const lines = new Map<LockPath, Set<string>>();
  const lineOf = (path: LockPath): Set<string> => lines.get(path) ?? new Set();
  const isWaiting = (name: string, path: LockPath): boolean => waiting.get(name)?.path === path;

  /** Grants the path to the first step that waits for it. */
  function serve(path: LockPath): void {
    const name = [...lineOf(path)].find((one) => isWaiting(one, path));
    if (holders.has(path) || name === undefined) return;
    holders.set(path, name);
    lineOf(path).delete(name);
    waiting.get(name)?.end('granted');
  }

  return {
    holders,
    release(path: LockPath): void {
      holders.delete(path);
      serve(path);
    },
    /** Takes a place with the first refusal. Nobody who waits is overtaken. */
    take(name: string, path: LockPath): boolean {
      const line = [...lineOf(path).add(name)];
      lines.set(path, new Set(line));
      const ahead = line.slice(0, line.indexOf(name));
      if (holders.has(path) || ahead.some((other) => isWaiting(other, path))) return false;
      holders.set(path, name);
      lineOf(path).delete(name);
      return true;
    },
    wait: (name: string, { path, seconds, signal }: WaitingRequest): Promise<Parameters<Waiter['end']>[0]> =>
      new Promise((resolve) => {
        const end: Waiter['end'] = (how) => {
          if (waiting.get(name) !== waiter) return;
          waiting.delete(name);
          cancel();
          time.fulfil(resolve, how);
          // Those behind may have waited for this step.
          serve(path);
        };
        const waiter: Waiter = { path, end };
        lines.set(path, lineOf(path).add(name));
        const cancel = time.after(seconds * second, () => end('held'));
        waiting.set(name, waiter);
        // The repetition of a granted request.
        if (holders.get(path) === name) end('granted');
        signal?.addEventListener('abort', () => end('gone'));
        serve(path);
      }),
  };
}

type Table = ReturnType<typeof createTable>;

interface Step {
  readonly name: string;
  readonly paths: readonly LockPath[];
  readonly count: number;
  readonly waitSeconds: number;
  readonly random: () => number;
  readonly troubles?: readonly Trouble[];
  readonly releaseTroubles?: readonly ReleaseTrouble[];
  readonly waits?: boolean;
  readonly signal?: AbortSignal;
}

const busy = errorOf(refused(503));

/** A step of the action with this table, and a record of its behavior. */
function openStep(time: VirtualTime, table: Table, step: Step) {
  const { name, paths, count, waitSeconds, random, troubles = [], releaseTroubles = [], waits = true } = step;
  const { signal = new AbortController().signal } = step;
  const left = [...troubles];
  const leftForReleases = [...releaseTroubles];
  const lines: string[] = [];
  /** Number of its paths that it held: the maximum, and the number at each pause. */
  let max = 0;
  const whilePausing: number[] = [];
  let requests = 0;
  const isOurs = (path: LockPath): boolean => table.holders.get(path) === name;
  const mine = (): readonly LockPath[] => paths.filter(isOurs);
  /** Paths taken by an unanswered request, or with a failed release: not a fault of the step. */
  const excused = new Set<LockPath>();
  const repeated = new Set<Intent>();
  const pause = (): void => void whilePausing.push(mine().filter((path) => !excused.has(path)).length);

  const noteMax = (): void => {
    max = Math.max(max, mine().filter((one) => !excused.has(one)).length);
  };
  const take = (path: LockPath): boolean => {
    const isTaken = table.take(name, path);
    if (isTaken) noteMax();
    return isTaken;
  };
  const granted = (path: LockPath): SessionAcquireResult => {
    const grant: Grant = grantOf(path, { lock: lockOf(path, { expires_at: iso(36_000 * second) }) });
    return { kind: 'acquired', grant, grantedAt: Number.POSITIVE_INFINITY };
  };
  const held = (path: LockPath): SessionAcquireResult => ({
    kind: 'held',
    path,
    holder: table.holders.has(path) ? knownLock(path, { owner: table.holders.get(path) }) : undefined,
    retryAfterMs: undefined,
    hasWaited: waits && paths.length === 1,
    queue: waits && paths.length === 1 ? { position: 1, length: 1 } : undefined,
    error: errorOf(refused(409)),
  });

  const session = sessionOf({
    async acquire(path) {
      requests += 1;
      await time.sleep(requestMs);
      const trouble = left.shift() ?? 'none';
      if (trouble === 'busy') return { kind: 'failed', error: busy, mayBeDone: false };
      if (trouble === 'refused') return { kind: 'failed', error: errorOf(refused(403)) };
      const isFree = trouble === 'unanswered' ? !table.holders.has(path) : take(path);
      if (trouble === 'none' || !isFree) return isFree ? granted(path) : held(path);
      if (trouble !== 'unanswered') excused.add(path);
      const unknown = { holder: undefined, retryAfterMs: undefined, queue: undefined };
      const conflict = { path, ...unknown, hasWaited: false, error: busy };
      const intent = intentOf(path, { key: `${path} ${requests}` });
      return { kind: 'unanswered', intent, error: busy, conflict: trouble === 'granted-held' ? conflict : undefined };
    },
    async settle(intent) {
      await time.sleep(requestMs);
      const path = lockPath(intent.path);
      return isOurs(path) ? granted(path) : held(path);
    },
    async release({ path: text }) {
      await time.sleep(requestMs);
      const path = lockPath(text);
      const trouble = leftForReleases.shift() ?? 'none';
      if (trouble === 'busy') {
        excused.add(path);
        return { kind: 'failed', error: busy, mayBeDone: false };
      }
      excused.delete(path);
      if (isOurs(path)) table.release(path);
      return trouble === 'none' ? { kind: 'released' } : { kind: 'unanswered', error: busy };
    },
    async waitInLine(request) {
      const { path, intent } = request;
      pause();
      requests += 1;
      const trouble = left.shift() ?? 'none';
      const isRepeated = repeated.has(intent);
      repeated.add(intent);
      if (trouble === 'refused') {
        const error = errorOf(refused(403));
        return isRepeated ? { kind: 'unanswered', intent, error, conflict: undefined } : { kind: 'failed', error };
      }
      const how = await table.wait(name, request);
      const isLost = how === 'gone' || trouble !== 'none';
      if (how !== 'granted') {
        return isLost ? { kind: 'unanswered', intent, error: busy, conflict: undefined } : held(path);
      }
      if (isLost) excused.add(path);
      noteMax();
      return isLost ? { kind: 'unanswered', intent, error: busy, conflict: undefined } : granted(path);
    },
  });
  const client: Pick<Client, 'serverNow' | 'listLocks'> = {
    serverNow: time.now,
    async listLocks() {
      requests += 1;
      await time.sleep(requestMs);
      return {
        items: [...table.holders.keys()].map((path) => knownLock(path)),
        incomplete: undefined,
      };
    },
  };
  const finished: Promise<AcquireAllResult> = acquireLocks(
    {
      // A wait uses no other methods.
      client: client as Client,
      terms,
      record: () => undefined,
      clock: time.now,
      random,
      signal,
      withoutWait: { deadline: time.now() + 150_000, signal },
      log: { line: (text) => lines.push(text) },
      sleep(ms) {
        pause();
        return time.sleep(ms);
      },
      session,
    },
    { paths, count },
    { wait: { seconds: waitSeconds }, urgency: 3 },
  );
  return { finished, mine, excused, max: () => max, requests: () => requests, whilePausing, lines };
}

const pathsOf = (count: number): readonly LockPath[] =>
  Array.from({ length: count }, (_, index) => lockPath(`seat/${index}`));

/** Numbers from 0 up to 1, the same for the same seed. */
function createDraws(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const mostly = <T>(usual: T, ...others: readonly T[]) =>
  fc.array(fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, ...others.map((one) => fc.constant(one))), {
    maxLength: 12,
  });

const never = 1_000;

const steps = fc.integer({ min: 1, max: 12 }).chain((of) =>
  fc.record({
    of: fc.constant(of),
    count: fc.integer({ min: 1, max: of }),
    /** Seconds until other holders release each path: 0 if it was never held, `never` if they keep it. */
    freeAfter: fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 90 }), fc.constant(never)), {
      minLength: of,
      maxLength: of,
    }),
    waitSeconds: fc.constantFrom(0, 5, 120),
    seed: fc.integer({ min: 1 }),
    waits: fc.boolean(),
    troubles: mostly<Trouble>('none', 'busy', 'refused', 'unanswered', 'granted-unanswered', 'granted-held'),
    releaseTroubles: mostly<ReleaseTrouble>('none', 'busy', 'done-busy'),
  }),
);

interface Played extends Pick<Step, 'count' | 'waitSeconds' | 'troubles' | 'releaseTroubles' | 'waits'> {
  readonly of: number;
  readonly freeAfter: readonly number[];
  readonly seed: number;
}

async function playing({ of, freeAfter, seed, ...given }: Played) {
  const time = createVirtualTime(start);
  const table = createTable(time);
  const paths = pathsOf(of);
  for (const [index, path] of paths.entries()) {
    const seconds = freeAfter[index] ?? 0;
    if (seconds === 0) continue;
    table.holders.set(path, 'grace');
    if (seconds < never) time.after(seconds * second, () => table.release(path));
  }
  const step = openStep(time, table, { name: 'us', paths, random: createDraws(seed), ...given });
  let result: AcquireAllResult | undefined;
  let endedAt = 0;
  void step.finished.then((its) => {
    result = its;
    endedAt = time.now();
  });
  await time.runUntil(start + 3_600 * second);
  if (result === undefined) throw new Error('The step has not ended.');
  return { ...step, result, tookMs: endedAt - start, table };
}

describe('any N of several paths', () => {
  test('are acquired completely or not at all, whatever others hold and whatever happens to the requests', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        const { result, mine, excused, max, whilePausing, tookMs } = await playing(given);
        const { round } = result;
        const owed = round.rollback.releases.filter(
          ({ result: { kind } }) => kind === 'failed' || kind === 'unanswered',
        );
        if (round.kind === 'acquired') {
          const taken = round.grants.map(({ path }) => path);
          expect(new Set(taken).size).toBe(given.count);
          expect(taken).toHaveLength(given.count);
          expect(mine().toSorted()).toEqual(taken.toSorted());
        } else {
          // The locks that could not be released are known, and left to the post-step.
          const known = new Set<string>(owed.map(({ grant }) => grant.path));
          expect(mine().filter((path) => !known.has(path))).toEqual([]);
        }
        expect(max()).toBeLessThanOrEqual(given.count);
        expect(Math.max(0, ...whilePausing)).toBe(0);
        expect(tookMs).toBeLessThanOrEqual(given.waitSeconds * second + (given.of + 2) * 3 * requestMs);
        if (owed.length === 0 && round.kind !== 'acquired') expect(excused.size).toBe(0);
      }),
      { numRuns: runs(300, 20_000) },
    );
  });

  test('are acquired as soon as enough are free, whether or not the service supports waiting', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        const { result, tookMs } = await playing({ ...given, waitSeconds: 120, troubles: [], releaseTroubles: [] });
        const enoughAfter = given.freeAfter.toSorted((one, other) => one - other)[given.count - 1] ?? 0;
        expect(result.round.kind).toBe(enoughAfter < never ? 'acquired' : 'held');
        const slack = (given.of + 2) * 4 * requestMs;
        // A step with several paths polls: only a service with leases has a line for them.
        const longestPause = given.waits && given.of === 1 ? 0 : 15 * second;
        if (enoughAfter < never) expect(tookMs).toBeLessThanOrEqual(enoughAfter * second + longestPause + slack);
      }),
      { numRuns: runs(300, 10_000) },
    );
  });

  test('are requested in a random order for some of the paths, and in one fixed order for all', async () => {
    const firstOf = async (count: number, seed: number): Promise<string> => {
      const time = createVirtualTime(start);
      const table = createTable(time);
      const step = openStep(time, table, {
        name: 'us',
        paths: pathsOf(6),
        count,
        waitSeconds: 0,
        random: createDraws(seed),
      });
      const asked = step.finished.then(({ round }) => (round.kind === 'acquired' ? (round.grants[0]?.path ?? '') : ''));
      await time.runUntil(start + second);
      return asked;
    };
    const seeds = Array.from({ length: 60 }, (_, seed) => seed * 7_919 + 1);
    expect(new Set(await Promise.all(seeds.map((seed) => firstOf(1, seed)))).size).toBe(6);
    expect(new Set(await Promise.all(seeds.map((seed) => firstOf(6, seed))))).toEqual(new Set(['seat/0']));
  });

  test('are requested only now and then while they are held: a wait pauses', async () => {
    const paused = { of: 6, count: 1, freeAfter: Array(6).fill(never), seed: 1, troubles: [], releaseTroubles: [] };
    const { requests, lines } = await playing({ ...paused, waitSeconds: 120, waits: true });
    expect(requests()).toBeLessThan(6 * 25);
    expect(lines.length).toBeLessThan(25);
    for (const line of lines) expect(line).toMatch(/^None of the 6 paths is free: .*; and 3 more\. Waiting, /);
  });
});

describe('any one of several paths', () => {
  const plain = { count: 1, seed: 1, waits: true, troubles: [], releaseTroubles: [] };

  test('is found within seconds of its release, even with more paths than a step can wait for', async () => {
    for (let freed = 0; freed < 12; freed += 1) {
      const freeAfter = Array.from({ length: 12 }, (_, index) => (index === freed ? 8 : never));
      const { result, tookMs } = await playing({ ...plain, of: 12, freeAfter, waitSeconds: 120 });
      expect(result.round).toMatchObject({ kind: 'acquired', grants: [{ path: `seat/${freed}` }] });
      expect(tookMs).toBeLessThan(8 * second + 15 * second);
    }
  });

  test('is not acquired while an unknown extra lock cannot be released', async () => {
    const unlucky = { ...plain, of: 3, freeAfter: [0, 0, 0], troubles: ['granted-held'] as const };
    const given = await playing({ ...unlucky, waitSeconds: 0 });
    expect(given.result.round.kind).toBe('acquired');
    expect(given.mine()).toHaveLength(1);
    const stuck = { ...unlucky, releaseTroubles: ['busy'] as const };
    const ended = await playing({ ...stuck, waitSeconds: 0 });
    expect(ended.result.round).toMatchObject({ kind: 'failed', error: busy });
    // The post-step finds it in the ledger.
    expect(ended.mine()).toHaveLength(1);
    const waited = await playing({ ...stuck, waitSeconds: 60 });
    expect(waited.result.round.kind).toBe('acquired');
    expect(waited.mine()).toHaveLength(1);
  });
});

const crowds = fc.record({
  of: fc.integer({ min: 1, max: 8 }),
  /** Number of paths that each job wants, as a fraction of all paths. */
  wants: fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 2, maxLength: 12 }),
  holdMs: fc.integer({ min: 0, max: 30_000 }),
  waits: fc.boolean(),
  seed: fc.integer({ min: 1 }),
});

test('serves all jobs that want different numbers of the same seats, and never assigns a seat twice', async () => {
  await fc.assert(
    fc.asyncProperty(crowds, async ({ of, wants, holdMs, waits, seed }) => {
      const time = createVirtualTime(start);
      const table = createTable(time);
      const paths = pathsOf(of);
      let served = 0;
      for (const [index, part] of wants.entries()) {
        const name = `job ${index}`;
        const count = 1 + Math.floor(part * of);
        const random = createDraws(seed + index * 104_729);
        const step = openStep(time, table, { name, paths, count, waitSeconds: 7_200, random, waits });
        void step.finished.then(async ({ round }) => {
          expect(round.kind).toBe('acquired');
          expect(step.mine()).toHaveLength(count);
          await time.sleep(holdMs);
          expect(step.mine()).toHaveLength(count);
          served += 1;
          for (const path of step.mine()) table.release(path);
        });
      }
      await time.runUntil(start + 7_200 * second);
      expect(served).toBe(wants.length);
      expect(table.holders.size).toBe(0);
    }),
    { numRuns: runs(100, 5_000) },
  );
});
