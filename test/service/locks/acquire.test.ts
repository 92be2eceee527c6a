import fc from 'fast-check';
import { CompiledQuery, sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseLockPath } from '../../../src/interface/lock-path.ts';
import { parseTtl } from '../../../src/interface/ttl.ts';
import { foldCase } from '../../../src/interface/windows-path.ts';
import { type Acquisition, acquireLocks, type LockRequest } from '../../../src/service/locks/acquire.ts';
import { findLocks } from '../../../src/service/locks/find.ts';
import { createLockQuota, type LockQuota } from '../../../src/service/locks/lock-quota.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import { addWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import { databaseKinds, type TestDatabase } from '../../support/databases.ts';
import { runs } from '../../support/runs.ts';
import { valueIn } from '../webhooks/samples.ts';

const workspaces = ['game', 'tools'];
const ttl = valueIn(parseTtl('1h'));

const wanted = (path: string, owner: string, workspace = 'game'): LockRequest => ({
  workspace,
  path: valueIn(parseLockPath(path)),
  type: 'exclusive',
  ttl,
  bearer: { id: `tok_${owner}`, name: owner, scopes: [], workspaces: null },
  origin: null,
});

const wantedOnWindows = (path: string, owner: string): LockRequest => ({
  ...wanted(path, owner),
  foldedPath: foldCase(path),
});

const inWords = (acquisition: Acquisition): string =>
  `${acquisition.lock.path}: ${acquisition.kind} by ${acquisition.lock.owner}`;

describe.each(databaseKinds)('locks that are asked for together on $name', (kind) => {
  let database: TestDatabase;
  let storage: Storage;

  beforeAll(async () => {
    database = await kind.open();
    storage = database.storage;
    for (const id of workspaces) {
      await storage.commit('global', (db) =>
        addWorkspace(db, storage.now, { id, remote: 'https://git.example.com/r.git' }),
      );
    }
  });
  afterAll(() => database.remove());

  const empty = () => storage.commit('global', (db) => db.deleteFrom('locks').execute());
  const decide = (requests: readonly LockRequest[], quota?: LockQuota) =>
    storage.commit('global', (db) => acquireLocks(db, storage.now, requests, quota));
  const acquire = async (...requests: readonly LockRequest[]): Promise<readonly Acquisition[]> =>
    (await decide(requests)).filter((decision) => decision.kind !== 'exceeded');
  const expire = (path: string) =>
    storage.commit('global', (db) => db.updateTable('locks').set({ expires_at: 0 }).where('path', '=', path).execute());

  const held = () => storage.read.selectFrom('locks').select('owner').where('expires_at', '>', Date.now()).execute();

  beforeEach(empty);

  test('the first that asks for a path gets it, and the others hear of it', async () => {
    const answers = await acquire(wanted('a', 'ada'), wanted('a', 'bob'), wanted('b', 'bob'), wanted('a', 'cyd'));
    expect(answers.map(inWords)).toEqual([
      'a: acquired by ada',
      'a: held by ada',
      'b: acquired by bob',
      'a: held by ada',
    ]);
  });

  test('the same path of another workspace is another path', async () => {
    const answers = await acquire(wanted('a', 'ada'), wanted('a', 'bob', 'tools'));
    expect(answers.map(inWords)).toEqual(['a: acquired by ada', 'a: acquired by bob']);
  });

  test('fences go on by one, in the order of the requests, and a refusal takes none', async () => {
    const fences = (answers: readonly Acquisition[]): readonly number[] => answers.map(({ lock }) => lock.fence);
    const [first = 0] = fences(await acquire(wanted('a', 'ada')));
    const answers = await acquire(wanted('a', 'bob'), wanted('b', 'bob'), wanted('b', 'cyd'), wanted('c', 'cyd'));
    expect(fences(answers)).toEqual([first, first + 1, first + 1, first + 2]);
    expect(fences(await acquire(wanted('d', 'ada')))).toEqual([first + 3]);
  });

  test('a path whose lock has expired is free', async () => {
    await acquire(wanted('a', 'ada'), wanted('b', 'ada'));
    await expire('a');
    const answers = await acquire(wanted('a', 'bob'), wanted('b', 'bob'), wanted('a', 'cyd'));
    expect(answers.map(inWords)).toEqual(['a: acquired by bob', 'b: held by ada', 'a: held by bob']);
  });

  test('together or one after the other, the same requests get the same locks', async () => {
    const request = fc.record({
      path: fc.constantFrom('a', 'b', 'c/d', 'ü'),
      owner: fc.constantFrom('ada', 'bob'),
      workspace: fc.constantFrom(...workspaces),
    });
    const requests = fc.array(request, { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(requests, requests, fc.constantFrom('a', 'b'), async (before, after, expiring) => {
        const run = async (together: boolean) => {
          await empty();
          const answers: Acquisition[] = [];
          for (const some of [before, after]) {
            const list = some.map(({ path, owner, workspace }) => wanted(path, owner, workspace));
            const calls = together ? [list] : list.map((one) => [one]);
            for (const call of calls) answers.push(...(await acquire(...call)));
            await expire(expiring);
          }
          // Each workspace counts by itself, and on from where it was.
          const workspacesOf = [...before, ...after].map(({ workspace }) => workspace);
          const first = new Map<string, number>();
          for (const [index, { lock }] of answers.entries()) {
            const workspace = workspacesOf[index] ?? '';
            first.set(workspace, Math.min(first.get(workspace) ?? lock.fence, lock.fence));
          }
          return answers.map(
            (answer, index) =>
              `${inWords(answer)} ${answer.lock.fence - (first.get(workspacesOf[index] ?? '') ?? Number.NaN)}`,
          );
        };
        expect(await run(true)).toEqual(await run(false));
      }),
      { numRuns: 15 },
    );
  });

  test('of paths that differ by case the first is taken, and the others hear of it, where they have folded paths', async () => {
    const ofFiles = await acquire(
      wantedOnWindows('Hero', 'ada'),
      wantedOnWindows('hero', 'bob'),
      wantedOnWindows('b', 'bob'),
      wantedOnWindows('HERO', 'ada'),
    );
    const all = ['Hero: acquired by ada', 'Hero: held by ada', 'b: acquired by bob', 'Hero: held by ada'];
    expect(ofFiles.map(inWords)).toEqual(all);
    expect((await acquire(wantedOnWindows('hero', 'cyd'))).map(inWords)).toEqual(['Hero: held by ada']);
    await expire('Hero');
    const later = await acquire(wantedOnWindows('hero', 'cyd'), wantedOnWindows('Hero', 'ada'));
    expect(later.map(inWords)).toEqual(['hero: acquired by cyd', 'hero: held by cyd']);
    await empty();
    await acquire(wanted('Hero', 'ada'));
    await expire('Hero');
    const again = await acquire(wantedOnWindows('Hero', 'ada'), wantedOnWindows('hero', 'bob'));
    expect(again.map(inWords)).toEqual(['Hero: acquired by ada', 'Hero: held by ada']);
    await empty();
    const ofPaths = await acquire(wanted('Hero', 'ada'), wanted('hero', 'bob'));
    expect(ofPaths.map(inWords)).toEqual(['Hero: acquired by ada', 'hero: acquired by bob']);
  });

  test('what has expired is found on its own path only', async () => {
    const foldedPath = 'hero';
    const find = async (path: string) =>
      (await findLocks(storage.read, storage.now, [{ workspace: 'game', path, foldedPath }])).map((lock) => lock?.path);
    await acquire(wantedOnWindows('Hero', 'ada'));
    expect(await find('HERO')).toEqual(['Hero']);
    await expire('Hero');
    expect(await find('HERO')).toEqual([undefined]);
    expect(await find('Hero')).toEqual(['Hero']);
  });

  test('however many locks there are, looking for one does not look at all of them', async () => {
    const { dialect } = storage;
    await storage.commit('global', (db) =>
      sql`insert into locks (workspace_id, path, id, type, token_id, owner, acquired_at, expires_at, fence, folded_path)
        with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 5000)
        select 'game', 'many/' || n, 'lock_' || n, 'exclusive', 't', 'o', 0, 8000000000000, 0, 'many/' || n from numbers`.execute(
        db,
      ),
    );
    if (dialect === 'postgres') await storage.commit('global', (db) => sql`analyze locks`.execute(db));
    const texts: string[] = [];
    const watched = storage.read.withPlugin({
      transformQuery({ node, queryId }) {
        texts.push(storage.read.getExecutor().compileQuery(node, queryId).sql);
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    // A query is built once for each clock, and this is another one.
    const now = sql<number>`${storage.now}`;
    await findLocks(watched, now, [{ workspace: 'game', path: 'many/7' }]);
    expect(texts).toHaveLength(1);
    await findLocks(watched, now, [{ workspace: 'game', path: 'MANY/7', foldedPath: 'many/7' }]);
    expect(texts).toHaveLength(2);
    const list = JSON.stringify({ 0: { workspace: 'game', path: 'many/7', foldedPath: 'many/7' } });
    const explain = dialect === 'sqlite' ? 'explain query plan' : 'explain';
    const indexes = [/locks_pkey|autoindex_locks_1/, /locks_by_folded_path/];
    for (const [index, text] of texts.entries()) {
      const { rows } = await storage.read.executeQuery(
        CompiledQuery.raw(`${explain} ${text}`, dialect === 'sqlite' ? [list] : [list, 1]),
      );
      expect(JSON.stringify(rows)).not.toMatch(/SCAN locks|Seq Scan on locks/);
      expect(JSON.stringify(rows)).toMatch(indexes[index] ?? /^$/);
    }
  });

  describe('with a quota', () => {
    const quotas = { maxLocks: 5, maxLocksPerOwner: 3 };
    const kindsOf = async (quota: LockQuota, ...requests: readonly LockRequest[]) =>
      (await decide(requests, quota)).map((decision) =>
        decision.kind === 'exceeded' ? decision.quota : decision.kind,
      );
    const ofOwner = (owner: string, ...paths: readonly string[]) => paths.map((path) => wanted(path, owner));

    test('an owner gets as many as one may have, together or one after the other, and others still get theirs', async () => {
      const quota = createLockQuota(quotas, () => 0);
      expect(await kindsOf(quota, ...ofOwner('ada', 'a', 'b', 'c', 'd'))).toEqual([
        'acquired',
        'acquired',
        'acquired',
        'maxLocksPerOwner',
      ]);
      expect(await kindsOf(quota, wanted('e', 'ada'))).toEqual(['maxLocksPerOwner']);
      expect(await kindsOf(quota, ...ofOwner('bob', 'd', 'e', 'f'))).toEqual(['acquired', 'acquired', 'maxLocks']);
      expect(await kindsOf(quota, wanted('a', 'ada', 'tools'))).toEqual(['acquired']);
    });

    test('a path that is held is said to be held, and takes nothing of it', async () => {
      const quota = createLockQuota(quotas, () => 0);
      await kindsOf(quota, ...ofOwner('ada', 'a', 'b', 'c'));
      expect(await kindsOf(quota, ...ofOwner('bob', 'a', 'b', 'c', 'd', 'e'))).toEqual([
        'held',
        'held',
        'held',
        'acquired',
        'acquired',
      ]);
    });

    test('what is released or over makes room again', async () => {
      let now = 0;
      const quota = createLockQuota(quotas, () => now);
      await kindsOf(quota, ...ofOwner('ada', 'a', 'b', 'c'));
      await expire('a');
      now += 1_000;
      expect(await kindsOf(quota, ...ofOwner('ada', 'd', 'e'))).toEqual(['acquired', 'maxLocksPerOwner']);
    });

    test('no workspace and no owner has more, whatever comes and goes', async () => {
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
            // Where the quota was counted just now, nobody is refused without need.
            const hadRoom = before.length < quotas.maxLocks && before.every((lock) => lock.owner !== owner);
            if (pauseMs > 0 && hadRoom)
              expect(decisions.filter((kind) => kind !== 'held')[0] ?? 'acquired').toBe('acquired');
          }
        }),
        { numRuns: runs(15, 200) },
      );
    });
  });
});
