import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { acquiredEvent } from '../../src/service/locks/lock-events.ts';
import type { LockRow } from '../../src/service/locks/lock-row.ts';
import { recordEvents } from '../../src/service/outbox/outbox.ts';
import { openPostgres } from '../../src/service/storage/postgres.ts';
import { openSqlite } from '../../src/service/storage/sqlite.ts';
import type { Database, Now, Storage } from '../../src/service/storage/storage.ts';
import { parseExtraHeaders } from '../../src/service/webhooks/extra-headers.ts';
import { registerHook } from '../../src/service/webhooks/hooks.ts';
import { addWorkspace } from '../../src/service/workspaces/workspaces.ts';
import { createPostgresDatabase } from '../../test/support/databases.ts';
import type { Bench } from '../benchmark.ts';
import { createSeries, lockPath, type Series, type SeriesPlan } from './load.ts';
import type { Target } from './request.ts';

/** Databases to measure on, and what is in them before. */

/** Where a service keeps its data: in a folder, but for what is in PostgreSQL. */
export interface Place {
  readonly data: string;
  readonly databaseUrl?: string | undefined;
}

export interface BenchDatabase {
  readonly name: 'SQLite' | 'PostgreSQL';
  /** An empty one, each time. */
  createPlace(): Promise<Place>;
}

export const newPlace = async ({ folder }: Bench): Promise<Place> => ({ data: await mkdtemp(join(folder, 'data-')) });

/** With a new database on the server. */
export async function postgresPlace(bench: Bench, server: string): Promise<Place & { readonly databaseUrl: string }> {
  const { url, remove } = await createPostgresDatabase(server);
  bench.atEnd(remove);
  return { ...(await newPlace(bench)), databaseUrl: url };
}

/** Measures on each database that is there. */
export async function onEachDatabase<T>(bench: Bench, measure: (database: BenchDatabase) => Promise<readonly T[]>) {
  const all = [...(await measure({ name: 'SQLite', createPlace: () => newPlace(bench) }))];
  const server = await bench.postgres();
  if (server === undefined) return all;
  return all.concat(await measure({ name: 'PostgreSQL', createPlace: () => postgresPlace(bench, server) }));
}

export async function openStorage(
  { data, databaseUrl }: Place,
  onCommit: (changes: number) => void = () => undefined,
): Promise<Storage> {
  return databaseUrl === undefined
    ? openSqlite({ folder: data, onCommit })
    : openPostgres({ url: databaseUrl, onCommit, onIdleError: () => undefined });
}

/** Changes what is there, also beside a running service. */
async function change(place: Place, work: (db: Database, now: Now) => Promise<unknown>): Promise<void> {
  const storage = await openStorage(place);
  await storage.commit('global', (db) => work(db, storage.now)).finally(() => storage.close());
}

/** Where nothing is fetched. */
const nowhere = 'https://git.example.com/game.git';

interface NewWorkspaces {
  readonly remote?: string;
  readonly lfsUrl?: string;
  readonly urls?: readonly string[];
}

/** As `workspace add --no-check` does it, each with a hook for new locks at each of the urls. */
export const addWorkspaces = (
  place: Place,
  ids: readonly string[],
  { remote = nowhere, lfsUrl, urls = [] }: NewWorkspaces = {},
): Promise<void> =>
  change(place, async (db, now) => {
    const headers = parseExtraHeaders({});
    if (!headers.ok) throw new Error(headers.reason);
    const actor = { name: 'bench', tokenId: null, address: null };
    const hook = { branches: null, format: 'standard', headers: headers.value, secret: null, actor } as const;
    for (const workspace of ids) {
      await addWorkspace(db, now, { id: workspace, remote, ...(lfsUrl !== undefined && { lfs_url: lfsUrl }) });
      for (const url of urls) await registerHook(db, now, { ...hook, workspace, url, events: ['lock.acquired'] });
    }
  });

/** In a workspace of its own in every round: in one for all of them, an owner would have as many locks as one may have. */
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
    // What still waits for the hooks would be delivered while others are measured.
    afterRound: (round) =>
      change(service, (db) => db.deleteFrom('hooks').where('workspace_id', '=', workspaceOf(round)).execute()),
  });
}

/** The workspace that `serve --dev` adds by itself where there is none of its name. */
const workspace = 'sample';
const dayMs = 86_400_000;

const lockRow = (index: number): LockRow => ({
  workspace_id: workspace,
  path: lockPath('seeded', index),
  id: `lock_${String(index).padStart(36, '0')}`,
  type: 'exclusive',
  token_id: 'tok_seeded',
  owner: 'release',
  note: null,
  noted_lock_id: null,
  origin: 'https://github.com/studio/game/actions/runs/1234567890/attempts/1',
  acquired_at: Date.now(),
  expires_at: Date.now() + dayMs,
  fence: index + 1,
  folded_path: null,
  desk_id: null,
});

const rowsAtOnce = 1_000;

/** Puts so many locks into a database that no service uses yet: to take each of them would take minutes. */
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

/** Events to be delivered to every hook, in a database that no service uses yet: one that starts has nothing else to do. */
export async function seedDeliveries(place: Place, urls: readonly string[], count: number): Promise<void> {
  await addWorkspaces(place, [workspace], { urls });
  const events = Array.from({ length: count }, (_, index) => acquiredEvent(lockRow(index)));
  await change(place, (db, now) => recordEvents(db, now, events));
}
