import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { LockKey } from '../../../src/service/locks/find.ts';
import { coalesceReads, rememberReads } from '../../../src/service/storage/coalesce-reads.ts';
import { openSqlite } from '../../../src/service/storage/sqlite.ts';
import { authenticate, createToken } from '../../../src/service/tokens/tokens.ts';
import { sqlite, temporaryDataFolder } from '../../support/databases.ts';
import { operator } from '../../support/operator.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { storeWorkspace } from '../../support/stored-rows.ts';

const storage = sharedStorage(sqlite);

test('concurrent reads of one path ask for it once, although each request has a key object of its own', async () => {
  const asked: (readonly LockKey[])[] = [];
  const pathsOf = coalesceReads(async (_db, keys: readonly LockKey[]) => {
    asked.push(keys);
    return keys.map(({ path }) => path);
  });
  const keys = ['a', 'b', 'a'].map((path) => ({ workspace: 'game', path }));
  expect(await Promise.all(keys.map((key) => pathsOf(storage.read, key)))).toEqual(['a', 'b', 'a']);
  expect(asked).toEqual([keys.slice(0, 2)]);
});

test('a read that arrives while a query is running does not get the result of that query', async () => {
  let value = 'old';
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: answering, resolve: response } = Promise.withResolvers<void>();
  const read = coalesceReads(async (_db, questions: readonly string[]) => {
    const seen = value;
    begin();
    await answering;
    return questions.map(() => seen);
  });
  const first = read(storage.read, 'first');
  await begun;
  value = 'new';
  const second = read(storage.read, 'second');
  response();
  expect(await Promise.all([first, second])).toEqual(['old', 'new']);
});

test('a failed query rejects all reads that share it, and later reads query again', async () => {
  let fails = true;
  const ask = coalesceReads(async (_db, questions: readonly string[]) => {
    if (fails) throw new Error('The database does not answer.');
    return questions;
  });
  const ended = await Promise.allSettled(['a', 'b'].map((question) => ask(storage.read, question)));
  expect(ended.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  fails = false;
  expect(await ask(storage.read, 'c')).toBe('c');
});

describe('reads of tokens and workspaces on SQLite', () => {
  const open = async () => {
    const { folder, remove } = await temporaryDataFolder();
    const [service, command] = [await openSqlite({ folder }), await openSqlite({ folder })];
    onTestFinished(async () => {
      await service.close();
      await command.close();
      await remove();
    });
    return { service, command };
  };
  const token = { name: 'ada', scopes: [], workspaces: null };

  test('are remembered until a change, other than those of locks, by this process or another one', async () => {
    const { service, command } = await open();
    let queries = 0;
    const read = rememberReads(async (_db, keys) => {
      queries += 1;
      return keys.map((key) => ({ key }));
    });
    const queriesAfter = async (change: () => Promise<unknown>) => {
      await change();
      await Promise.all([read(service, 'a'), read(service, 'a')]);
      await read(service, 'a');
      return queries;
    };
    const lock = service.batchCommits(
      () => ({ workspace: 'game' }),
      async (_db, changes: readonly string[]) => changes,
    );
    expect(await queriesAfter(async () => undefined)).toBe(1);
    expect(await queriesAfter(() => lock('a'))).toBe(1);
    expect(await queriesAfter(() => service.commit({ workspace: 'game' }, async () => undefined))).toBe(2);
    const add = { id: 'game', remote: 'https://git.example.com/game.git' };
    expect(await queriesAfter(() => storeWorkspace(command, add))).toBe(3);
  });

  test('do not keep a token beyond its end', async () => {
    const { service } = await open();
    const { secret } = await service.commit('global', (db) =>
      createToken(db, operator, { ...token, lifetime: { seconds: 3_600 } }),
    );
    expect((await authenticate(service, secret)).ok).toBe(true);
    // The machine was suspended: no other clock has moved.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_601_000 });
    expect((await authenticate(service, secret)).ok).toBe(false);
    vi.useRealTimers();
  });
});
