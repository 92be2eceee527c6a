import { type InsertObject, type RawBuilder, type Selectable, sql } from 'kysely';
import { expect } from 'vitest';
import type { Duration } from '../../src/interface/duration.ts';
import { removeOldData } from '../../src/service/background-work.ts';
import { openSqlite } from '../../src/service/storage/sqlite.ts';
import type { Storage } from '../../src/service/storage/storage.ts';
import type { Tables } from '../../src/service/storage/tables.ts';
import { now } from '../../src/service/storage/timestamp.ts';
import { revokeToken } from '../../src/service/tokens/tokens.ts';
import { addWorkspace } from '../../src/service/workspaces/workspaces.ts';
import { operator } from './operator.ts';

type NewWorkspace = Parameters<typeof addWorkspace>[2];
type Sync = InsertObject<Tables, 'syncs'>;
type Branch = InsertObject<Tables, 'synced_branches'>;
type Lock = InsertObject<Tables, 'locks'>;

/** Adds a workspace as an operator does. Its remote is not contacted unless a test syncs it. */
export const storeWorkspace = (
  { commit }: Pick<Storage, 'commit'>,
  { id, ...settings }: Partial<NewWorkspace> & Pick<NewWorkspace, 'id'>,
): Promise<boolean> =>
  commit('global', (db) =>
    addWorkspace(db, operator, { id, remote: `https://git.example.com/${id}.git`, ...settings }),
  );

/** Revokes a token as an operator does. */
export const revoke = ({ commit }: Pick<Storage, 'commit'>, id: string) =>
  commit('global', (db) => revokeToken(db, operator, id));

/** Stores syncs directly: they have succeeded, unless given otherwise. */
export async function storeSyncs(
  { commit }: Pick<Storage, 'commit'>,
  ...syncs: readonly (Partial<Sync> & Pick<Sync, 'id' | 'workspace_id'>)[]
): Promise<void> {
  const ended = {
    branch: 'main',
    requested_by: 'ci',
    status: 'succeeded' as const,
    attempts: 1,
    created_at: 1,
    started_at: 2,
    finished_at: 3,
  };
  const rows = syncs.map((sync) => ({ ...ended, estimated_objects: 0, received_objects: 0, ...sync }));
  await commit('global', (db) => db.insertInto('syncs').values(rows).execute());
}

/** Stores so many old syncs, of some branches, that the database notices. */
export async function storeManySyncs(storage: Storage, workspace_id: string): Promise<void> {
  const numbers = Array.from({ length: 1_500 }, (_, number) => number);
  const syncs = numbers.map((number) => ({ id: `old ${number}`, workspace_id, branch: `old ${number % 30}` }));
  await storeSyncs(storage, ...syncs);
  if (storage.dialect === 'postgres') await storage.commit('global', (db) => sql`analyze`.execute(db));
}

/** Stores branches as if they were synced, in the first millisecond unless given otherwise. */
export async function storeSyncedBranches(
  { commit }: Pick<Storage, 'commit'>,
  ...branches: readonly (Partial<Branch> & Pick<Branch, 'workspace_id' | 'name' | 'head'>)[]
): Promise<void> {
  const rows = branches.map((branch) => ({ synced_at: 1, received_objects: 1, ...branch }));
  await commit('global', (db) => db.insertInto('synced_branches').values(rows).execute());
}

/** Stores locks directly, as if acquired: they do not expire, unless given otherwise. */
export async function storeLocks(
  { commit }: Pick<Storage, 'commit'>,
  ...locks: readonly (Partial<Lock> & Pick<Lock, 'workspace_id' | 'path'>)[]
): Promise<void> {
  const held = { owner: 'ada', origin: null, fence: 1 };
  const times = { acquired_at: 1, expires_at: 8_000_000_000_000 };
  const rows = locks.map((lock) => ({ id: `lock_${lock.workspace_id}_${lock.path}`, ...held, ...times, ...lock }));
  await commit('global', (db) => db.insertInto('locks').values(rows).execute());
}

type Row<Table extends keyof Tables> = Selectable<Tables[Table]>;

const equals = (values: object) => Object.entries(values).map(([name, value]) => sql`${sql.ref(name)} = ${value}`);
const those = (having: object) => sql.join([sql`true`, ...equals(having)], sql` and `);

/** Changes rows with these values, as time or someone with access to the database would. */
export async function changeRows<Table extends keyof Tables>(
  { commit }: Pick<Storage, 'commit'>,
  table: Table,
  columns: { readonly [Column in keyof Row<Table>]?: Row<Table>[Column] | RawBuilder<unknown> },
  having: Partial<Row<Table>> = {},
): Promise<void> {
  const update = sql`update ${sql.table(table)} set ${sql.join(equals(columns))} where ${those(having)}`;
  await commit('global', (db) => update.execute(db));
}

/** Removes old data as a service does. */
export const removeOldRows = (storage: Storage, keepAudit?: Duration): Promise<void> =>
  removeOldData({ storage, keepAudit, onError: (error) => expect.fail(String(error)) });

/** The rows with these values, in any order. */
export async function findRows<Table extends keyof Tables>(
  { read }: Pick<Storage, 'read'>,
  table: Table,
  having: Partial<Row<Table>> = {},
): Promise<readonly Row<Table>[]> {
  const found = sql<Row<Table>>`select * from ${sql.table(table)} where ${those(having)}`;
  return (await found.execute(read)).rows;
}

/** The paths of the active locks in a folder, whether or not its service runs. */
export async function lockedPathsIn(folder: string): Promise<readonly string[]> {
  const storage = await openSqlite({ folder });
  const { read } = storage;
  const locks = read.selectFrom('locks').select('path').where(sql<boolean>`expires_at > ${now}`).orderBy('path');
  const rows = await locks.execute().finally(storage.close);
  return rows.map(({ path }) => path);
}
