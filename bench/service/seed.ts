import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { LockRow } from '../../src/service/locks/find.ts';
import { lockEvent } from '../../src/service/locks/history.ts';
import { recordEvents } from '../../src/service/outbox/outbox.ts';
import { openPostgres } from '../../src/service/storage/postgres.ts';
import { openSqlite } from '../../src/service/storage/sqlite.ts';
import type { Database, Storage } from '../../src/service/storage/storage.ts';
import { parseExtraHeaders } from '../../src/service/webhooks/extra-headers.ts';
import { registerHook } from '../../src/service/webhooks/hooks.ts';
import { addWorkspace } from '../../src/service/workspaces/workspaces.ts';
import { createPostgresDatabase } from '../../test/support/databases.ts';
import type { Bench } from '../benchmark.ts';
import { createSeries, lockPath, type Series, type SeriesPlan } from './load.ts';
import type { Target } from './request.ts';

/** Databases for the measurements, and their initial content. */

/** Data of a service: a folder, and a PostgreSQL database if it has a URL. */
export interface Place {
  readonly data: string;
  readonly databaseUrl?: string | undefined;
}

export interface BenchDatabase {
  readonly name: 'SQLite' | 'PostgreSQL';
  /** Creates a new, empty place on each call. */
  createPlace(): Promise<Place>;
}

export const newPlace = async ({ folder }: Bench): Promise<Place> => ({ data: await mkdtemp(join(folder, 'data-')) });

/** Creates a place with a new database on the server. */
export async function postgresPlace(bench: Bench, server: string): Promise<Place & { readonly databaseUrl: string }> {
  const { url, remove } = await createPostgresDatabase(server);
  bench.atEnd(remove);
  return { ...(await newPlace(bench)), databaseUrl: url };
}

/** Measures on SQLite, and on PostgreSQL if it is available. */
export async function onEachDatabase<T>(bench: Bench, measure: (database: BenchDatabase) => Promise<readonly T[]>) {
  const all = [...(await measure({ name: 'SQLite', createPlace: () => newPlace(bench) }))];
  const server = await bench.postgres();
  if (server === undefined) return all;
  return all.concat(await measure({ name: 'PostgreSQL', createPlace: () => postgresPlace(bench, server) }));
}

export const openStorage = ({ data, databaseUrl }: Place): Promise<Storage> =>
  databaseUrl === undefined
    ? openSqlite({ folder: data })
    : openPostgres({ url: databaseUrl, onIdleError: () => undefined });

/** Changes the database directly, even while a service is running. */
async function change(place: Place, work: (db: Database) => Promise<unknown>): Promise<void> {
  const storage = await openStorage(place);
  await storage.commit('global', (db) => work(db)).finally(() => storage.close());
}

/** A remote that is never fetched. */
const nowhere = 'https://git.example.com/game.git';

interface NewWorkspaces {
  readonly remote?: string;
  readonly lfsUrl?: string;
  readonly urls?: readonly string[];
}

/** Adds workspaces like `workspace add --no-check`, each with a hook for new locks at each URL. */
export const addWorkspaces = (
  place: Place,
  ids: readonly string[],
  { remote = nowhere, lfsUrl, urls = [] }: NewWorkspaces = {},
): Promise<void> =>
  change(place, async (db) => {
    const headers = parseExtraHeaders({});
    if (!headers.ok) throw new Error(headers.reason);
    const actor = { name: 'bench', tokenId: null, address: null };
    const hook = { branches: null, format: 'standard', headers: headers.value, actor, scopes: [] } as const;
    for (const workspace of ids) {
      await addWorkspace(db, actor, { id: workspace, remote, ...(lfsUrl !== undefined && { lfs_url: lfsUrl }) });
      for (const url of urls) await registerHook(db, { ...hook, workspace, url, events: ['lock.acquired'] });
    }
  });

/** Uses a new workspace in each round: in a single one, the owner would reach the maximum number of locks. */
export function lockSeries(
  service: Place & Target,
  { name, urls = [], ...load }: Pick<SeriesPlan, 'ask' | 'clients'> & { name: string; urls?: readonly string[] },
): Series {
  const workspaceOf = (round: number): string => `${name}-${round}`;
  return createSeries({
    ...load,
    async targets(round) {
      await addWorkspaces(service, [workspaceOf(round)], { urls });
      return [{ ...service, workspace: workspaceOf(round) }];
    },
    // Removes the queued deliveries, which would otherwise run during other measurements.
    afterRound: (round) =>
      change(service, (db) => db.deleteFrom('hooks').where('workspace_id', '=', workspaceOf(round)).execute()),
  });
}

/** The workspace that `serve --dev` adds if it does not exist. */
const workspace = 'sample';
const dayMs = 86_400_000;

const lockRow = (index: number): LockRow => ({
  workspace_id: workspace,
  path: lockPath('seeded', index),
  id: `lock_${String(index).padStart(36, '0')}`,
  owner: 'release',
  note: null,
  origin: 'https://github.com/studio/game/actions/runs/1234567890/attempts/1',
  acquired_at: Date.now(),
  expires_at: Date.now() + dayMs,
  fence: index + 1,
  from_lfs: 0,
  lease_id: null,
});

const rowsAtOnce = 1_000;

/** Inserts locks into a database that no service uses yet: acquiring them would take minutes. */
export async function seedLocks(place: Place, count: number): Promise<void> {
  await addWorkspaces(place, [workspace]);
  const rows = Array.from({ length: count }, (_, index) => lockRow(index));
  await change(place, async (db) => {
    for (let first = 0; first < count; first += rowsAtOnce) {
      const some = rows.slice(first, first + rowsAtOnce);
      await db.insertInto('locks').values(some).execute();
    }
  });
}

/** Queues events for each hook in a database that no service uses yet: a service that starts then does nothing else. */
export async function seedDeliveries(place: Place, urls: readonly string[], count: number): Promise<void> {
  await addWorkspaces(place, [workspace], { urls });
  const events = Array.from({ length: count }, (_, index) => lockEvent('lock.acquired', lockRow(index), 0, {}));
  await change(place, (db) => recordEvents(db, events));
}
