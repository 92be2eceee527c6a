import { utimes } from 'node:fs/promises';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { evict, minKeptAfterUseMs } from '../../../src/service/lfs/object-maintenance.ts';
import { createObjectStore, type ListedObject, type ObjectStore } from '../../../src/service/lfs/object-store.ts';
import type { Oid } from '../../../src/service/lfs/pointer.ts';
import { objectName, storeObject } from '../../support/stored-object.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const now = Date.UTC(2026, 0, 1);
const signal = new AbortController().signal;
const onError = (error: unknown): void => {
  throw error;
};
const names = Array.from({ length: 40 }, (_, index) => objectName(Buffer.from(`${index}`)).oid);

/** A store in memory. */
function storeOf(objects: readonly ListedObject[]) {
  const there = new Map(objects.map((object) => [object.oid, object]));
  const removed: Oid[] = [];
  const store: Pick<ObjectStore, 'list' | 'find' | 'remove'> = {
    async *list() {
      yield* there.values();
    },
    find: async (oid) => {
      const found = there.get(oid);
      return found && { path: oid, ...found };
    },
    async remove(oid) {
      removed.push(oid);
      there.delete(oid);
    },
  };
  return { store, there, removed };
}

const object = fc.record({
  oid: fc.constantFrom(...names),
  size: fc.nat({ max: 100 }),
  // Some objects were used too recently to be removed.
  lastUsedAt: fc.integer({ min: now - 3 * minKeptAfterUseMs, max: now }),
  isNeeded: fc.boolean(),
});

test('removes only as many unneeded objects as necessary, the least recently used first', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(object, { selector: ({ oid }) => oid, minLength: 15, maxLength: names.length }),
      fc.nat({ max: 2_000 }),
      async (objects, limitBytes) => {
        const { store, there, removed } = storeOf(objects);
        const needed = new Set(objects.flatMap(({ oid, isNeeded }) => (isNeeded ? [oid] : [])));
        const rule = { limitBytes, neededObjects: async () => needed, now, signal, onError };
        const total = () => [...there.values()].reduce((sum, { size }) => sum + size, 0);
        const { usage, neededBytes } = await evict(store, rule);
        expect(usage).toEqual({ objects: there.size, bytes: total() });

        const byName = new Map(objects.map((each) => [each.oid, each]));
        const gone = removed.flatMap((oid) => byName.get(oid) ?? []);
        const mayGo = ({ isNeeded, lastUsedAt }: (typeof objects)[number]) =>
          !isNeeded && lastUsedAt < now - minKeptAfterUseMs;
        expect(gone.every(mayGo)).toBe(true);
        const left = objects.filter((each) => mayGo(each) && there.has(each.oid));
        const latestGone = Math.max(...gone.map(({ lastUsedAt }) => lastUsedAt));
        expect(left.every(({ lastUsedAt }) => lastUsedAt >= latestGone)).toBe(true);
        // There is enough room, or no object may be removed; and the last removal was necessary.
        expect(total() <= limitBytes || left.length === 0).toBe(true);
        if (gone.length > 0) expect(total() + (gone.at(-1)?.size ?? 0)).toBeGreaterThan(limitBytes);
        const ofHeads = objects.reduce((sum, { isNeeded, size }) => sum + (isNeeded ? size : 0), 0);
        expect([0, ofHeads]).toContain(neededBytes);
      },
    ),
  );
});

const day = 24 * 3_600_000;

describe('on a disk', () => {
  let folder: string;
  let store: ObjectStore;
  /** The objects, starting with the least recently used. */
  let objects: { readonly oid: Oid; readonly path: string; readonly size: number }[];

  beforeEach(async () => {
    folder = temporaryFolder();
    store = createObjectStore(folder, 'game');
    objects = [];
    for (const [index, text] of ['one', 'two', 'three', 'four'].entries()) {
      const stored = await storeObject(folder, 'game', Buffer.from(text.padEnd(100)));
      const at = new Date(Date.now() - (10 - index) * day);
      await utimes(stored.path, at, at);
      objects.push(stored);
    }
  });

  const makeRoom = (limitBytes: number, needed: readonly (Oid | undefined)[] = [], mine = store) =>
    evict(mine, {
      limitBytes,
      neededObjects: async () => new Set(needed.filter((oid) => oid !== undefined)),
      now: Date.now(),
      signal,
      onError,
    });
  const left = async (): Promise<readonly number[]> => {
    const found = await Promise.all(objects.map(({ oid }) => store.find(oid)));
    return found.flatMap((each, index) => (each === undefined ? [] : [index]));
  };

  test('removes the least recently used objects, and none that a branch head needs', async () => {
    expect(await makeRoom(400)).toMatchObject({ evicted: { objects: 0 }, neededBytes: 0 });
    expect(await makeRoom(200, [objects[1]?.oid])).toEqual({
      usage: { objects: 2, bytes: 200 },
      evicted: { objects: 2, bytes: 200 },
      neededBytes: 100,
      isOverLimit: false,
    });
    expect(await left()).toEqual([1, 3]);
  });

  test('keeps all objects that branch heads need, even if they exceed the limit', async () => {
    const needed = objects.slice(1).map(({ oid }) => oid);
    expect(await makeRoom(150, needed)).toMatchObject({ evicted: { objects: 1 }, neededBytes: 300, isOverLimit: true });
    expect(await left()).toEqual([1, 2, 3]);
  });

  test('keeps objects that are used during the eviction', async () => {
    const listed = store.list;
    const meanwhile: ObjectStore = {
      ...store,
      async *list() {
        yield* listed();
        for (const object of objects.slice(0, 2)) await store.use(object);
      },
    };
    await makeRoom(200, [], meanwhile);
    expect(await left()).toEqual([0, 1]);
  });

  test('removes others instead of an object that cannot be removed, and reports it', async () => {
    const errors: unknown[] = [];
    const failing: ObjectStore = {
      ...store,
      remove: (oid) => (oid === objects[0]?.oid ? Promise.reject(new Error('not permitted')) : store.remove(oid)),
    };
    const rule = { limitBytes: 200, neededObjects: async () => new Set<Oid>(), now: Date.now(), signal };
    const { usage } = await evict(failing, { ...rule, onError: (error) => errors.push(error) });
    expect([await left(), usage.bytes, errors]).toEqual([[0, 3], 200, [new Error('not permitted')]]);
  });
});
