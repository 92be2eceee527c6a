import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { parseLockPath } from '../../../src/interface/lock-path.ts';
import type { Scope } from '../../../src/interface/scopes.ts';
import { parseTtl } from '../../../src/interface/ttl.ts';
import { createIdempotency } from '../../../src/service/idempotency/idempotency.ts';
import { acquireLocks } from '../../../src/service/locks/acquire.ts';
import { createAsking, maxAsksOfToken } from '../../../src/service/locks/ask.ts';
import { findLock } from '../../../src/service/locks/find.ts';
import { joinLines, removeOldPlaces } from '../../../src/service/locks/line.ts';
import { createLockQuota, noLockQuota } from '../../../src/service/locks/lock-quota.ts';
import { listQueue } from '../../../src/service/locks/read-queue.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import { type Bearer, createToken, revokeToken } from '../../../src/service/tokens/tokens.ts';
import { parseExtraHeaders } from '../../../src/service/webhooks/extra-headers.ts';
import { registerHook } from '../../../src/service/webhooks/hooks.ts';
import { newWebhookSecret } from '../../../src/service/webhooks/signature.ts';
import { databaseKinds } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { changeRows, storeLocks } from '../../support/stored-rows.ts';
import { valueIn } from '../../support/value-in.ts';
import { planOf, type RecordedQuery, recording } from '../storage/query-plan.ts';

describe.each(databaseKinds)('people who ask for a lock, on $name', (kind) => {
  const workspace = 'game';
  const storage = sharedStorage(kind, { workspaces: [workspace] });
  const errors: unknown[] = [];
  const storageCommit: Storage['commit'] = (...change) => storage.commit(...change);
  const askingWith = (quota = noLockQuota, commit = storageCommit, read = storage.read) =>
    createAsking({
      storage: { read, now: storage.now, commit },
      idempotent: createIdempotency(storage).idempotent,
      quota,
      windowsPaths: false,
      lineOf: ({ workspace: id, path }) => ({ workspace: id, path }),
      onChange: () => undefined,
      onError: (error) => errors.push(error),
    });
  const path = valueIn(parseLockPath('Maps/Arena.umap'));
  const ttl = valueIn(parseTtl('8h'));
  let ada: Bearer;
  let bo: Bearer;

  const person = async (name: string, scopes: readonly Scope[] = ['locks:write']): Promise<Bearer> =>
    (
      await storage.commit('global', (db) =>
        createToken(db, storage.now, { name, scopes, workspaces: null, lifetime: null }),
      )
    ).token;
  const lock = (bearer: Bearer) =>
    storage.commit({ workspace }, (db) =>
      acquireLocks(db, storage.now, [{ workspace, path, type: 'exclusive', ttl, bearer, origin: null }]),
    );
  const free = () => storage.commit('global', (db) => db.deleteFrom('locks').execute());
  const found = () => findLock(storage.read, storage.now, { workspace, path });
  const queue = async () => (await listQueue(storage, { workspace, path })).map(({ owner, note }) => [owner, note]);
  const ask = async (bearer: Bearer, note: string | null = null) =>
    JSON.parse((await askingWith().askFor(undefined, { workspace, path, bearer, note, ttl })).body);

  beforeEach(async () => {
    await storage.commit('global', async (db) => {
      for (const table of ['locks', 'lock_places', 'tokens', 'deliveries', 'hooks'] as const)
        await db.deleteFrom(table).execute();
    });
    ada = await person('ada');
    bo = await person('bo');
    await lock(ada);
  });

  test('get it at their turn, with their note and time, as a lock that Git LFS renews', async () => {
    const cy = await person('cy');
    expect(await ask(bo, 'Lights')).toMatchObject({ position: 1, owner: 'bo', note: 'Lights', priority: 'normal' });
    expect((await ask(cy)).position).toBe(2);
    const { grantToPeople } = askingWith();
    await grantToPeople();
    expect((await found())?.owner).toBe('ada');
    await free();
    await Promise.all([grantToPeople(), grantToPeople()]);
    expect(await found()).toMatchObject({
      ...{ owner: 'bo', note: 'Lights', origin: null, desk_id: expect.any(String) },
      // As for other locks without --windows-paths.
      folded_path: null,
    });
    expect((await found())?.remainingSeconds).toBeGreaterThan(8 * 3_600 - 60);
    expect(await queue()).toEqual([['cy', null]]);
    expect(errors).toEqual([]);
  });

  test('keep their place when they ask again, even days later, and the holder learns of it once', async () => {
    const about = { workspace, url: 'https://hooks.example.com/', events: ['lock.requested'], branches: null } as const;
    const actor = { name: 'ada', tokenId: null, address: null };
    await storage.commit('global', (db) =>
      registerHook(db, storage.now, {
        ...{ ...about, format: 'standard', secret: newWebhookSecret(), actor, scopes: [] },
        headers: valueIn(parseExtraHeaders({})),
      }),
    );
    const cy = await person('cy');
    await ask(bo, 'Lights');
    await ask(cy);
    const sixDaysAgo = Date.now() - 6 * 86_400_000;
    await changeRows(storage, 'lock_places', { asked_at: sixDaysAgo }, { owner: 'bo' });
    await removeOldPlaces(storage);
    expect((await ask(bo, 'Sound')).position).toBe(1);
    expect(await queue()).toEqual([
      ['bo', 'Sound'],
      ['cy', null],
    ]);
    const events = await storage.read.selectFrom('deliveries').select('event').execute();
    const requests = events.map(({ event }) => JSON.parse(event).data.request);
    expect(requests).toMatchObject([{ owner: 'bo', note: 'Lights' }, { owner: 'cy' }]);
    await changeRows(storage, 'lock_places', { asked_at: sixDaysAgo - 2 * 86_400_000 }, { owner: 'bo' });
    await removeOldPlaces(storage);
    expect(await queue()).toEqual([['cy', null]]);
  });

  test('keep the ttl of their request when they ask again without one', async () => {
    await ask(bo);
    const byDefault = { ttl: valueIn(parseTtl('14d')), isDefaultTtl: true };
    await askingWith().askFor(undefined, { workspace, path, bearer: bo, note: 'Sound', ...byDefault });
    await free();
    await askingWith().grantToPeople();
    expect(await found()).toMatchObject({ owner: 'bo', note: 'Sound' });
    expect((await found())?.remainingSeconds).toBeLessThanOrEqual(8 * 3_600);
  });

  test('get nothing after they have withdrawn, or without a valid token that may lock', async () => {
    const asking = askingWith();
    await ask(bo);
    expect(await asking.withdraw({ workspace, path, bearer: bo })).toBe(true);
    expect(await asking.withdraw({ workspace, path, bearer: bo })).toBe(false);
    const reader = await person('cy', ['locks:read']);
    await ask(reader);
    const revoked = await person('di');
    await ask(revoked);
    await storage.commit('global', (db) => revokeToken(db, storage.now, revoked.id));
    await free();
    for (let each = 0; each < 3; each += 1) await asking.grantToPeople();
    expect(await found()).toBeUndefined();
    expect(await queue()).toEqual([]);
  });

  test('get nothing if they withdraw at the moment of their turn', async () => {
    await ask(bo);
    await free();
    const { grantToPeople } = askingWith(noLockQuota, async (...change) => {
      await askingWith().withdraw({ workspace, path, bearer: bo });
      return storage.commit(...change);
    });
    await grantToPeople();
    expect([await found(), errors]).toEqual([undefined, []]);
  });

  test('do not keep others waiting for a lock that would exceed their quota', async () => {
    await ask(bo);
    const cy = await person('cy');
    await ask(cy);
    await free();
    const none = createLockQuota({ maxLocks: 0, maxLocksPerOwner: 0 }, () => performance.now());
    await askingWith(none).grantToPeople();
    expect(await queue()).toEqual([['cy', null]]);
    await askingWith().grantToPeople();
    expect((await found())?.owner).toBe('cy');
  });

  test('come after those who are ahead of them, also of a free path', async () => {
    const first = { workspace, path, askedPath: path, placeId: 'job', tokenId: 'tok_job', owner: 'job', origin: null };
    await storage.commit({ workspace }, (db) =>
      joinLines(db, storage.now, [{ ...first, note: null, urgency: 3, presentMs: 60_000 }]),
    );
    await free();
    expect((await ask(bo)).position).toBe(2);
    await askingWith().grantToPeople();
    expect(await found()).toBeUndefined();
  });

  test('cause no reads of other locks, nor of the lines of jobs', async () => {
    const many = Array.from({ length: 2_000 }, (_, index) => ({ workspace_id: workspace, path: `many/${index}` }));
    await storeLocks(storage, ...many);
    const of = {
      workspace,
      tokenId: 'tok_job',
      owner: 'job',
      origin: null,
      note: null,
      urgency: 3,
      presentMs: 0,
    } as const;
    const lines = many.map((lock) => ({ ...of, path: lock.path, askedPath: lock.path, placeId: lock.path }));
    await storage.commit({ workspace }, (db) => joinLines(db, storage.now, lines));
    if (storage.dialect === 'postgres') await storage.commit('global', (db) => sql`analyze`.execute(db));
    const queries: RecordedQuery[] = [];
    await askingWith(noLockQuota, storageCommit, recording(storage.read, queries)).grantToPeople();
    expect(queries).toHaveLength(1);
    for (const query of queries) {
      const plan = await planOf(storage, query, {});
      expect(plan).not.toMatch(/SCAN (locks|lock_lines)|Seq Scan on (locks|lock_lines)|locks_by_id/);
      expect(plan).toMatch(/locks_pkey|autoindex_locks_1/);
      expect(plan).toMatch(/locks_by_folded_path/);
    }
  });

  test('can ask for a limited number of locks with one token', async () => {
    const asked = { tokenId: bo.id, owner: 'bo', origin: null, note: null, urgency: 3, presentMs: 0, ttl: 1 } as const;
    const places = Array.from({ length: maxAsksOfToken - 1 }, (_, index) => `${index}`);
    await storage.commit({ workspace }, (db) =>
      joinLines(
        db,
        storage.now,
        places.map((placeId) => ({ ...asked, workspace, path: placeId, askedPath: placeId, placeId })),
      ),
    );
    await ask(bo);
    await ask(bo, 'again');
    await storage.commit({ workspace }, (db) =>
      joinLines(db, storage.now, [{ ...asked, workspace, path: 'b', askedPath: 'b', placeId: 'b' }]),
    );
    await askingWith().withdraw({ workspace, path, bearer: bo });
    await expect(ask(bo)).rejects.toThrow(`This token has asked for its maximum of ${maxAsksOfToken} locks.`);
  });

  test('get the reason if there is nothing to ask for', async () => {
    await expect(ask(ada)).rejects.toThrow(`You hold the lock on ${path} already.`);
    await expect(ask({ ...bo, run: { origin: null, tokenId: 'tok_run' } })).rejects.toThrow('The token of a job');
    await free();
    await expect(ask(bo)).rejects.toThrow(`Nobody holds a lock on ${path}, and nobody waits for it.`);
    expect(await queue()).toEqual([]);
  });
});
