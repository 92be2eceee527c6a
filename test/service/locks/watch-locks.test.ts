import type { KyselyPlugin } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseLockPath } from '../../../src/interface/lock-path.ts';
import { parseTtl } from '../../../src/interface/ttl.ts';
import { renewLock } from '../../../src/service/locks/renew.ts';
import { type LockUpdate, type LockWatch, watchLocks } from '../../../src/service/locks/watch-locks.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import { databaseKinds } from '../../support/databases.ts';
import { changeRows } from '../../support/stored-rows.ts';
import { hookedStorage } from '../webhooks/hooked-storage.ts';
import { valueIn } from '../webhooks/samples.ts';

describe.each(databaseKinds)('what is told of locks on $name', (kind) => {
  const { acquire: take, release, storage: given } = hookedStorage(kind);
  let storage: Storage;
  let queries: number;
  let watch: LockWatch;
  let errors: unknown[];
  let leaving: AbortController;

  /** Counts what is asked of the database. */
  const counting: KyselyPlugin = {
    transformQuery({ node }) {
      queries += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  };

  beforeEach(() => {
    queries = 0;
    errors = [];
    leaving = new AbortController();
    storage = { ...given, read: given.read.withPlugin(counting) };
    watch = watchLocks(storage, { pollMs: 20, onError: (error) => errors.push(error) });
  });
  afterEach(async () => {
    leaving.abort();
    await watch.stop();
  });

  const follow = () => watch.follow('game', leaving.signal);
  const told = async (news: AsyncGenerator<LockUpdate, void, undefined>) => {
    const { value } = await news.next();
    if (value === undefined) return undefined;
    const held = value.locks.map(({ lock }) => lock.path);
    return value.kind === 'all' ? { all: held.toSorted() } : { held: held.toSorted(), free: value.free };
  };

  test('is all of them first, and then who takes, renews and releases one, and which are over', async () => {
    await take('first');
    const news = follow();
    expect(await told(news)).toEqual({ all: ['first'] });
    const second = await take('second');
    expect(await told(news)).toEqual({ held: ['second'], free: [] });
    await storage.commit('global', (db) =>
      renewLock(db, storage.now, {
        workspace: 'game',
        path: valueIn(parseLockPath('second')),
        ttl: valueIn(parseTtl('2h')),
        bearer: { id: 'tok_1', name: 'ada', owner: 'ada', scopes: ['locks:write'], workspaces: null },
        match: (id) => id === second.id,
      }),
    );
    expect(await told(news)).toEqual({ held: ['second'], free: [] });
    await release('first');
    expect(await told(news)).toEqual({ held: [], free: ['first'] });
    await take('short');
    expect(await told(news)).toEqual({ held: ['short'], free: [] });
    // Nobody removes its row here: it is over by the clock of the database alone.
    await changeRows(storage, 'locks', { expires_at: 1 }, { path: 'short' });
    expect(await told(news)).toEqual({ held: [], free: ['short'] });
    const later = follow();
    expect(await told(later)).toEqual({ all: ['second'] });
  });

  test('is at last what there is, however slowly it is listened to', async () => {
    const news = follow();
    expect(await told(news)).toEqual({ all: [] });
    const other = follow();
    expect(await told(other)).toEqual({ all: [] });
    for (const path of ['a', 'b']) await take(path);
    await release('a');
    await take('c');
    const seen = new Set<string>();
    while (!seen.has('c')) {
      const { value } = await other.next();
      for (const { lock } of value?.locks ?? []) seen.add(lock.path);
    }
    expect(await told(news)).toMatchObject({ held: expect.arrayContaining(['b', 'c']) });
  });

  test('costs nothing when nobody listens, and one query each time for any number of listeners', async () => {
    const listeners = Array.from({ length: 5 }, follow);
    for (const news of listeners) expect(await told(news)).toEqual({ all: [] });
    expect(queries).toBeLessThan(5);
    leaving.abort();
    for (const news of listeners) expect(await told(news)).toBeUndefined();
    await watch.stop();
    const before = queries;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(queries).toBe(before);
  });

  test('ends for everybody when the database cannot be read, and begins again when it is asked for', async () => {
    const news = follow();
    expect(await told(news)).toEqual({ all: [] });
    const { read } = storage;
    const broken = new Error('The disk is gone.');
    Object.assign(storage, {
      read: {
        selectFrom: () => {
          throw broken;
        },
      },
    });
    await expect(told(news)).rejects.toThrow('could not be read');
    expect(errors).toEqual([broken]);
    Object.assign(storage, { read });
    expect(await told(follow())).toEqual({ all: [] });
  });

  test('wakes at once for what happens here', async () => {
    const slow = watchLocks(storage, { pollMs: 60_000, onError: () => undefined });
    const news = slow.follow('game', leaving.signal);
    expect(await told(news)).toEqual({ all: [] });
    await take('a');
    slow.wake();
    expect(await told(news)).toEqual({ held: ['a'], free: [] });
    leaving.abort();
    await slow.stop();
  });
});
