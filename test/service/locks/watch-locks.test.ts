import type { KyselyPlugin } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseLockPath } from '../../../src/interface/lock-path.ts';
import { parseTtl } from '../../../src/interface/ttl.ts';
import { listLockPage } from '../../../src/service/locks/list-page.ts';
import { listQueue } from '../../../src/service/locks/queue.ts';
import { renewLock } from '../../../src/service/locks/renew.ts';
import { joinLine, removeWaits } from '../../../src/service/locks/waits.ts';
import { type Sight, watchLocks } from '../../../src/service/locks/watch-locks.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import { databaseKinds } from '../../support/databases.ts';
import { changeRows } from '../../support/stored-rows.ts';
import { valueIn } from '../../support/value-in.ts';
import { waitRequest } from '../../support/waits.ts';
import { hookedStorage } from '../webhooks/hooked-storage.ts';

describe.each(databaseKinds)('the notification of changed locks on $name', (kind) => {
  const { acquire: take, release, storage: given } = hookedStorage(kind);
  let storage: Storage;
  let queries: number;
  let watch: ReturnType<typeof watchLocks>;
  let errors: unknown[];
  let leaving: AbortController;

  /** Counts the queries. */
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
    watch = watchLocks({ pollMs: 20, onError: (error) => errors.push(error) });
  });
  afterEach(async () => {
    leaving.abort();
    await watch.stop();
  });

  const sightOf = (workspace: string): Sight => ({
    key: workspace,
    async read() {
      const filter = { words: [], path: undefined, owner: undefined, after: undefined };
      const query = { ...filter, workspace, by: 'path', descending: false, limit: 9 } as const;
      const { locks } = await listLockPage(storage, query);
      return JSON.stringify([locks, await listQueue(storage, { workspace })]);
    },
  });
  const follow = () => watch.follow(sightOf('game'), leaving.signal);
  /** Whether the watch has sent a notification; false if it has ended. */
  const notified = async (news: AsyncGenerator<void, void, undefined>) => (await news.next()).done !== true;

  test('arrives at the start, and after each acquired, renewed, released and expired lock', async () => {
    await take('first');
    const news = follow();
    expect(await notified(news)).toBe(true);
    const second = await take('second');
    expect(await notified(news)).toBe(true);
    await storage.commit('global', (db) =>
      renewLock(db, storage.now, {
        workspace: 'game',
        path: valueIn(parseLockPath('second')),
        ttl: valueIn(parseTtl('2h')),
        bearer: { id: 'tok_1', name: 'ada', owner: 'ada', scopes: ['locks:write'], workspaces: null },
        match: (id) => id === second.id,
      }),
    );
    expect(await notified(news)).toBe(true);
    await release('first');
    expect(await notified(news)).toBe(true);
    // Nothing removes the row: the lock has expired only by the clock of the database.
    await changeRows(storage, 'locks', { expires_at: 1 }, { path: 'second' });
    expect(await notified(news)).toBe(true);
    expect(await notified(follow())).toBe(true);
  });

  test('arrives when someone joins or leaves the line of a lock, or stops waiting', async () => {
    await take('a');
    const news = follow();
    expect(await notified(news)).toBe(true);
    const join = (id: string, presentMs: number) =>
      storage.commit('global', (db) => joinLine(db, storage.now, [waitRequest(id, { presentMs })]));
    await join('first', 60_000);
    expect(await notified(news)).toBe(true);
    await join('second', 60_000);
    expect(await notified(news)).toBe(true);
    // Its presence ends.
    await join('second', 1);
    expect(await notified(news)).toBe(true);
    await storage.commit('global', (db) => removeWaits(db, storage.now, [{ id: 'first' }]));
    expect(await notified(news)).toBe(true);
  });

  test('arrives once for all changes since the last one', async () => {
    const [news, other] = [follow(), follow()];
    expect([await notified(news), await notified(other)]).toEqual([true, true]);
    for (const path of ['a', 'b', 'c']) {
      await take(path);
      expect(await notified(other)).toBe(true);
    }
    expect(await notified(news)).toBe(true);
    const next = notified(news);
    await take('d');
    expect(await next).toBe(true);
  });

  test('reads nothing without listeners, and once per poll for all that see the same', async () => {
    const listeners = Array.from({ length: 5 }, follow);
    for (const news of listeners) expect(await notified(news)).toBe(true);
    expect(queries).toBeLessThan(2 * listeners.length);
    leaving.abort();
    for (const news of listeners) expect(await notified(news)).toBe(false);
    await watch.stop();
    const before = queries;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(queries).toBe(before);
  });

  test('ends for all listeners if the database cannot be read, and starts again on request', async () => {
    const news = follow();
    expect(await notified(news)).toBe(true);
    const { read } = storage;
    const broken = new Error('The disk is gone.');
    Object.assign(storage, {
      read: {
        selectFrom: () => {
          throw broken;
        },
      },
    });
    await expect(notified(news)).rejects.toThrow('could not be read');
    expect(errors).toEqual([broken]);
    Object.assign(storage, { read });
    expect(await notified(follow())).toBe(true);
  });

  test('arrives only for changes of the workspace, and does not end if another one cannot be read', async () => {
    let isFilmBroken = false;
    const breaking: KyselyPlugin = {
      transformQuery({ node }) {
        if (isFilmBroken && JSON.stringify(node).includes('"film"')) throw new Error('The table is damaged.');
        return node;
      },
      transformResult: async ({ result }) => result,
    };
    Object.assign(storage, { read: storage.read.withPlugin(breaking) });
    const [news, other] = [follow(), watch.follow(sightOf('film'), leaving.signal)];
    expect([await notified(news), await notified(other)]).toEqual([true, true]);
    const failed = expect(notified(other)).rejects.toThrow('could not be read');
    for (const path of ['a', 'b']) {
      await take(path);
      expect(await notified(news)).toBe(true);
    }
    const next = notified(news);
    isFilmBroken = true;
    await failed;
    await take('c');
    expect(await next).toBe(true);
  });

  test('arrives at once for changes at the same instance', async () => {
    const slow = watchLocks({ pollMs: 60_000, onError: () => undefined });
    const news = slow.follow(sightOf('game'), leaving.signal);
    expect(await notified(news)).toBe(true);
    await take('a');
    slow.wake();
    expect(await notified(news)).toBe(true);
    leaving.abort();
    await slow.stop();
  });
});
