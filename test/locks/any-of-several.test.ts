import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import type { LockPath } from '../../src/interface/lock-path.ts';
import type { Acquisition } from '../../src/locks/acquire.ts';
import { openHistory } from '../../src/locks/ledger/history.ts';
import type { IntentResult } from '../../src/locks/path-by-path.ts';
import { lockPath } from '../client/test-client.ts';
import { runs } from '../support/runs.ts';
import { acquiring, errorOf, grantedTo, iso, knownLock, refused, serviceOf, start } from './samples.ts';
import { createVirtualTime, type VirtualTime } from './virtual-time.ts';

const second = 1_000;
const requestMs = 20;

/** Fate of a request: fails at once; or is unanswered, with or without effect; or gets the 409 of a repetition. */
type Trouble = 'none' | 'busy' | 'refused' | 'unanswered' | 'granted-unanswered' | 'granted-held';
type ReleaseTrouble = 'none' | 'busy' | 'done-busy';

type Table = Map<LockPath, string>;

interface Step {
  readonly name: string;
  readonly paths: readonly LockPath[];
  readonly count: number;
  readonly waitSeconds: number;
  readonly random: () => number;
  readonly troubles?: readonly Trouble[];
  readonly releaseTroubles?: readonly ReleaseTrouble[];
}

const busy = errorOf(refused(503));

/** A step of the action with this table, and a record of its behavior. */
function openStep(time: VirtualTime, holders: Table, step: Step) {
  const { name, paths, count, waitSeconds, random, troubles = [], releaseTroubles = [] } = step;
  const left = [...troubles];
  const leftForReleases = [...releaseTroubles];
  const lines: string[] = [];
  /** Number of its paths that it held: the maximum, and the number at each pause. */
  let max = 0;
  const whilePausing: number[] = [];
  let requests = 0;
  const isOurs = (path: LockPath): boolean => holders.get(path) === name;
  const mine = (): readonly LockPath[] => paths.filter(isOurs);
  /** Paths taken by an unanswered request, or with a failed release: not a fault of the step. */
  const excused = new Set<LockPath>();
  const counted = (): number => mine().filter((path) => !excused.has(path)).length;

  const take = (path: LockPath): boolean => {
    if (holders.has(path)) return false;
    holders.set(path, name);
    max = Math.max(max, counted());
    return true;
  };
  const granted = (path: LockPath): IntentResult => grantedTo(path, iso(36_000 * second));
  const line = { hasWaited: false, queue: undefined };
  const held = (path: LockPath): IntentResult => {
    const holder = knownLock(path, { owner: holders.get(path) });
    return { kind: 'held', path, holder, ...line, mayBeDone: false, error: errorOf(refused(409)) };
  };

  const service = serviceOf({
    async acquire(path) {
      requests += 1;
      await time.sleep(requestMs);
      const trouble = left.shift() ?? 'none';
      if (trouble === 'busy') return { kind: 'failed', error: busy, mayBeDone: false };
      if (trouble === 'refused') return { kind: 'failed', error: errorOf(refused(403)), mayBeDone: false };
      const isFree = trouble === 'unanswered' ? !holders.has(path) : take(path);
      if (trouble === 'none' || !isFree) return isFree ? granted(path) : held(path);
      if (trouble !== 'unanswered') excused.add(path);
      if (trouble !== 'granted-held') return { kind: 'failed', error: busy, mayBeDone: true };
      return { kind: 'held', path, holder: undefined, ...line, mayBeDone: true, error: busy };
    },
    async settle(path) {
      await time.sleep(requestMs);
      return isOurs(path) ? granted(path) : held(path);
    },
    async release(path) {
      await time.sleep(requestMs);
      const trouble = leftForReleases.shift() ?? 'none';
      if (trouble === 'busy') {
        excused.add(path);
        return { kind: 'failed', error: busy, mayBeDone: false };
      }
      excused.delete(path);
      if (isOurs(path)) holders.delete(path);
      return trouble === 'none' ? { kind: 'released' } : { kind: 'failed', error: busy, mayBeDone: true };
    },
  });
  const history = openHistory();
  const client: Partial<Client> = { ...service, serverNow: time.now };
  const finished = acquiring(
    client,
    {
      ...{ clock: time.now, random, record: (...all) => history.add(all), line: (text) => lines.push(text) },
      sleep(ms) {
        whilePausing.push(counted());
        return time.sleep(ms);
      },
    },
    { paths, count },
    waitSeconds,
  );
  const unreleased = () => history.read().held.map(({ grant }) => grant.path);
  return { finished, unreleased, mine, excused, max: () => max, requests: () => requests, whilePausing, lines };
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
    troubles: mostly<Trouble>('none', 'busy', 'refused', 'unanswered', 'granted-unanswered', 'granted-held'),
    releaseTroubles: mostly<ReleaseTrouble>('none', 'busy', 'done-busy'),
  }),
);

interface Played extends Pick<Step, 'count' | 'waitSeconds' | 'troubles' | 'releaseTroubles'> {
  readonly of: number;
  readonly freeAfter: readonly number[];
  readonly seed: number;
}

async function playing({ of, freeAfter, seed, ...given }: Played) {
  const time = createVirtualTime(start);
  const table: Table = new Map();
  const paths = pathsOf(of);
  for (const [index, path] of paths.entries()) {
    const seconds = freeAfter[index] ?? 0;
    if (seconds === 0) continue;
    table.set(path, 'grace');
    if (seconds < never) time.after(seconds * second, () => table.delete(path));
  }
  const step = openStep(time, table, { name: 'us', paths, random: createDraws(seed), ...given });
  let result: Acquisition | undefined;
  let endedAt = 0;
  void step.finished.then((its) => {
    result = its;
    endedAt = time.now();
  });
  await time.runUntil(start + 3_600 * second);
  if (result === undefined) throw new Error('The step has not ended.');
  return { ...step, result, tookMs: endedAt - start };
}

describe('any N of several paths', () => {
  test('are acquired completely or not at all, whatever others hold and whatever happens to the requests', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        const { result, unreleased, mine, excused, max, whilePausing, tookMs } = await playing(given);
        const round = result;
        if (round.kind === 'acquired') {
          const taken = round.grants.map(({ path }) => path);
          expect(new Set(taken).size).toBe(given.count);
          expect(taken).toHaveLength(given.count);
          expect(mine().toSorted()).toEqual(taken.toSorted());
        } else {
          // Only locks that could not be released are left to the post-step, which finds them in the ledger.
          const known = new Set<string>(unreleased());
          expect(mine().filter((path) => !known.has(path) || !excused.has(path))).toEqual([]);
        }
        expect(max()).toBeLessThanOrEqual(given.count);
        expect(Math.max(0, ...whilePausing)).toBe(0);
        expect(tookMs).toBeLessThanOrEqual(given.waitSeconds * second + (given.of + 2) * 3 * requestMs);
        if (unreleased().length === 0 && round.kind !== 'acquired') expect(excused.size).toBe(0);
      }),
      { numRuns: runs(300, 20_000) },
    );
  });

  test('are acquired within a pause after enough are free', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        const { result, tookMs } = await playing({ ...given, waitSeconds: 120, troubles: [], releaseTroubles: [] });
        const enoughAfter = given.freeAfter.toSorted((one, other) => one - other)[given.count - 1] ?? 0;
        expect(result.kind).toBe(enoughAfter < never ? 'acquired' : 'held');
        const slack = 15 * second + (given.of + 2) * 4 * requestMs;
        if (enoughAfter < never) expect(tookMs).toBeLessThanOrEqual(enoughAfter * second + slack);
      }),
      { numRuns: runs(300, 10_000) },
    );
  });

  test('are requested in a random order for some of the paths, and in one fixed order for all', async () => {
    const firstOf = async (count: number, seed: number): Promise<string> => {
      const time = createVirtualTime(start);
      const table: Table = new Map();
      const given = { name: 'us', paths: pathsOf(6), count, waitSeconds: 0, random: createDraws(seed) };
      const step = openStep(time, table, given);
      const asked = step.finished.then((round) => (round.kind === 'acquired' ? (round.grants[0]?.path ?? '') : ''));
      await time.runUntil(start + second);
      return asked;
    };
    const seeds = Array.from({ length: 60 }, (_, seed) => seed * 7_919 + 1);
    expect(new Set(await Promise.all(seeds.map((seed) => firstOf(1, seed)))).size).toBe(6);
    expect(new Set(await Promise.all(seeds.map((seed) => firstOf(6, seed))))).toEqual(new Set(['seat/0']));
  });

  test('are requested no further once too many of them are held', async () => {
    const all = { of: 60, freeAfter: Array(60).fill(never), seed: 1, waitSeconds: 0 };
    expect((await playing({ ...all, count: 60 })).requests()).toBe(1);
    expect((await playing({ ...all, count: 50 })).requests()).toBeLessThan(40);
  });

  test('are requested only now and then while they are held: a wait pauses', async () => {
    const paused = { of: 6, count: 1, freeAfter: Array(6).fill(never), seed: 1, troubles: [], releaseTroubles: [] };
    const { requests, lines } = await playing({ ...paused, waitSeconds: 120 });
    expect(requests()).toBeLessThan(6 * 25);
    expect(lines.length).toBeLessThan(25);
    for (const line of lines) expect(line).toMatch(/^Too few are free: .*; and 3 more\. Waiting, /);
  });
});

test('any one of several paths is not acquired while an unknown extra lock cannot be released', async () => {
  const unlucky = { count: 1, seed: 1, of: 3, freeAfter: [0, 0, 0], troubles: ['granted-held'] as const };
  const given = await playing({ ...unlucky, waitSeconds: 0 });
  expect(given.result.kind).toBe('acquired');
  expect(given.mine()).toHaveLength(1);
  const stuck = { ...unlucky, releaseTroubles: ['busy'] as const };
  const ended = await playing({ ...stuck, waitSeconds: 0 });
  expect(ended.result).toMatchObject({ kind: 'failed', error: busy });
  // The post-step finds it in the ledger.
  expect(ended.mine()).toHaveLength(1);
  const waited = await playing({ ...stuck, waitSeconds: 60 });
  expect(waited.result.kind).toBe('acquired');
  expect(waited.mine()).toHaveLength(1);
});

/** Number of seats that each job wants, as a fraction of all. */
const fraction = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

const crowds = fc.record({
  of: fc.integer({ min: 1, max: 8 }),
  wants: fc.array(fraction, { minLength: 2, maxLength: 12 }),
  holdMs: fc.integer({ min: 0, max: 30_000 }),
  seed: fc.integer({ min: 1 }),
});

test('serves all jobs that want different numbers of the same seats, and never assigns a seat twice', async () => {
  await fc.assert(
    fc.asyncProperty(crowds, async ({ of, wants, holdMs, seed }) => {
      const time = createVirtualTime(start);
      const table: Table = new Map();
      let served = 0;
      for (const [index, part] of wants.entries()) {
        const count = 1 + Math.floor(part * of);
        const random = createDraws(seed + index * 104_729);
        const given = { name: `job ${index}`, paths: pathsOf(of), count, waitSeconds: 7_200, random };
        const step = openStep(time, table, given);
        void step.finished.then(async (round) => {
          expect(round.kind).toBe('acquired');
          expect(step.mine()).toHaveLength(count);
          await time.sleep(holdMs);
          expect(step.mine()).toHaveLength(count);
          served += 1;
          for (const path of step.mine()) table.delete(path);
        });
      }
      await time.runUntil(start + 7_200 * second);
      expect(served).toBe(wants.length);
      expect(table.size).toBe(0);
    }),
    { numRuns: runs(50, 5_000) },
  );
});
