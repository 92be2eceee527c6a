import { describe, expect, test } from 'vitest';
import { parseTtl } from '../../../src/interface/duration.ts';
import { parseLockPath } from '../../../src/interface/lock-path.ts';
import type { Compared } from '../../../src/interface/resources.ts';
import { endLease, type LeaseRequest, takeLease } from '../../../src/service/locks/leases.ts';
import { take as takeLocks } from '../../../src/service/locks/take.ts';
import { waitIds } from '../../../src/service/locks/wait-terms.ts';
import { keysOfWait } from '../../../src/service/locks/waits.ts';
import type { Database } from '../../../src/service/storage/storage.ts';
import { databaseKinds } from '../../support/databases.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { changeRows } from '../../support/stored-rows.ts';
import { valueIn } from '../../support/value-in.ts';
import { bearerOf, lockRequest, noRules, takeIn } from '../locks/taken-locks.ts';
import { withClockOf } from '../storage/changed-queries.ts';

/** A clock that has advanced by this much with each reading. */
function tickingFrom(ms: number, step = 1): () => string {
  let time = ms - step;
  return () => {
    time += step;
    return `${time}`;
  };
}

describe.each(databaseKinds)('changes during requests for a lease, on $name', (kind) => {
  const storage = sharedStorage(kind, { workspaces: ['game'] });
  const pathOf = (path: string) => valueIn(parseLockPath(path));
  const upToDate: Compared = { latest: 'refuse', outdated: [], as_of: null };

  const requestOf = (id: string, paths: readonly string[], count?: number): LeaseRequest => ({
    ...{ workspace: 'game', id, bearer: bearerOf('ada'), origin: null, fingerprint: 'same', note: null },
    ...{ readPaths: async () => paths.map(pathOf), count, ttl: valueIn(parseTtl('1m')) },
    compare: async () => upToDate,
  });
  /** Attempts a request once: without a place in line, unless given otherwise. */
  const take = (request: LeaseRequest, compared: Compared, isFirst?: boolean) => {
    const place = { requestId: 'request', urgency: 3, presentMs: 5_000, gone: AbortSignal.any([]) };
    const given = isFirst === undefined ? undefined : { ...place, isFirst };
    return takeLease(storage, { ...request, compare: async () => compared }, given, noRules);
  };

  test('an expired lock is replaced, although the clock is set back meanwhile', async () => {
    const expiring = (db: Database) => takeIn(db, ['set-back'], { bearer: bearerOf('bob') });
    await storage.commit('global', expiring);
    await changeRows(storage, 'locks', { expires_at: 9_999 }, { path: 'set-back' });
    const [decision] = await storage.commit('global', (db) =>
      takeLocks(withClockOf(db, tickingFrom(10_000, -1_000)), [lockRequest('set-back')], noRules),
    );
    expect(decision).toMatchObject({ kind: 'granted', locks: [{ path: 'set-back', owner: 'ada' }] });
    const ended = storage.read.selectFrom('lock_history').select(['ended_by', 'owner']).where('path', '=', 'set-back');
    expect(await ended.execute()).toEqual([{ ended_by: null, owner: 'bob' }]);
  });

  test('a lock that expires while its lease ends is released or lost, not both', async () => {
    expect(await take(requestOf('ending', ['a', 'b']), upToDate)).toMatchObject({ kind: 'granted', isNew: true });
    await changeRows(storage, 'locks', { expires_at: 1_001 });
    const ended = await storage.commit('global', (db) =>
      endLease(
        withClockOf(db, tickingFrom(1_000)),
        { workspace: 'game', id: 'ending' },
        bearerOf('ada'),
        expect.unreachable,
      ),
    );
    expect(ended).toEqual({ released: ['a', 'b'], lost: [], changed: ['a', 'b'] });
  });

  test('a lease for any of several paths waits for those that are not outdated now', async () => {
    await storage.commit('global', (db) => takeIn(db, ['k', 'l', 'm'], { bearer: bearerOf('bob') }));
    const request = requestOf('waiting', ['k', 'l', 'm'], 1);
    const without = (path: string): Compared => ({
      ...upToDate,
      outdated: [{ path, branch: 'main', commit: 'c0ffee', author: 'Bob', at: '2026-01-01T00:00:00Z' }],
    });
    const lines = async () =>
      (await keysOfWait(storage.read, waitIds.ofLease(request))).map(({ path }) => path).join(' ');
    await take(request, without('k'), true);
    expect(await lines()).toBe('l m');
    await take(request, without('l'), false);
    expect(await lines()).toBe('k m');
    await take(request, upToDate, false);
    expect(await lines()).toBe('k l m');
  });
});
