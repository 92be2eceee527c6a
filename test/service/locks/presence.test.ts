import { setImmediate, setTimeout } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { parseTtl } from '../../../src/interface/duration.ts';
import { parseLockPath } from '../../../src/interface/lock-path.ts';
import type { Compared } from '../../../src/interface/resources.ts';
import { keyedRequest } from '../../../src/service/idempotency/idempotency.ts';
import { maxWaitersOfOwner } from '../../../src/service/locks/local-waiters.ts';
import { listQueue } from '../../../src/service/locks/queue.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import { databaseKinds, sqlite } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { changeRows, storeLocks } from '../../support/stored-rows.ts';
import { valueIn } from '../../support/value-in.ts';
import { bearerOf, locksOn } from './taken-locks.ts';

const storage = sharedStorage(sqlite, { workspaces: ['blocked', 'free'] });

/** A client that waits for a lock of Bob. */
async function waitingClient(
  locks: ReturnType<typeof locksOn>,
  workspace: string,
  path: string,
  compare: () => Promise<Compared>,
  database = storage,
) {
  await storeLocks(database, { workspace_id: workspace, path, owner: 'bob' });
  const bearer = bearerOf('ada');
  const request = { workspace, path: valueIn(parseLockPath(path)), origin: null, bearer } as const;
  const leaving = new AbortController();
  const options = { seconds: 30, urgency: 3, gone: leaving.signal, authenticate: async () => undefined };
  const own = { ...request, ttl: valueIn(parseTtl('1m')), compare };
  const acquired = locks.acquire(undefined, own, options);
  const line = () => listQueue(database.read, { workspace, path });
  await expect.poll(line).toHaveLength(1);
  return { acquired, newcomer: { ...own, bearer: bearerOf('cleo') }, line, leave: () => leaving.abort() };
}

const release = (locks: ReturnType<typeof locksOn>, workspace: string, path: string) =>
  locks.release({
    ...{ workspace, path, bearer: bearerOf('bob'), actor: { name: 'bob', tokenId: null, address: null } },
    ...{ force: false, match: () => true },
  });

const upToDate: Compared = { latest: 'refuse', outdated: [], as_of: null };

test('clients of one workspace are kept present while another one is blocked', async () => {
  const blocked = Promise.withResolvers<never>();
  const commits: string[] = [];
  const errors: unknown[] = [];
  const commit: Storage['commit'] = (scope, change) => {
    const name = typeof scope === 'string' ? scope : scope.workspace;
    commits.push(name);
    return name === 'blocked' ? blocked.promise : storage.commit(scope, change);
  };
  const locks = locksOn({ ...storage, commit }, (error) => errors.push(error));
  const clients = await Promise.all(
    ['blocked', 'free'].map((workspace) => waitingClient(locks, workspace, 'a', async () => upToDate)),
  );
  const first = locks.keepPresent();
  const roundsOf = (workspace: string) => commits.filter((name) => name === workspace).length;
  await expect.poll(() => locks.keepPresent().then(() => roundsOf('free'))).toBeGreaterThan(1);
  expect(roundsOf('blocked')).toBe(1);
  blocked.reject(new Error('The database does not answer.'));
  await first;
  expect(errors).toHaveLength(1);
  for (const { leave } of clients) leave();
  for (const { acquired } of clients) await expect(acquired).rejects.toMatchObject({ problem: 'locked' });
});

const outdated = { path: 'b', branch: 'main', commit: 'c0ffee', author: 'Bob', at: '2026-01-01T00:00:00Z' };

test.each<['granted' | 'refused', object, Compared, readonly number[]]>([
  ['refused', { problem: 'outdated' }, { ...upToDate, outdated: [outdated] }, [0]],
  ['granted', { lock: { path: 'b', owner: 'ada' } }, upToDate, []],
])(
  'others do not wait for the presence of a client whose request is %s at its turn',
  async (_, expectedResult, atTurn, expected) => {
    const leaving: number[] = [];
    const batchCommits: Storage['batchCommits'] = (scopeOf, make) => {
      const commit = storage.batchCommits(scopeOf, make);
      return (change) => {
        if (typeof change === 'object' && change !== null && 'presentMs' in change)
          leaving.push(Number(change.presentMs));
        return commit(change);
      };
    };
    const locks = locksOn({ ...storage, batchCommits }, () => expect.unreachable());
    const comparisons = [upToDate, atTurn].values();
    const { acquired, line } = await waitingClient(
      locks,
      'free',
      'b',
      async () => comparisons.next().value ?? expect.unreachable(),
    );
    await release(locks, 'free', 'b');
    expect(await acquired.catch((error: unknown) => error)).toMatchObject(expectedResult);
    expect([leaving, await line()]).toEqual([expected, []]);
  },
);

describe.each(databaseKinds)('a client in line, on $name', (kind) => {
  const database = sharedStorage(kind, { workspaces: ['stalled', 'compared', 'asking', 'outage', 'failing'] });

  test('is not overtaken by requests that are decided after a stall, before its presence is extended', async () => {
    const workspace = 'stalled';
    const locks = locksOn(database, () => expect.unreachable());
    const compare = async () => upToDate;
    const { acquired, newcomer, line } = await waitingClient(locks, workspace, 'c', compare, database);
    const now = performance.now.bind(performance);
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 6_000);
    onTestFinished(() => clock.mockRestore());
    await changeRows(database, 'waits', { present_until: Date.now() - 1_000 }, { workspace_id: workspace });
    const lease = { id: 'lease-of-a-newcomer', fingerprint: '', readPaths: async () => [newcomer.path], count: 1 };
    const [released, single, several] = await Promise.allSettled([
      release(locks, workspace, 'c'),
      locks.acquire(undefined, newcomer),
      locks.acquireLease({ ...newcomer, ...lease }, undefined),
    ]);
    expect(released).toMatchObject({ value: { kind: 'released' } });
    expect(single).toMatchObject({ reason: { message: 'c is free, but ada is first in line for it.' } });
    expect(several).toMatchObject({ value: { kind: 'blocked', next: { owner: 'ada' } } });
    expect(await acquired).toMatchObject({ lock: { owner: 'ada' } });
    expect(await line()).toEqual([]);
  });

  test.each([
    ['that only takes a place', 0, false, '1', 1_300],
    ['that has waited', 1, false, '0', 1_500],
    ['that finds too many clients waiting', 30, true, '5', 5_300],
  ])('is present until it may ask again after a request %s', async (_, seconds, isFull, retryAfter, presentMs) => {
    const workspace = 'asking';
    const path = `${seconds}`;
    // The responses need queries, which must not use up that time.
    const read = database.read.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult: ({ result }) => setTimeout(200, result),
    });
    const locks = locksOn({ ...database, read }, () => expect.unreachable());
    await storeLocks(database, { workspace_id: workspace, path, owner: 'bob' });
    const gone = AbortSignal.any([]);
    const client = { workspace, owner: 'ada', path, ms: 30_000, gone };
    const others = isFull ? Array.from({ length: maxWaitersOfOwner }, () => locks.waitUntilFree(client)) : [];
    const [bearer, ttl, lockPath] = [bearerOf('ada'), valueIn(parseTtl('1m')), valueIn(parseLockPath(path))];
    const request = { workspace, path: lockPath, origin: null, bearer, ttl } as const;
    const options = { seconds, urgency: 3, gone, authenticate: async () => undefined };
    const keyed = keyedRequest({ tokenId: bearer.id, workspace, key: 'key' }, []);
    const asked = locks.acquire(keyed, { ...request, compare: async () => upToDate }, options);
    const applied = isFull ? {} : { 'preference-applied': `wait=${seconds}` };
    const extras = { headers: { 'retry-after': retryAfter, ...applied } };
    expect(await asked.catch((error: unknown) => error)).toMatchObject({ problem: 'locked', extras });
    const wait = database.read
      .selectFrom('waits')
      .select(['since', 'present_until'])
      .where('workspace_id', '=', workspace);
    const { since, present_until } = await wait.executeTakeFirstOrThrow();
    expect(present_until - since).toBeGreaterThanOrEqual(presentMs);
    expect(present_until - since).toBeLessThan(presentMs + 2_000);
    await database.commit('global', (db) => db.deleteFrom('waits').execute());
    locks.endWaits();
    await Promise.all(others);
  });

  /** The second request of a client that is no longer present after its first one. It compares its file twice. */
  async function secondRequest(path: string) {
    const workspace = 'compared';
    const locks = locksOn(database, () => expect.unreachable());
    await storeLocks(database, { workspace_id: workspace, path, owner: 'bob' });
    const [bearer, ttl] = [bearerOf('ada'), valueIn(parseTtl('1m'))];
    const own = {
      workspace,
      path: valueIn(parseLockPath(path)),
      origin: null,
      bearer,
      ttl,
    } as const;
    const key = { tokenId: 'tok_ada', workspace, key: `${path}/1`, fingerprint: '' };
    const options = { urgency: 3, gone: AbortSignal.any([]), authenticate: async () => undefined };
    const first = locks.acquire(key, { ...own, compare: async () => upToDate }, { ...options, seconds: 0 });
    await expect(first).rejects.toMatchObject({ problem: 'locked' });
    const line = () => listQueue(database.read, { workspace, path });
    const leave = () => changeRows(database, 'waits', { present_until: Date.now() - 1 }, { workspace_id: workspace });
    await leave();
    const comparisons = [Promise.withResolvers<Compared>(), Promise.withResolvers<Compared>()] as const;
    const compare = vi.fn<() => Promise<Compared>>();
    for (const { promise } of comparisons) compare.mockReturnValueOnce(promise);
    const second = locks.acquire({ ...key, key: `${path}/2` }, { ...own, compare }, { ...options, seconds: 30 });
    const isFirstInLine = async () => {
      await expect.poll(line).toMatchObject([{ owner: 'ada' }]);
      await leave();
      await locks.keepPresent();
      const other = { ...own, bearer: bearerOf('cleo'), compare: async () => upToDate };
      await expect(locks.acquire(undefined, other)).rejects.toMatchObject({ problem: 'locked' });
      expect(await line()).toMatchObject([{ owner: 'ada' }]);
    };
    return { locks, line, comparisons, compare, second, isFirstInLine, release: () => release(locks, workspace, path) };
  }

  test('is not overtaken while the file of its next request is compared, on arrival and at its turn', async () => {
    const { release, comparisons, compare, second, isFirstInLine } = await secondRequest('d');
    await isFirstInLine();
    comparisons[0].resolve(upToDate);
    // Joins the line before the release.
    await setImmediate();
    await release();
    await expect.poll(() => compare.mock.calls.length).toBe(2);
    await isFirstInLine();
    comparisons[1].resolve(upToDate);
    expect(await second).toMatchObject({ lock: { owner: 'ada' } });
  });

  test('is absent at once if its request is refused after the comparison on arrival', async () => {
    const { comparisons, second, line, isFirstInLine } = await secondRequest('e');
    await isFirstInLine();
    comparisons[0].resolve({ ...upToDate, outdated: [{ ...outdated, path: 'e' }] });
    await expect(second).rejects.toMatchObject({ problem: 'outdated' });
    expect(await line()).toEqual([]);
  });

  test('stays in line if its file could not be compared yet, because the response tells it to try again', async () => {
    const { comparisons, second, line } = await secondRequest('g');
    const gap = { reason: 'The remote does not answer.', isLasting: false };
    comparisons[0].resolve({ latest: 'refuse', outdated: [], as_of: null, gap });
    await expect(second).rejects.toMatchObject({ problem: 'unavailable' });
    expect(await line()).toMatchObject([{ owner: 'ada' }]);
  });

  test('is granted a lock whose release was announced by nobody, because the other instance was killed', async () => {
    const silent = { send: () => undefined, listen: () => () => undefined };
    const [here, there] = [1, 2].map(() =>
      locksOn({ ...database, dialect: 'postgres', broadcast: silent }, () => expect.unreachable()),
    );
    if (here === undefined || there === undefined) return expect.unreachable();
    const { acquired } = await waitingClient(here, 'stalled', 'f', async () => upToDate, database);
    await release(there, 'stalled', 'f');
    await here.keepPresent();
    expect(await acquired).toMatchObject({ lock: { owner: 'ada' } });
  });

  /** Locks on one instance, whose changes of single locks and of the presence of clients fail while it is down. */
  function failing(more: Partial<Storage> = {}) {
    const state = { isDown: false };
    const batchCommits: Storage['batchCommits'] = (scopeOf, make) => {
      const commit = database.batchCommits(scopeOf, make);
      return (change) => (state.isDown ? Promise.reject(new Error('The database does not answer.')) : commit(change));
    };
    const errors: unknown[] = [];
    const locks = locksOn({ ...database, ...more, dialect: 'sqlite', batchCommits }, (error) => errors.push(error));
    return { state, errors, locks };
  }

  test('is absent if it left while the database failed', async () => {
    const { state, errors, locks } = failing();
    const client = await waitingClient(locks, 'failing', 'i', async () => upToDate, database);
    state.isDown = true;
    client.leave();
    await expect(client.acquired).rejects.toMatchObject({ problem: 'locked' });
    // Neither its presence nor its place could be removed.
    expect(errors).toHaveLength(2);
    state.isDown = false;
    await release(locks, 'failing', 'i');
    expect(await locks.acquire(undefined, client.newcomer)).toMatchObject({ lock: { owner: 'cleo' } });
  });

  test('is not overtaken if the database fails at its turn, until its client may ask again', async () => {
    const workspace = 'failing';
    const changes: ((line: string | undefined) => void)[] = [];
    function listen(onChange: (line: string | undefined) => void) {
      changes.push(onChange);
      return () => undefined;
    }
    const broadcast = { send: () => undefined, listen };
    const { state, errors, locks: here } = failing({ broadcast });
    const { acquired, newcomer } = await waitingClient(here, workspace, 'h', async () => upToDate, database);
    state.isDown = true;
    await database.commit('global', (db) => db.deleteFrom('locks').where('workspace_id', '=', workspace).execute());
    for (const changed of changes) changed(undefined);
    await expect(acquired).rejects.toThrow('does not answer');
    await expect.poll(() => errors).toHaveLength(1);
    state.isDown = false;
    const overtake = () => here.acquire(undefined, newcomer).catch((error: unknown) => error);
    await changeRows(database, 'waits', { present_until: Date.now() - 1_000 }, { workspace_id: workspace });
    expect(await overtake()).toMatchObject({ message: 'h is free, but ada is first in line for it.' });
    const now = performance.now.bind(performance);
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 4_000);
    onTestFinished(() => clock.mockRestore());
    await here.keepPresent();
    expect(await overtake()).toMatchObject({ lock: { owner: 'cleo' } });
  });

  test('is not overtaken at another instance after an outage, before its own extends its presence', async () => {
    const workspace = 'outage';
    let isReadOnly = true;
    const errors: unknown[] = [];
    const commit: Storage['commit'] = (scope, change) =>
      isReadOnly ? Promise.reject(new Error('The database is read-only.')) : database.commit(scope, change);
    const onPostgres = () => locksOn({ ...database, dialect: 'postgres', commit }, (error) => errors.push(error));
    const compare = async () => upToDate;
    const { acquired, newcomer, leave } = await waitingClient(onPostgres(), workspace, 'g', compare, database);
    const absentFor = (ms: number) =>
      changeRows(database, 'waits', { present_until: Date.now() - ms }, { workspace_id: workspace });
    const there = onPostgres();
    const now = performance.now.bind(performance);
    let laterMs = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + laterMs);
    onTestFinished(() => clock.mockRestore());
    for (; laterMs < 6_000; laterMs += 1_500) await there.keepPresent();
    expect(errors).toHaveLength(4);
    isReadOnly = false;
    const overtake = () => there.acquire(undefined, newcomer).catch((error: unknown) => error);
    const refused = { message: 'g is free, but ada is first in line for it.' };
    await database.commit('global', (db) => db.deleteFrom('locks').where('workspace_id', '=', workspace).execute());
    await absentFor(1_000);
    expect(await overtake()).toMatchObject(refused);
    await there.keepPresent();
    await absentFor(1_000);
    expect(await overtake()).toMatchObject(refused);
    // Once the rounds of all instances must have come, an absent client counts as absent.
    for (laterMs of [8_000, 10_000]) await there.keepPresent();
    await absentFor(1_000);
    expect(await overtake()).toMatchObject({ lock: { owner: 'cleo' } });
    leave();
    await expect(acquired).rejects.toMatchObject({ problem: 'locked' });
  });
});
