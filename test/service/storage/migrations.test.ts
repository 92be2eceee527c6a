import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { parseLockPath } from '../../../src/interface/lock-path.ts';
import { parseTtl } from '../../../src/interface/ttl.ts';
import { acquireLocks } from '../../../src/service/locks/acquire.ts';
import { readLockHistory } from '../../../src/service/locks/read-history.ts';
import { type ReleaseRequest, releaseLocks } from '../../../src/service/locks/release.ts';
import { renewLock } from '../../../src/service/locks/renew.ts';
import { type Migration, migrate } from '../../../src/service/storage/migrate.ts';
import { schemaVersion } from '../../../src/service/storage/migrations.ts';
import { openPostgres } from '../../../src/service/storage/postgres.ts';
import { openSqlite } from '../../../src/service/storage/sqlite.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import type { Tables } from '../../../src/service/storage/tables.ts';
import { newTokenSecret, secretHash } from '../../../src/service/tokens/secret.ts';
import { authenticate, listTokens } from '../../../src/service/tokens/tokens.ts';
import { addWorkspace, removeWorkspaceAudited } from '../../../src/service/workspaces/workspaces.ts';
import { createPostgresDatabase, postgresServer, temporaryDataFolder } from '../../support/databases.ts';
import { operator } from '../../support/trusted-jobs.ts';
import { valueIn } from '../../support/value-in.ts';
import { createOldSqlite } from './old-sqlite.ts';

interface OldDatabase {
  /** The database as the earlier version left it. */
  readonly before: Kysely<Tables>;
  /** Opens the database with this version. */
  open(onMigrated?: (migration: Migration) => void): Promise<Storage>;
  remove(): Promise<void>;
}

async function oldSqlite(schema: number): Promise<OldDatabase> {
  const { folder, remove } = await temporaryDataFolder();
  const before = await createOldSqlite(folder, schema);
  return { before, open: (onMigrated = () => undefined) => openSqlite({ folder, onMigrated }), remove };
}

async function oldPostgres(schema: number): Promise<OldDatabase> {
  const { url, remove } = await createPostgresDatabase(postgresServer ?? '');
  const dialect = new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) });
  const before = new Kysely<Tables>({ dialect });
  await migrate(before, 'postgres', schema);
  const open: OldDatabase['open'] = (onMigrated = () => undefined) =>
    openPostgres({ url, onMigrated, onIdleError: () => undefined });
  return { before, open, remove };
}

const oldDatabases = [
  ['SQLite', oldSqlite] as const,
  ...(postgresServer === undefined ? [] : [['PostgreSQL', oldPostgres] as const]),
];

async function runAll(db: Kysely<Tables>, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

test('a database of the first version keeps its data, and gets the new columns', async () => {
  const { before, open, remove } = await oldSqlite(1);
  onTestFinished(remove);
  await runAll(before, [
    `insert into tokens (id, name, hash, scopes, created_at) values ('tok_1', 'ada', 'h', '["sync"]', 1)`,
    `insert into workspaces values ('game', 'https://git.example.com/game.git', 1)`,
    `insert into hooks values ('hook_1', 'game', 'https://ci.example.com', '[]', null, 'standard', 's', '{}', 0, 1, 1)`,
    `insert into audit (at, actor, action, detail) values (1, 'ada', 'lock.force-released', '{}')`,
  ]);
  await before.destroy();

  const storage = await open();
  onTestFinished(storage.close);
  const rows = (table: 'tokens' | 'hooks' | 'audit') => storage.read.selectFrom(table).selectAll().execute();
  expect(await rows('tokens')).toMatchObject([{ id: 'tok_1', name: 'ada', last_used_at: null }]);
  expect(await rows('hooks')).toMatchObject([{ id: 'hook_1', active: 0 }]);
  expect(await rows('audit')).toMatchObject([{ actor: 'ada', token_id: null, address: null }]);
  const change = storage.commit('global', (db) => db.deleteFrom('audit').execute());
  await expect(change).rejects.toThrow('The audit only grows.');
});

const hook = 'hook_0f1d8a52-0d57-4f5e-9a3b-6a1f6a0f8f10';
const now = Date.now();

/** Headers and bodies of the remembered responses, by their keys. */
const remembered: Readonly<Record<string, readonly [headers: object, body: string]>> = {
  lock: [{ 'content-type': 'application/json', etag: '"l"', location: '/v1/workspaces/game/locks/a%2Fb' }, '{}'],
  sync: [{ location: '/v1/workspaces/film/syncs/sync_1' }, '{}'],
  form: [{ location: `/workspaces/film/hooks/${hook}?notice=registered-before` }, ''],
  hook: [{ 'content-type': 'application/json' }, `{"id":"${hook}","url":"https://ci.example.com"}`],
  removed: [{ 'content-type': 'application/json' }, '{"id":"hook_of-a-workspace-that-is-gone"}'],
};

describe.each(oldDatabases)('a database with one counter for all workspaces, on %s', (_, make) => {
  let storage: Storage;
  let remove: () => Promise<void>;

  beforeAll(async () => {
    // The last schema with one counter for all workspaces, and with idempotency keys not limited to a workspace.
    const old = await make(5);
    remove = old.remove;
    await runAll(old.before, [
      `insert into workspaces values ('game', 'https://git.example.com/game.git', 1), ('film', 'https://git.example.com/film.git', 1)`,
      `insert into locks (workspace_id, path, id, type, token_id, owner, acquired_at, expires_at, fence)
         values ('game', 'held', 'lock_1', 'exclusive', 'tok_1', 'ada', ${now}, ${now + 3_600_000}, 41)`,
      `update counters set value = 42 where name = 'fence'`,
      `insert into hooks (id, workspace_id, url, events, format, secret, headers, active, created_at, updated_at)
         values ('${hook}', 'film', 'https://ci.example.com', '[]', 'standard', 's', '{}', 1, 1, 1)`,
      ...Object.entries(remembered).map(
        ([key, [headers, body]]) =>
          `insert into remembered_answers (token_id, key, fingerprint, status, headers, body, created_at)
             values ('tok_1', '${key}', 'f', 201, '${JSON.stringify(headers)}', '${body}', ${now})`,
      ),
    ]);
    await old.before.destroy();
    storage = await old.open();
  });
  afterAll(async () => {
    await storage.close();
    await remove();
  });

  const fenceIn = async (workspace: string, path = 'a'): Promise<number | undefined> => {
    const bearer = { id: 'tok_1', name: 'ada', owner: 'ada', scopes: [], workspaces: null };
    const wanted = { path: valueIn(parseLockPath(path)), type: 'exclusive', ttl: valueIn(parseTtl('1h')) } as const;
    const request = { workspace, bearer, origin: null, ...wanted };
    const [one] = await storage.commit({ workspace }, (db) => acquireLocks(db, storage.now, [request]));
    return one !== undefined && 'lock' in one ? one.lock.fence : undefined;
  };

  test('does not issue a fence twice in any old or new workspace, and keeps the active locks', async () => {
    await storage.commit('global', (db) =>
      addWorkspace(db, storage.now, { id: 'new', remote: 'https://git.example.com/new.git' }),
    );
    for (const workspace of ['game', 'film', 'new']) {
      expect([await fenceIn(workspace), await fenceIn(workspace, 'b')]).toEqual([43, 44]);
    }
    expect(await fenceIn('game', 'held')).toBe(41);
  });

  test('refuses a lock by an instance of the earlier version instead of issuing a fence twice', async () => {
    const asBefore = sql`select value from counters where name = 'fence'`;
    await expect(asBefore.execute(storage.read)).rejects.toThrow(/counters/);
  });
});

test.each(oldDatabases)(
  'a database from before Git LFS keeps its locks, and an instance of the earlier version can share it, on %s',
  async (_, make) => {
    // The last schema without Git LFS locks.
    const { before, open, remove } = await make(10);
    onTestFinished(remove);
    const addLock = (path: string, id: string, expiresAt: number) =>
      `insert into locks (workspace_id, path, id, type, token_id, owner, acquired_at, expires_at, fence)
       values ('game', '${path}', '${id}', 'exclusive', 'tok_1', 'ada', ${now}, ${expiresAt}, 41)
     on conflict (workspace_id, path) do update set id = excluded.id, expires_at = excluded.expires_at
       where locks.expires_at <= ${now}`;
    await runAll(before, [
      `insert into tokens (id, name, hash, scopes, created_at) values ('tok_1', 'ada', 'h', '["sync"]', 1)`,
      `insert into workspaces (id, remote, created_at) values ('game', 'https://git.example.com/game.git', 1)`,
      `insert into hooks (id, workspace_id, url, events, format, secret, headers, active, created_at, updated_at)
       values ('${hook}', 'game', 'https://ci.example.com', '[]', 'standard', 's', '{}', 1, 1, 1)`,
      addLock('held', 'lock_1', now + 3_600_000),
    ]);
    await before.destroy();

    const storage = await open();
    onTestFinished(storage.close);
    const { read } = storage;
    const game = await read.selectFrom('workspaces').selectAll().execute();
    expect(game).toMatchObject([{ id: 'game', desk_ttl: null, lfs_url: null }]);
    expect(await read.selectFrom('locks').selectAll().execute()).toMatchObject([{ id: 'lock_1', desk_id: null }]);
    expect(await read.selectFrom('hooks').select('id').execute()).toEqual([{ id: hook }]);
    await storage.commit('global', async (db) => {
      await db
        .updateTable('locks')
        .set({ id: 'lock_2', desk_id: 'lock_2', expires_at: now - 1 })
        .execute();
      await sql.raw(`insert into workspaces (id, remote, created_at) values ('film', 'r', 1)`).execute(db);
      await sql.raw(addLock('held', 'lock_3', now + 3_600_000)).execute(db);
      await sql.raw(addLock('free', 'lock_4', now + 3_600_000)).execute(db);
    });
    const locks = await read.selectFrom('locks').select(['id', 'desk_id']).orderBy('id').execute();
    expect(locks).toEqual([
      { id: 'lock_3', desk_id: 'lock_2' },
      { id: 'lock_4', desk_id: null },
    ]);
  },
);

describe.each(oldDatabases)('a database without owners, on %s', (_, make) => {
  let storage: Storage;
  let remove: () => Promise<void>;
  const secret = newTokenSecret();

  /** Statements with which the last version without owners stored a token and a lock. */
  const createAsBefore = (id: string, name: string, hash: string): string =>
    `insert into tokens (id, name, hash, scopes, created_at) values ('${id}', '${name}', '${hash}', '["locks:write"]', 1)`;
  const lockAsBefore = (path: string, id: string, owner: string, expiresAt: number): string =>
    `insert into locks (workspace_id, path, id, type, token_id, owner, origin, folded_path, fence, acquired_at, expires_at)
       values ('game', '${path}', '${id}', 'exclusive', 'tok_${owner}', '${owner}', null, null, 41, ${now}, ${expiresAt})
       on conflict (workspace_id, path) do update set id = excluded.id, token_id = excluded.token_id,
         owner = excluded.owner, expires_at = excluded.expires_at where locks.expires_at <= ${now}`;

  beforeAll(async () => {
    // The last schema in which a lock belonged to a single token.
    const old = await make(11);
    remove = old.remove;
    await runAll(old.before, [
      createAsBefore('tok_ada', 'ada', secretHash(secret)),
      createAsBefore('tok_bob', 'bob', 'b'),
      `insert into workspaces (id, remote, created_at) values ('game', 'https://git.example.com/game.git', 1)`,
      lockAsBefore('held', 'lock_1', 'ada', now + 3_600_000),
      `insert into hooks (id, workspace_id, url, events, format, secret, headers, active, created_at, updated_at)
         values ('${hook}', 'game', 'https://ci.example.com', '["lock.released"]', 'standard', 's', '{}', 1, 1, 1)`,
    ]);
    await old.before.destroy();
    storage = await old.open();
  });
  afterAll(async () => {
    await storage.close();
    await remove();
  });

  const askedBy = (owner: string, tokenId: string, path: string) => ({
    workspace: 'game',
    path: valueIn(parseLockPath(path)),
    match: null,
    releaser: { name: owner, owner, tokenId, address: null, force: false },
  });
  const release = (request: ReleaseRequest) =>
    storage.commit({ workspace: 'game' }, async (db) => (await releaseLocks(db, storage.now, [request]))[0]);

  test('uses the name of each token as its owner, keeps the locks, and queues the event of their release', async () => {
    expect(await authenticate(storage, secret)).toMatchObject({
      kind: 'known',
      bearer: { id: 'tok_ada', owner: 'ada' },
    });
    expect(await listTokens(storage)).toMatchObject([
      { name: 'ada', owner: 'ada' },
      { name: 'bob', owner: 'bob' },
    ]);
    expect(await release(askedBy('bob', 'tok_bob', 'held'))).toMatchObject({ kind: 'another-owner' });
    expect(await release(askedBy('ada', 'tok_new', 'held'))).toMatchObject({
      kind: 'released',
      lock: { id: 'lock_1', owner: 'ada' },
    });
    const told = await storage.read.selectFrom('deliveries').select(['hook_id', 'event']).execute();
    expect(told).toMatchObject([{ hook_id: hook, event: expect.stringContaining('"released_by":"ada"') }]);
  });

  test('lets an instance of the earlier version share it, create tokens and acquire locks', async () => {
    await storage.commit('global', async (db) => {
      await sql.raw(createAsBefore('tok_late', 'late', 'l')).execute(db);
      await sql.raw(lockAsBefore('late', 'lock_2', 'late', now + 3_600_000)).execute(db);
    });
    expect(await listTokens(storage)).toContainEqual(expect.objectContaining({ id: 'tok_late', owner: 'late' }));
    const renewal = { ttl: valueIn(parseTtl('2h')), match: () => true };
    const bearer = { id: 'tok_other', name: 'x', owner: 'late', scopes: [], workspaces: null };
    const renewed = await storage.commit({ workspace: 'game' }, (db) =>
      renewLock(db, storage.now, { ...askedBy('late', 'tok_other', 'late'), ...renewal, bearer }),
    );
    expect(renewed).toMatchObject({ kind: 'renewed', lock: { id: 'lock_2', owner: 'late' } });
  });
});

test.each(oldDatabases)(
  'a database shared with an instance that has no lock history records only the changes of this one, on %s',
  async (_, make) => {
    // The last schema without a lock history.
    const { before, open, remove } = await make(12);
    onTestFinished(remove);
    const takeAsBefore = (path: string, fence: number) =>
      `insert into locks (workspace_id, path, id, type, token_id, owner, acquired_at, expires_at, fence)
       values ('game', '${path}', 'lock_${path}', 'exclusive', 'tok_ada', 'ada', ${now}, ${now + 3_600_000}, ${fence})
     on conflict (workspace_id, path) do update set id = excluded.id, expires_at = excluded.expires_at
       where locks.expires_at <= ${now}`;
    await runAll(before, [
      `insert into workspaces (id, remote, created_at) values ('game', 'https://git.example.com/game.git', 1)`,
      takeAsBefore('held', 41),
    ]);
    await before.destroy();
    const storage = await open();
    onTestFinished(storage.close);

    const bearer = { id: 'tok_ada', name: 'ada', owner: 'ada', scopes: [], workspaces: null };
    const place = (path: string) => ({ workspace: 'game', path: valueIn(parseLockPath(path)) });
    const releaser = { name: 'ada', owner: 'ada', tokenId: 'tok_ada', address: null, force: false };
    await storage.commit({ workspace: 'game' }, async (db) => {
      await sql.raw(takeAsBefore('late', 42)).execute(db);
      for (const path of ['held', 'late']) {
        await releaseLocks(db, storage.now, [{ ...place(path), match: null, releaser }]);
      }
      const terms = { type: 'exclusive', ttl: valueIn(parseTtl('1h')), bearer, origin: null } as const;
      await acquireLocks(db, storage.now, [{ ...place('new'), ...terms }]);
      await sql.raw(`delete from locks where path = 'new'`).execute(db);
    });
    const { changes } = await readLockHistory(storage, { workspace: 'game', limit: 9 });
    expect(changes.map(({ kind, path }) => `${kind} ${path}`).sort()).toEqual([
      'acquired new',
      'released held',
      'released late',
    ]);
    await storage.commit('global', (db) => removeWorkspaceAudited(db, storage.now, operator, 'game'));
    expect(await storage.read.selectFrom('lock_history').selectAll().execute()).toEqual([]);
  },
);

test.each(oldDatabases)(
  'on %s, a migration is reported with both schema versions, and only when it runs',
  async (_, makeOld) => {
    const { before, open, remove } = await makeOld(5);
    onTestFinished(remove);
    await before.destroy();
    const reported: Migration[] = [];
    for (let start = 0; start < 2; start += 1) {
      const storage = await open((migration) => reported.push(migration));
      await storage.close();
    }
    expect(reported).toEqual([{ from: 5, to: schemaVersion, durationMs: expect.any(Number) }]);
  },
);
