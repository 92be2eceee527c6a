import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  createLockWaiters,
  graceMs,
  maxWaiters,
  maxWaitersOfToken,
  type ReleasedLock,
  type WaitOutcome,
} from '../../../src/service/locks/waiters.ts';

const workspace = 'game';

/** Locks, clients that wait for them, and a clock that advances only when a test moves it. */
function createWorld() {
  const locks = new Map<string, { readonly id: string; until: number }>();
  const counts: number[] = [];
  const errors: unknown[] = [];
  let made = 0;
  let queries = 0;
  let broken = false;
  let hears: ((lock: ReleasedLock | undefined) => void) | undefined;

  const waiters = createLockWaiters({
    async find({ path }) {
      queries += 1;
      if (broken) throw new Error('The database does not answer.');
      const lock = locks.get(path);
      const remainingMs = (lock?.until ?? 0) - Date.now();
      // A response takes a moment, in which other things can happen.
      await new Promise((resolve) => setTimeout(resolve, 1));
      return lock && { id: lock.id, live: remainingMs > 0, remainingMs };
    },
    watchOthers(onRelease) {
      hears = onRelease;
      return () => {
        hears = undefined;
      };
    },
    after(ms, work) {
      const timer = setTimeout(work, ms);
      return () => clearTimeout(timer);
    },
    onCount: (_, change) => counts.push((counts.at(-1) ?? 0) + change),
    onError: (error) => errors.push(error),
  });

  const told: string[] = [];
  const outcomes = new Map<string, WaitOutcome>();
  return {
    waiters,
    told,
    outcomes,
    errors,
    counts,
    queries: () => queries,
    isListening: () => hears !== undefined,
    breakDatabase(now: boolean) {
      broken = now;
    },
    hold(path: string, seconds = 3_600) {
      made += 1;
      locks.set(path, { id: `lock_${made}`, until: Date.now() + seconds * 1_000 });
    },
    renew(path: string, seconds: number) {
      const lock = locks.get(path);
      if (lock !== undefined) lock.until = Date.now() + seconds * 1_000;
      waiters.renewed({ workspace, path });
    },
    isFree: (path: string) => (locks.get(path)?.until ?? 0) <= Date.now(),
    release(path: string) {
      const lock = locks.get(path);
      locks.delete(path);
      if (lock !== undefined) waiters.released({ workspace, path, id: lock.id });
      return lock?.id ?? '';
    },
    releaseElsewhere(path: string, tells: 'which' | 'something') {
      const lock = locks.get(path);
      locks.delete(path);
      hears?.(tells === 'which' && lock !== undefined ? { workspace, path, id: lock.id } : undefined);
      return lock?.id ?? '';
    },
    hear: (lock: ReleasedLock | undefined) => hears?.(lock),
    /** Starts to wait; undefined if too many clients wait already. */
    arrive(name: string, { path = 'a', seconds = 30, tokenId = 'tok', owner = name, mayTake = true } = {}) {
      const gone = new AbortController();
      const asker = { tokenId, owner, origin: null, mayTake };
      const waiting = waiters.wait({ workspace, path, seconds, ...asker, gone: gone.signal });
      if (waiting === undefined) return undefined;
      void waiting.then((outcome) => {
        outcomes.set(name, outcome);
        if (outcome === 'free') told.push(name);
      });
      return { leave: () => gone.abort() };
    },
  };
}

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
/** Longer than a lookup, and much shorter than the grace period. */
const moment = 5;

/** A world with a held path, and these clients waiting for it. */
async function worldWith(...names: readonly string[]) {
  const world = createWorld();
  world.hold('a');
  for (const name of names) world.arrive(name);
  await pass(moment);
  return world;
}

describe('clients that wait for a path', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('are notified without a grace period if the previous client has taken and released the path', async () => {
    const world = await worldWith('first', 'second');
    world.release('a');
    await pass(moment);
    world.hold('a');
    await pass(moment);
    world.release('a');
    await pass(moment);
    expect(world.told).toEqual(['first', 'second']);
  });

  test('are listed as waiting while the path is held, and not after they are notified', async () => {
    const world = await worldWith('first', 'second');
    world.arrive('for what is free', { path: 'b' });
    const waiting = () => world.waiters.waiting().map(({ owner, path }) => `${owner} ${path}`);
    await pass(moment);
    expect(waiting()).toEqual(['first a', 'second a']);
    world.release('a');
    await pass(moment);
    world.hold('a');
    await pass(graceMs + moment);
    expect(waiting()).toEqual(['second a']);
  });

  test('are notified after the grace period if the previous client does not take the path', async () => {
    const world = await worldWith('first', 'second', 'third');
    world.release('a');
    await pass(graceMs - moment);
    expect(world.told).toEqual(['first']);
    await pass(2 * moment);
    expect(world.told).toEqual(['first', 'second']);
    await pass(graceMs + moment);
    expect(world.told).toEqual(['first', 'second', 'third']);
  });

  test('are notified at once, without delaying others, if they may not take locks', async () => {
    const world = await worldWith();
    for (let index = 0; index < 500; index += 1) world.arrive(`reader ${index}`, { mayTake: false });
    world.arrive('honest');
    await pass(moment);
    world.release('a');
    await pass(moment);
    expect(world.told).toHaveLength(501);
    expect(world.told.at(-1)).toBe('honest');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('delay others by one grace period if all clients of an owner stay idle, and keep their order', async () => {
    const world = await worldWith();
    for (let index = 0; index < 100; index += 1)
      world.arrive(`idle ${index}`, { owner: 'idle', tokenId: `${index % 7}` });
    for (const name of ['first', 'second']) world.arrive(name);
    await pass(moment);
    world.release('a');
    await pass(graceMs + moment);
    expect(world.told).toEqual(['idle 0', 'first']);
    world.hold('a');
    await pass(graceMs + moment);
    world.release('a');
    await pass(moment);
    expect(world.told).toEqual(['idle 0', 'first', 'second']);
    await pass(2 * graceMs + moment);
    expect(world.told.slice(3)).toEqual(['idle 1', 'idle 2']);
  });

  test('are notified when the lock expires by the clock of the database, even after renewals', async () => {
    const world = createWorld();
    world.hold('a', 7);
    for (const name of ['first', 'second']) world.arrive(name);
    await pass(6_990);
    expect(world.told).toEqual([]);
    await pass(20);
    expect(world.told).toEqual(['first']);
    world.hold('a', 7);
    await pass(6_000);
    world.renew('a', 20);
    await pass(12_000);
    expect(world.told).toEqual(['first']);
    world.renew('a', 1);
    await pass(1_000 + moment);
    expect(world.told).toEqual(['first', 'second']);
  });

  test.each(['before the release', 'during the database query'])(
    'leave the queue at once if they disconnect %s, and are not notified',
    async (when) => {
      const world = await worldWith();
      const first = world.arrive('first');
      world.arrive('second');
      await pass(moment);
      if (when === 'before the release') first?.leave();
      world.release('a');
      first?.leave();
      expect(world.counts.at(-1)).toBe(1);
      await pass(moment);
      expect([...world.outcomes]).toEqual([
        ['first', 'gone'],
        ['second', 'free'],
      ]);
    },
  );

  test.each(['which', 'something'] as const)(
    'are notified exactly once of a release at another instance (reported: %s)',
    async (tells) => {
      const world = await worldWith('first', 'second');
      const id = world.releaseElsewhere('a', tells);
      await pass(moment);
      expect(world.told).toEqual(['first']);
      world.hear({ workspace, path: 'a', id });
      world.hear(undefined);
      await pass(moment);
      expect(world.told).toEqual(['first']);
    },
  );

  test('are notified even after a database outage, also one during the grace period', async () => {
    const world = await worldWith('first', 'second');
    world.breakDatabase(true);
    world.release('a');
    await pass(3_000);
    expect(world.errors.length).toBeGreaterThan(1);
    world.breakDatabase(false);
    await pass(1_100);
    expect(world.told).toEqual(['first']);
    world.breakDatabase(true);
    world.hear(undefined);
    await pass(moment);
    world.breakDatabase(false);
    await pass(1_100);
    expect(world.told).toEqual(['first', 'second']);
  });

  test('get a response at once if the service stops, as do all later ones', async () => {
    const world = await worldWith('first', 'second');
    world.hold('b');
    world.arrive('other', { path: 'b' });
    await pass(moment);
    world.waiters.stop();
    await pass(0);
    expect([...world.outcomes.values()]).toEqual(['stopped', 'stopped', 'stopped']);
    world.arrive('late');
    await pass(0);
    expect(world.outcomes.get('late')).toBe('stopped');
    expect([world.counts.at(-1), world.isListening(), vi.getTimerCount()]).toEqual([0, false, 0]);
  });

  test('cause one query per event for any number of clients, and none in between', async () => {
    const world = await worldWith(...Array.from({ length: 1_000 }, (_, index) => `waiter ${index}`));
    expect(world.queries()).toBe(1);
    await pass(20_000);
    expect(world.queries()).toBe(1);
    world.release('a');
    await pass(moment);
    world.hold('a');
    await pass(5_000);
    // One at the release, and one after the grace period.
    expect(world.queries()).toBe(3);
    expect(world.told).toEqual(['waiter 0']);
  });

  test('are limited per token and in total', async () => {
    const world = await worldWith();
    for (let index = 0; index < maxWaitersOfToken; index += 1) world.arrive(`one ${index}`, { tokenId: 'one' });
    expect(world.arrive('too many', { tokenId: 'one' })).toBeUndefined();
    let others = 0;
    while (world.arrive(`other ${others}`, { tokenId: `other ${others}` }) !== undefined) others += 1;
    expect(others).toBe(maxWaiters - maxWaitersOfToken);
    await pass(30_000);
    expect(world.counts.at(-1)).toBe(0);
    expect(world.arrive('again', { tokenId: 'one' })).toBeDefined();
  });

  test('are never notified before an earlier client that still waits, nor kept beyond their time', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('arrive' as const), seconds: fc.integer({ min: 1, max: 30 }) }),
      fc.record({ kind: fc.constant('leave' as const), which: fc.nat() }),
      fc.record({ kind: fc.constantFrom('release', 'release elsewhere', 'be told something', 'break', 'mend') }),
      fc.record({ kind: fc.constant('take' as const), seconds: fc.integer({ min: 1, max: 40 }) }),
      fc.record({ kind: fc.constant('renew' as const), seconds: fc.integer({ min: 1, max: 40 }) }),
      fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 3_000 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const world = createWorld();
        const waiting = new Map<string, { readonly until: number; leave(): void }>();
        let arrived = 0;
        const settle = (): void => {
          for (const [index, name] of [...waiting.keys()].entries()) {
            const outcome = world.outcomes.get(name);
            if (outcome === undefined) {
              expect(Date.now()).toBeLessThanOrEqual(waiting.get(name)?.until ?? 0);
            } else if (outcome === 'free') {
              // All clients that came earlier and had not left were notified before.
              const earlier = [...waiting.keys()].slice(0, index);
              expect(earlier.filter((other) => world.outcomes.get(other) === undefined)).toEqual([]);
            }
          }
          const told = world.told.map(Number);
          expect(told).toEqual(told.toSorted((one, other) => one - other));
          for (const name of world.outcomes.keys()) waiting.delete(name);
        };
        for (const each of steps) {
          switch (each.kind) {
            case 'arrive': {
              arrived += 1;
              const arrival = world.arrive(String(arrived), { seconds: each.seconds });
              if (arrival) waiting.set(String(arrived), { ...arrival, until: Date.now() + each.seconds * 1_000 });
              break;
            }
            case 'leave':
              [...waiting.values()][each.which % Math.max(1, waiting.size)]?.leave();
              break;
            case 'take':
              if (world.isFree('a')) world.hold('a', each.seconds);
              break;
            case 'renew':
              if (!world.isFree('a')) world.renew('a', each.seconds);
              break;
            case 'release':
              world.release('a');
              break;
            case 'release elsewhere':
              world.releaseElsewhere('a', 'which');
              break;
            case 'be told something':
              world.hear(undefined);
              break;
            case 'break':
            case 'mend':
              world.breakDatabase(each.kind === 'break');
              break;
            case 'pass':
              for (let ms = 0; ms < each.ms; ms += 50) {
                await pass(50);
                settle();
              }
              break;
          }
          await pass(0);
          settle();
        }
        world.breakDatabase(false);
        // The remaining clients are notified in turn once the path stays free.
        world.release('a');
        await pass(31_000);
        settle();
        expect([waiting.size, world.counts.at(-1) ?? 0, world.isListening()]).toEqual([0, 0, false]);
      }),
      { numRuns: 60 },
    );
  });
});
