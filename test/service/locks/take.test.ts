import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { toLock } from '../../../src/service/locks/find.ts';
import { createLockQuota, type LockQuota } from '../../../src/service/locks/lock-quota.ts';
import { type TakeDecision, type TakeRequest, take } from '../../../src/service/locks/take.ts';
import type { Database } from '../../../src/service/storage/storage.ts';
import { databaseKinds } from '../../support/databases.ts';
import { runs } from '../../support/runs.ts';
import { sharedStorage } from '../../support/shared-storage.ts';
import { changeRows } from '../../support/stored-rows.ts';
import { bearerOf, grantedLock, lockRequest, noRules } from './taken-locks.ts';

const workspaces = ['game', 'tools'];

const wanted = (path: string, owner: string, workspace = 'game'): TakeRequest =>
  lockRequest(path, { workspace, bearer: bearerOf(owner) });

/** What a request led to, and the lock on its path. */
function shown(decision: TakeDecision) {
  if (decision.kind === 'granted') return { kind: 'granted', lock: toLock(grantedLock(decision)) };
  const found = decision.kind === 'blocked' ? decision.paths[0]?.lock : undefined;
  if (found === undefined) return expect.unreachable(decision.kind);
  return { kind: 'held', lock: toLock(found) };
}

type Shown = ReturnType<typeof shown>;

describe.each(databaseKinds)('locks that are acquired together on $name', (kind) => {
  const storage = sharedStorage(kind, { workspaces });

  const empty = () => storage.commit('global', (db) => db.deleteFrom('locks').execute());
  const decide = (requests: readonly TakeRequest[], quota = noRules.quota) =>
    storage.commit('global', (db) => take(db, requests, { ...noRules, quota }));
  const acquire = async (...requests: readonly TakeRequest[]): Promise<readonly Shown[]> =>
    (await decide(requests)).map(shown);
  const expire = (path: string) => changeRows(storage, 'locks', { expires_at: 0 }, { path });

  const held = () => storage.read.selectFrom('locks').select('owner').where('expires_at', '>', Date.now()).execute();

  beforeEach(empty);

  const asked = fc.record({
    path: fc.constantFrom('a', 'A', 'b', 'ü/d'),
    owner: fc.constantFrom('ada', 'bob'),
    workspace: fc.constantFrom(...workspaces),
  });
  const steps = fc.array(
    fc.record({ together: fc.array(asked, { minLength: 1, maxLength: 8 }), expiring: fc.constantFrom('a', 'b') }),
    { minLength: 1, maxLength: 4 },
  );

  test('the first request gets the path with the next fence, and all others get its current lock', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (taken) => {
        await empty();
        const live = new Map<string, Shown['lock']>();
        const fences = new Map<string, number>();
        for (const { together, expiring } of taken) {
          const answers = await acquire(
            ...together.map(({ path, owner, workspace }) => wanted(path, owner, workspace)),
          );
          expect(answers).toHaveLength(together.length);
          for (const [index, { kind, lock }] of answers.entries()) {
            const { path = '', owner, workspace = '' } = together[index] ?? {};
            const key = `${workspace} ${path}`;
            const holder = live.get(key);
            if (holder !== undefined) {
              expect([kind, lock]).toEqual(['held', holder]);
              continue;
            }
            expect([kind, lock.path, lock.owner]).toEqual(['granted', path, owner]);
            expect(lock.fence).toBe((fences.get(workspace) ?? lock.fence - 1) + 1);
            fences.set(workspace, lock.fence);
            live.set(key, lock);
          }
          await expire(expiring);
          for (const [key, { path }] of live) if (path === expiring) live.delete(key);
        }
      }),
      { numRuns: runs(15, 200) },
    );
  });

  test('a client that is granted the lock it waited for, but no longer waits, gets no second one later', async () => {
    await acquire(wanted('a', 'ada'));
    const gone = AbortSignal.any([]);
    const place = { requestId: 'first', isFirst: true, urgency: 3, presentMs: 60_000, gone } as const;
    const client = { ...wanted('a', 'bob'), waitId: 'wait of bob' };
    expect(await decide([{ ...client, place }])).toMatchObject([{ kind: 'blocked' }]);
    await empty();
    expect(await acquire(client)).toMatchObject([{ kind: 'granted' }]);
    await empty();
    const earlier = { ...client, place: { ...place, isFirst: false } };
    const message = 'The place for a in line was lost, or a newer request of this client has it. Try again.';
    expect(await decide([earlier])).toMatchObject([{ problem: 'request-in-progress', message }]);
  });

  test('a client that disconnected while its file was compared gets no lock', async () => {
    const place = { requestId: 'r', isFirst: true, urgency: 3, presentMs: 5_000, gone: AbortSignal.abort() } as const;
    expect(await decide([{ ...wanted('a', 'ada'), place }])).toMatchObject([{ kind: 'refused' }]);
    expect(await held()).toEqual([]);
    const waits = storage.read.selectFrom('waits').select('id').where('request_id', '=', 'r');
    expect(await waits.execute()).toEqual([]);
  });

  const rowOf = (path: string) =>
    storage.read.selectFrom('locks').selectAll().where('path', '=', path).executeTakeFirstOrThrow();
  test.each([
    ['alone', undefined],
    ['with a lease', 'lease_1'],
  ])('a lock %s that replaces an expired one keeps none of its values', async (_, lease) => {
    const request = { ...wanted('a', 'ada'), note: 'a note', fromLfs: true };
    await acquire(request);
    await changeRows(storage, 'locks', { lease_id: 'lease_of_ada' });
    const marks = { note: 'a note', from_lfs: 1 };
    const before = await rowOf('a');
    expect(before).toMatchObject({ owner: 'ada', ...marks });
    await expire('a');
    await acquire({ ...wanted('a', 'bob'), lease });
    const after = await rowOf('a');
    const none = { note: null, from_lfs: 0 };
    expect(after).toMatchObject({
      owner: 'bob',
      ...none,
      lease_id: lease ?? null,
      fence: before.fence + 1,
    });
    expect(after.id).not.toBe(before.id);
  });

  describe('with a quota', () => {
    const quotas = { maxLocks: 5, maxLocksPerOwner: 3 };
    const kindsOf = async (quota: LockQuota, ...requests: readonly TakeRequest[]) =>
      (await decide(requests, quota)).map((decision) =>
        decision.kind === 'refused' ? decision.message : shown(decision).kind,
      );
    const ofTheOwner = 'The owner of this token has the maximum of 3 locks in this workspace. Release some.';
    const ofTheWorkspace = 'The workspace has its maximum of 5 locks. Release some.';
    const ofOwner = (owner: string, ...paths: readonly string[]) => paths.map((path) => wanted(path, owner));

    test('limits each owner and each workspace, and refusals for held paths do not count', async () => {
      const quota = createLockQuota(quotas, () => 0);
      const acquired = ['granted', 'granted', 'granted'];
      expect(await kindsOf(quota, ...ofOwner('ada', 'a', 'b', 'c', 'd'))).toEqual([...acquired, ofTheOwner]);
      expect(await kindsOf(quota, wanted('e', 'ada'))).toEqual([ofTheOwner]);
      const kinds = await kindsOf(quota, ...ofOwner('bob', 'a', 'b', 'c', 'd', 'e', 'f'));
      expect(kinds).toEqual(['held', 'held', 'held', 'granted', 'granted', ofTheWorkspace]);
      expect(await kindsOf(quota, wanted('a', 'ada', 'tools'))).toEqual(['granted']);
    });

    /** Decides for a client that wants this number of locks at once. */
    const decideLease = (quota: LockQuota, db: Database, owner: string, count: number) =>
      quota(db, [{ workspace: 'game', bearer: { owner }, wanted: count }]).then((refusals) => [...refusals.values()]);

    test('a refused lease uses up nothing, and one that fits is granted up to exactly the quota', async () => {
      const quota = createLockQuota({ maxLocks: 1_000, maxLocksPerOwner: 1_000 }, () => 0);
      const of = (owner: string, count: number) => decideLease(quota, storage.read, owner, count);
      const paths = Array.from({ length: 960 }, (_, index) => `held/${index}`);
      expect(await acquire(...ofOwner('ada', ...paths))).toHaveLength(960);
      expect(await of('bob', 45)).toMatchObject([{ message: expect.stringMatching('The workspace has') }]);
      expect(await of('cyd', 1)).toEqual([]);
      expect(await of('bob', 40)).toMatchObject([{ message: expect.stringMatching('The workspace has') }]);
      expect(await of('bob', 39)).toEqual([]);
      expect(await of('cyd', 1)).toMatchObject([{ message: expect.stringMatching('The workspace has') }]);
    });

    test('never allows more locks per workspace or owner, whatever locks come and go', async () => {
      const step = fc.record({
        owner: fc.constantFrom('ada', 'bob', 'cyd'),
        paths: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'), { minLength: 1 }),
        expiring: fc.option(fc.constantFrom('a', 'b', 'c')),
        pauseMs: fc.constantFrom(0, 1_000),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
          await empty();
          let now = 0;
          const quota = createLockQuota(quotas, () => now);
          for (const { owner, paths, expiring, pauseMs } of steps) {
            if (expiring !== null) await expire(expiring);
            now += pauseMs;
            const before = await held();
            const decisions = await kindsOf(quota, ...ofOwner(owner, ...paths));
            const after = await held();
            const own = after.filter((lock) => lock.owner === owner).length;
            expect(after.length).toBeLessThanOrEqual(quotas.maxLocks);
            expect(own).toBeLessThanOrEqual(quotas.maxLocksPerOwner);
            // If the quota was just counted, no request is refused without need.
            const hadRoom = before.length < quotas.maxLocks && before.every((lock) => lock.owner !== owner);
            if (pauseMs > 0 && hadRoom)
              expect(decisions.filter((kind) => kind !== 'held')[0] ?? 'granted').toBe('granted');
          }
        }),
        { numRuns: runs(15, 200) },
      );
    });
  });
});
