import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { nameOf } from '../../../src/service/locks/find.ts';
import {
  createLockWaiters,
  maxWaiters,
  maxWaitersOfOwner,
  type WatchedPath,
} from '../../../src/service/locks/local-waiters.ts';

const workspace = 'game';

/** Locks, lines of places, and a clock that advances only when a test moves it. */
function createWorld() {
  const heldUntil = new Map<string, number>();
  const lines = new Map<string, string[]>();
  const counts: number[] = [];
  const errors: unknown[] = [];
  const outcomes: [name: string, outcome: unknown][] = [];
  let queries = 0;
  let broken = false;
  let hears: ((line: string | undefined) => void) | undefined;

  const waiters = createLockWaiters({
    async readPath({ path }) {
      queries += 1;
      if (broken) throw new Error('The database does not answer.');
      // A response takes a moment, in which other things can happen.
      await new Promise((resolve) => setTimeout(resolve, 1));
      const remainingMs = (heldUntil.get(path) ?? 0) - Date.now();
      const [id] = lines.get(path) ?? [];
      const lease = { kind: 'request', origin: null, rank: 1, size: 1, wanted: 1, keeps: false, presentMs: 1 } as const;
      const next = id === undefined ? undefined : { ...lease, id, owner: id };
      const isFree = remainingMs <= 0;
      return { isFree, next, lookAgainMs: isFree ? 300 : remainingMs };
    },
    watchOthers(onChange) {
      hears = onChange;
      return () => {
        hears = undefined;
      };
    },
    onCount: (_, change) => counts.push((counts.at(-1) ?? 0) + change),
    onError: (error) => errors.push(error),
  });

  function wait(id: string, paths: readonly string[], seconds: number, owner: string, isTurn: WatchedPath['isTurn']) {
    const leaving = new AbortController();
    const watched = paths.map((path) => ({ path, isTurn }));
    const waiting = waiters.wait({ owner, id, workspace, watched, ms: seconds * 1_000, gone: leaving.signal });
    if (waiting === undefined) return undefined;
    void waiting.then((outcome) => outcomes.push([id, outcome]));
    return { leave: () => leaving.abort() };
  }
  return {
    waiters,
    outcomes,
    errors,
    counts,
    queries: () => queries,
    isListening: () => hears !== undefined,
    breakDatabase(now: boolean) {
      broken = now;
    },
    hold: (path: string, seconds = 3_600) => void heldUntil.set(path, Date.now() + seconds * 1_000),
    /** The place leaves the line, as with its grant. */
    remove: (path: string, id: string) =>
      void lines.set(
        path,
        (lines.get(path) ?? []).filter((each) => each !== id),
      ),
    /** Ends the lock without a message. */
    forget: (path: string) => void heldUntil.delete(path),
    release(path: string, at: 'here' | 'elsewhere' | 'somewhere' = 'here') {
      heldUntil.delete(path);
      const line = nameOf({ workspace, path });
      if (at === 'here') waiters.changed(line);
      else hears?.(at === 'elsewhere' ? line : undefined);
    },
    /** A lease that waits for these paths. */
    arrive(id: string, { paths = ['a'], seconds = 30, owner = 'ada' } = {}) {
      for (const path of paths) lines.set(path, [...new Set([...(lines.get(path) ?? []), id])]);
      return wait(id, paths, seconds, owner, (next) => next?.id === id);
    },
    watch: (name: string, { seconds = 30, owner = 'ada' } = {}) => wait(name, ['a'], seconds, owner, () => true),
  };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
/** Longer than a lookup. */
const moment = 5;

/** A world with a held path, and these places waiting for it. */
async function worldWith(...ids: readonly string[]) {
  const world = createWorld();
  world.hold('a');
  for (const id of ids) world.arrive(id);
  await pass(moment);
  return world;
}

describe('clients that wait for their turn', () => {
  test.each(['here', 'elsewhere', 'somewhere'] as const)(
    'are notified one after the other, each once, of releases %s',
    async (at) => {
      const world = await worldWith('first', 'second');
      world.release('a', at);
      await pass(moment);
      world.release('a', at);
      await pass(moment);
      expect(world.outcomes).toEqual([['first', 'turn']]);
      world.remove('a', 'first');
      world.hold('a');
      world.waiters.changed(nameOf({ workspace, path: 'a' }));
      await pass(moment);
      world.release('a', at);
      await pass(moment);
      expect(world.outcomes).toEqual([
        ['first', 'turn'],
        ['second', 'turn'],
      ]);
    },
  );

  test('are notified when the lock expires by the clock of the database', async () => {
    const world = createWorld();
    world.hold('a', 7);
    world.arrive('first');
    await pass(6_990);
    expect(world.outcomes).toEqual([]);
    await pass(20);
    expect(world.outcomes).toEqual([['first', 'turn']]);
  });

  test('are notified when one of their several paths is free and kept for them', async () => {
    const world = createWorld();
    for (const path of ['a', 'b']) world.hold(path);
    world.arrive('single', { paths: ['b'] });
    world.arrive('set', { paths: ['a', 'b'] });
    await pass(moment);
    world.release('b');
    await pass(moment);
    expect(world.outcomes).toEqual([['single', 'turn']]);
    world.release('a');
    await pass(moment);
    expect(world.outcomes.at(-1)).toEqual(['set', 'turn']);
  });

  test.each([0, 3_600])(
    'leave at once when they disconnect during a query, and leave no timer (lock of %i s)',
    async (seconds) => {
      const world = createWorld();
      world.hold('a', seconds);
      world.arrive('first')?.leave();
      await pass(moment);
      expect([world.outcomes, world.counts.at(-1), vi.getTimerCount()]).toEqual([[['first', 'gone']], 0, 0]);
    },
  );

  test('replace an earlier request of the same place, whose client has lost its connection', async () => {
    const world = await worldWith('first');
    world.arrive('first');
    await pass(moment);
    expect(world.outcomes).toEqual([['first', 'gone']]);
    expect(world.counts.at(-1)).toBe(1);
    world.release('a');
    await pass(moment);
    expect(world.outcomes.at(-1)).toEqual(['first', 'turn']);
  });

  test('are notified of a release without a message when the paths are looked up, a thousand at a time', async () => {
    const world = createWorld();
    const paths = Array.from({ length: 1_001 }, (_, n) => `${n}`);
    for (const path of paths) world.hold(path);
    world.arrive('pool', { paths });
    await pass(moment);
    const before = world.queries();
    world.forget('1000');
    world.waiters.lookUp();
    await pass(moment);
    expect([world.outcomes, world.queries() - before]).toEqual([[], 1_000]);
    world.waiters.lookUp();
    await pass(moment);
    expect(world.outcomes).toEqual([['pool', 'turn']]);
  });

  test('are notified even after an outage of the database', async () => {
    const world = await worldWith('first');
    world.breakDatabase(true);
    world.release('a');
    await pass(3_000);
    expect(world.errors.length).toBeGreaterThan(1);
    world.breakDatabase(false);
    await pass(1_100);
    expect(world.outcomes).toEqual([['first', 'turn']]);
  });

  test('get a response at once if the service stops, as do all later ones', async () => {
    const world = await worldWith('first', 'second');
    world.watch('watcher');
    world.waiters.stop();
    world.arrive('late');
    await pass(moment);
    expect(world.outcomes.map(([name]) => name).toSorted()).toEqual(['first', 'late', 'second', 'watcher']);
    for (const [, outcome] of world.outcomes) expect(outcome).toEqual('stopped');
    expect([world.counts.at(-1), world.isListening(), vi.getTimerCount()]).toEqual([0, false, 0]);
  });

  test('cause one query per event for any number of clients, and none in between', async () => {
    const world = await worldWith(...Array.from({ length: 1_000 }, (_, index) => `waiter ${index}`));
    const before = world.queries();
    await pass(20_000);
    expect(world.queries()).toBe(before);
    world.release('a');
    await pass(moment);
    expect(world.queries()).toBe(before + 1);
  });

  test('are limited per owner and in total, and get a response when their time has passed', async () => {
    const world = await worldWith();
    for (let index = 0; index < maxWaitersOfOwner; index += 1) world.arrive(`one ${index}`, { owner: 'one' });
    expect(world.arrive('too many', { owner: 'one' })).toBeUndefined();
    let others = 0;
    while (world.watch(`other ${others}`, { owner: `other ${others}` }) !== undefined) others += 1;
    expect(others).toBe(maxWaiters - maxWaitersOfOwner);
    await pass(29_990);
    expect(world.outcomes).toEqual([]);
    await pass(11);
    expect(world.outcomes[0]).toEqual(['one 0', 'timeout']);
    expect(world.counts.at(-1)).toBe(0);
    expect(world.arrive('again', { owner: 'one' })).toBeDefined();
  });
});

test('clients that watch a path are all notified when it is free, and delay none that waits for its turn', async () => {
  const world = await worldWith();
  for (let index = 0; index < 500; index += 1) world.watch(`watcher ${index}`);
  world.arrive('first');
  await pass(moment);
  world.release('a');
  await pass(moment);
  expect(world.outcomes).toHaveLength(501);
  expect(world.outcomes.at(-1)).toEqual(['first', 'turn']);
});
