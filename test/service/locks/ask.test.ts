import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { parseLockPath } from '../../../src/interface/lock-path.ts';
import type { Scope } from '../../../src/service/contract/scopes.ts';
import { findLocks } from '../../../src/service/locks/find.ts';
import { listQueue } from '../../../src/service/locks/queue.ts';
import { joinLine, maxWaitsOfToken, removeOldWaits } from '../../../src/service/locks/waits.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import { type Bearer, createToken } from '../../../src/service/tokens/tokens.ts';
import { databaseKinds } from '../../support/databases.ts';
import { operator } from '../../support/operator.ts';
import { changeRows, revoke, storeLocks } from '../../support/stored-rows.ts';
import { valueIn } from '../../support/value-in.ts';
import { waitRequest } from '../../support/waits.ts';
import { planOf, type RecordedQuery, recording } from '../storage/changed-queries.ts';
import { hookedStorage } from '../webhooks/hooked-storage.ts';
import { locksOn, takeIn } from './taken-locks.ts';

describe.each(databaseKinds)('people who ask for a lock, on $name', (kind) => {
  const workspace = 'game';
  const { storage, hook } = hookedStorage(kind);
  const errors: unknown[] = [];
  const storageCommit: Storage['commit'] = (...change) => storage.commit(...change);
  const askingWith = (commit = storageCommit, read = storage.read) =>
    locksOn({ ...storage, read, commit }, (error) => errors.push(error));
  const path = valueIn(parseLockPath('Maps/Arena.umap'));
  let ada: Bearer;
  let bo: Bearer;

  const person = async (name: string, scopes: readonly Scope[] = ['locks:write']): Promise<Bearer> =>
    (
      await storage.commit('global', (db) =>
        createToken(db, operator, { name, scopes, workspaces: null, lifetime: null }),
      )
    ).token;
  const lock = (bearer: Bearer) => storage.commit({ workspace }, (db) => takeIn(db, [path], { bearer }));
  const free = () => storage.commit('global', (db) => db.deleteFrom('locks').execute());
  const found = async () => (await findLocks(storage.read, [{ workspace, path }]))[0];
  const queue = async () =>
    (await listQueue(storage.read, { workspace, path })).map(({ owner, note }) => [owner, note]);
  const ask = (bearer: Bearer, note: string | null = null) => askingWith().askFor({ workspace, path, bearer, note });
  const told = async () =>
    (await listQueue(storage.read, { workspace, path })).flatMap(({ owner, kept_until }) =>
      kept_until ? [owner] : [],
    );

  beforeEach(async () => {
    await storage.commit('global', async (db) => {
      for (const table of ['locks', 'waits', 'lock_requests', 'tokens', 'deliveries'] as const)
        await db.deleteFrom(table).execute();
    });
    ada = await person('ada');
    bo = await person('bo');
    await lock(ada);
  });

  test('are notified at their turn, and have the path kept for ten minutes; then the next one is notified', async () => {
    const cy = await person('cy');
    expect(await ask(bo, 'Lights')).toMatchObject({ position: 1, owner: 'bo', note: 'Lights', priority: 'normal' });
    expect((await ask(cy)).position).toBe(2);
    const { tellPeople } = askingWith();
    await tellPeople();
    expect(await told()).toEqual([]);
    await free();
    await Promise.all([tellPeople(), tellPeople()]);
    expect([await told(), await found()]).toEqual([['bo'], undefined]);
    expect((await lock(ada))[0]).toMatchObject({ kind: 'blocked', next: { owner: 'bo' } });
    await changeRows(storage, 'waits', { present_until: Date.now() - 1 }, { owner: 'bo' });
    await tellPeople();
    expect(await told()).toEqual(['cy']);
    expect((await lock(cy))[0]?.kind).toBe('granted');
    expect([await queue(), errors]).toEqual([[], []]);
  });

  test('keep their place when they ask again, even days later, and the holder learns of it once', async () => {
    await hook('https://hooks.example.com/', { events: ['lock.requested'] });
    const cy = await person('cy');
    await ask(bo, 'Lights');
    await ask(cy);
    const sixDaysLater = { present_until: Date.now() + 86_400_000 };
    await changeRows(storage, 'waits', sixDaysLater, { owner: 'bo' });
    await removeOldWaits(storage);
    expect((await ask(bo, 'Sound')).position).toBe(1);
    expect(await queue()).toEqual([
      ['bo', 'Sound'],
      ['cy', null],
    ]);
    const events = await storage.read.selectFrom('deliveries').select('event').execute();
    const requests = events.map(({ event }) => JSON.parse(event).data.request);
    expect(requests).toMatchObject([{ owner: 'bo', note: 'Lights' }, { owner: 'cy' }]);
    const eightDaysLater = { present_until: Date.now() - 86_400_000 };
    await changeRows(storage, 'waits', eightDaysLater, { owner: 'bo' });
    await removeOldWaits(storage);
    expect(await queue()).toEqual([['cy', null]]);
  });

  test('are not notified after they have withdrawn, or without a valid token that may lock', async () => {
    const asking = askingWith();
    await ask(bo);
    expect(await asking.withdraw({ workspace, path, bearer: bo })).toBe(true);
    expect(await asking.withdraw({ workspace, path, bearer: bo })).toBe(false);
    const reader = await person('cy', ['locks:read']);
    await ask(reader);
    const revoked = await person('di');
    await ask(revoked);
    await revoke(storage, revoked.id);
    await free();
    for (let each = 0; each < 3; each += 1) await asking.tellPeople();
    expect(await told()).toEqual([]);
    expect(await queue()).toEqual([]);
  });

  test('are notified, and can withdraw, with any valid token of theirs: the one they asked with may have ended', async () => {
    const asking = askingWith();
    await ask(bo, 'Lights');
    const rotated = await person('bo');
    await revoke(storage, bo.id);
    expect(await ask(rotated, 'Sound')).toMatchObject({ position: 1, note: 'Sound' });
    expect(await queue()).toEqual([['bo', 'Sound']]);
    await free();
    await asking.tellPeople();
    expect(await told()).toEqual(['bo']);
    expect(await asking.withdraw({ workspace, path, bearer: rotated })).toBe(true);
    expect([await queue(), errors]).toEqual([[], []]);
  });

  test('are not notified if they withdraw at that moment', async () => {
    await ask(bo);
    await free();
    const { tellPeople } = askingWith(async (...change) => {
      await askingWith().withdraw({ workspace, path, bearer: bo });
      return storage.commit(...change);
    });
    await tellPeople();
    expect([await queue(), errors]).toEqual([[], []]);
  });

  /** A request that would come before all people who have just asked. */
  const urgent = (bearer: Bearer) =>
    storage.commit({ workspace }, async (db) => {
      const gone = AbortSignal.any([]);
      const place = { requestId: bearer.id, isFirst: true, urgency: 1, presentMs: 60_000, gone } as const;
      const [decision] = await takeIn(db, [path], { bearer, waitId: bearer.id, place });
      return decision;
    });

  test('are not overtaken by anyone while the path is kept for them', async () => {
    const set = waitRequest('set', { paths: [path, 'held'], urgency: 1 });
    await storeLocks(storage, { workspace_id: workspace, path: 'held' });
    await storage.commit({ workspace }, (db) => joinLine(db, [set]));
    await ask(bo);
    await storage.commit('global', (db) => db.deleteFrom('locks').where('path', '=', path).execute());
    await askingWith().tellPeople();
    expect(await told()).toEqual(['bo']);
    await free();
    expect(await urgent(ada)).toMatchObject({ kind: 'blocked', next: { owner: 'bo' } });
    await expect(ask(bo)).rejects.toThrow('is free');
    expect((await queue())[0]).toEqual(['bo', null]);
    await changeRows(storage, 'waits', { present_until: Date.now() - 1 }, { owner: 'bo' });
    expect(await urgent(ada)).toMatchObject({ kind: 'blocked', next: { owner: 'set' } });
  });

  test('are not notified, and keep waiting, if someone locks the path at that moment', async () => {
    await ask(bo);
    await free();
    const { tellPeople } = askingWith(async (...change) => {
      expect(await urgent(ada)).toMatchObject({ kind: 'granted' });
      return storage.commit(...change);
    });
    await tellPeople();
    expect([await told(), await queue()]).toEqual([[], [['bo', null]]]);
    await ask(bo, 'still');
    await free();
    await askingWith().tellPeople();
    expect([await told(), await queue(), errors]).toEqual([['bo'], [['bo', 'still']], []]);
  });

  test('come after anyone ahead of them, even on a free path', async () => {
    // Ahead also within the same millisecond.
    const job = waitRequest('job', { paths: [path], urgency: 1 });
    await storage.commit({ workspace }, (db) => joinLine(db, [job]));
    await free();
    expect((await ask(bo)).position).toBe(2);
    await askingWith().tellPeople();
    expect(await told()).toEqual([]);
  });

  test('cause no reads of other locks, nor of the lines of jobs', async () => {
    const many = Array.from({ length: 2_000 }, (_, index) => ({ workspace_id: workspace, path: `many/${index}` }));
    await storeLocks(storage, ...many);
    const waits = many.map((held) => waitRequest(held.path, { paths: [held.path], tokenId: held.path }));
    await storage.commit({ workspace }, (db) => joinLine(db, waits));
    if (storage.dialect === 'postgres') await storage.commit('global', (db) => sql`analyze`.execute(db));
    const queries: RecordedQuery[] = [];
    await askingWith(storageCommit, recording(storage.read, queries)).tellPeople();
    expect(queries).toHaveLength(1);
    for (const query of queries) {
      const plan = await planOf(storage, query);
      expect(plan).not.toMatch(
        /SCAN (locks|waits|wait_paths)\b(?! USING INDEX untold)|Seq Scan on (locks|wait_paths)|locks_by_id/,
      );
      expect(plan).toMatch(/locks_pkey|autoindex_locks_1/);
    }
  });

  test('can wait for a limited number of locks with one token', async () => {
    const waits = Array.from({ length: maxWaitsOfToken - 1 }, (_, index) =>
      waitRequest(`${index}`, { paths: [`${index}`], tokenId: bo.id }),
    );
    await storage.commit({ workspace }, (db) => joinLine(db, waits));
    await ask(bo);
    await ask(bo, 'again');
    await askingWith().withdraw({ workspace, path, bearer: bo });
    const last = waitRequest('b', { paths: ['b'], tokenId: bo.id });
    await storage.commit({ workspace }, (db) => joinLine(db, [last]));
    await expect(ask(bo)).rejects.toThrow(`${maxWaitsOfToken} requests in line`);
  });

  test('get the reason if there is nothing to ask for', async () => {
    await expect(ask(ada)).rejects.toThrow('You already hold the lock');
    await expect(ask({ ...bo, run: { origin: null, tokenId: 'tok_run' } })).rejects.toThrow('Jobs cannot ask');
    await free();
    await expect(ask(bo)).rejects.toThrow('is free');
    expect(await queue()).toEqual([]);
  });
});
