import { DatabaseSync } from 'node:sqlite';
import { Kysely, PostgresDialect, SqliteDialect, sql } from 'kysely';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseLockPath } from '../../../src/interface/lock-path.ts';
import { parseTtl } from '../../../src/interface/ttl.ts';
import { createIdempotency } from '../../../src/service/idempotency/idempotency.ts';
import type { KeyedRequest } from '../../../src/service/idempotency/keyed-request.ts';
import { acquireLocks } from '../../../src/service/locks/acquire.ts';
import { migrate } from '../../../src/service/storage/migrations.ts';
import { openPostgres, openPostgresDialect } from '../../../src/service/storage/postgres.ts';
import { databaseFile, openSqlite } from '../../../src/service/storage/sqlite.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import type { Tables } from '../../../src/service/storage/tables.ts';
import { addWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import {
  borrowPGlite,
  createPostgresDatabase,
  lentPGlite,
  pgliteBroadcast,
  postgresServer,
  temporaryDataFolder,
} from '../../support/databases.ts';
import { valueIn } from '../webhooks/samples.ts';

/** The last schema in which all workspaces shared one counter, and a key was its token's in all of them. */
const oneCounter = 5;

interface OldDatabase {
  /** As the earlier version left it. */
  readonly before: Kysely<Tables>;
  /** As this version opens it. */
  open(): Promise<Storage>;
  remove(): Promise<void>;
}

async function oldSqlite(): Promise<OldDatabase> {
  const { folder, remove } = await temporaryDataFolder();
  const file = new DatabaseSync(databaseFile(folder));
  const before = new Kysely<Tables>({
    dialect: new SqliteDialect({
      database: {
        prepare(text) {
          const statement = file.prepare(text);
          return {
            reader: statement.columns().length > 0,
            all: () => statement.all(),
            run: () => statement.run(),
            iterate: () => statement.iterate(),
          };
        },
        close: () => file.close(),
      },
    }),
  });
  await migrate(before, 'sqlite', oneCounter);
  return { before, open: () => openSqlite({ folder }), remove };
}

async function oldPostgres(server: string): Promise<OldDatabase> {
  const { url, remove } = await createPostgresDatabase(server);
  const before = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }),
  });
  await migrate(before, 'postgres', oneCounter);
  return { before, open: () => openPostgres({ url, onIdleError: () => undefined }), remove };
}

async function oldPGlite(): Promise<OldDatabase> {
  const { server, giveBack } = await borrowPGlite();
  const before = new Kysely<Tables>({ dialect: lentPGlite(server) });
  await migrate(before, 'postgres', oneCounter);
  return { before, open: () => openPostgresDialect(lentPGlite(server), pgliteBroadcast(server)), remove: giveBack };
}

const kinds = [
  { name: 'SQLite', make: oldSqlite },
  postgresServer === undefined
    ? { name: 'PGlite', make: oldPGlite }
    : { name: 'PostgreSQL', make: () => oldPostgres(postgresServer ?? '') },
];

const hook = 'hook_0f1d8a52-0d57-4f5e-9a3b-6a1f6a0f8f10';
const now = Date.now();
const created = { lock: 'lock-key', sync: 'sync-key', form: 'form-key', hook: 'hook-key', removed: 'removed-key' };

/** Headers and bodies as they were remembered. */
const remembered: readonly (readonly [key: string, headers: object, body: string])[] = [
  [
    created.lock,
    { 'content-type': 'application/json', etag: '"l"', location: '/v1/workspaces/game/locks/a%2Fb' },
    '{}',
  ],
  [created.sync, { location: '/v1/workspaces/film/syncs/sync_1' }, '{}'],
  [created.form, { location: `/workspaces/film/hooks/${hook}?notice=registered-before` }, ''],
  [created.hook, { 'content-type': 'application/json' }, `{"id":"${hook}","url":"https://ci.example.com"}`],
  [created.removed, { 'content-type': 'application/json' }, '{"id":"hook_of-a-workspace-that-is-gone"}'],
];

async function fill(before: Kysely<Tables>): Promise<void> {
  const text = (value: string): string => `'${value.replaceAll("'", "''")}'`;
  for (const statement of [
    `insert into workspaces values ('game', 'https://git.example.com/game.git', 1), ('film', 'https://git.example.com/film.git', 1)`,
    `insert into locks (workspace_id, path, id, type, token_id, owner, acquired_at, expires_at, fence)
       values ('game', 'held', 'lock_1', 'exclusive', 'tok_1', 'ada', ${now}, ${now + 3_600_000}, 41)`,
    `update counters set value = 42 where name = 'fence'`,
    `insert into hooks (id, workspace_id, url, events, format, secret, headers, active, created_at, updated_at)
       values ('${hook}', 'film', 'https://ci.example.com', '[]', 'standard', 's', '{}', 1, 1, 1)`,
    ...remembered.map(
      ([
        key,
        headers,
        body,
      ]) => `insert into remembered_answers (token_id, key, fingerprint, status, headers, body, created_at)
        values ('tok_1', '${key}', 'f', 201, ${text(JSON.stringify(headers))}, ${text(body)}, ${now})`,
    ),
  ]) {
    await sql.raw(statement).execute(before);
  }
}

describe.each(kinds)('a database with one counter for all workspaces, on $name', ({ make }) => {
  let storage: Storage;
  let remove: () => Promise<void>;

  beforeAll(async () => {
    const old = await make();
    remove = old.remove;
    await fill(old.before);
    await old.before.destroy();
    storage = await old.open();
  });
  afterAll(async () => {
    await storage.close();
    await remove();
  });

  const fenceIn = async (workspace: string, path = 'a'): Promise<number | undefined> => {
    const request = {
      workspace,
      path: valueIn(parseLockPath(path)),
      type: 'exclusive',
      ttl: valueIn(parseTtl('1h')),
      bearer: { id: 'tok_1', name: 'ada', scopes: [], workspaces: null },
      origin: null,
    } as const;
    const [one] = await storage.commit({ workspace }, (db) => acquireLocks(db, storage.now, [request]));
    return one === undefined || one.kind === 'exceeded' ? undefined : one.lock.fence;
  };

  test('gives out no fence that it gave out before, in any workspace, old or new', async () => {
    await storage.commit('global', (db) =>
      addWorkspace(db, storage.now, { id: 'new', remote: 'https://git.example.com/new.git' }),
    );
    for (const workspace of ['game', 'film', 'new']) {
      expect([await fenceIn(workspace), await fenceIn(workspace, 'b')]).toEqual([43, 44]);
    }
  });

  test('keeps the locks that are held', async () => {
    expect(await fenceIn('game', 'held')).toBe(41);
  });

  test('answers what was sent before again, in the workspace that it was sent to', async () => {
    const { idempotent } = createIdempotency(storage);
    const send = (workspace: string, key: string) => {
      const request: KeyedRequest = { tokenId: 'tok_1', key, fingerprint: 'f' };
      const done = { status: 201, headers: {}, body: 'done again' };
      return idempotent(
        { workspace },
        request,
        async () => undefined,
        async () => done,
      );
    };
    const replayed = async (workspace: string, key: string) =>
      (await send(workspace, key)).headers['idempotency-replayed'] === 'true';
    expect(await replayed('game', created.lock)).toBe(true);
    for (const key of [created.sync, created.form, created.hook]) expect(await replayed('film', key)).toBe(true);
    expect(await replayed('film', created.lock)).toBe(false);
    expect(await replayed('game', created.hook)).toBe(false);
    expect(await replayed('game', created.removed)).toBe(false);
  });

  test('refuses the lock of an instance of the earlier version that still runs, rather than give a fence twice', async () => {
    const asBefore = sql`select value from counters where name = 'fence'`;
    await expect(asBefore.execute(storage.read)).rejects.toThrow(/counters/);
  });
});
