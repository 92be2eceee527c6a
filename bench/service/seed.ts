import { mkdir } from 'node:fs/promises';
import { openPostgres } from '../../src/service/storage/postgres.ts';
import { openSqlite } from '../../src/service/storage/sqlite.ts';
import type { Storage } from '../../src/service/storage/storage.ts';
import { parseExtraHeaders } from '../../src/service/webhooks/extra-headers.ts';
import { registerHook } from '../../src/service/webhooks/hooks.ts';
import { recordEvent } from '../../src/service/webhooks/outbox.ts';
import { addWorkspace } from '../../src/service/workspaces/workspaces.ts';
import { createPostgresDatabase } from '../../test/support/databases.ts';
import type { Bench, Figure, Measured } from '../benchmark.ts';
import { lockPath } from './load.ts';

/** Databases to measure on, and what is in them before. */

export interface BenchDatabase {
  readonly name: 'SQLite' | 'PostgreSQL';
  /** A new database, or undefined for the one that a service keeps in its folder. */
  createUrl(): Promise<string | undefined>;
}

/** Measures on each database that is there. */
export async function onEachDatabase(
  bench: Bench,
  measure: (database: BenchDatabase) => Promise<readonly Figure[]>,
): Promise<Measured> {
  const figures = [...(await measure({ name: 'SQLite', createUrl: async () => undefined }))];
  const server = await bench.postgres();
  if (server.kind === 'missing') return { figures, leftOut: [{ name: 'PostgreSQL', reason: server.reason }] };
  const createUrl = async (): Promise<string> => {
    const { url, remove } = await createPostgresDatabase(server.url);
    bench.atEnd(remove);
    return url;
  };
  return { figures: [...figures, ...(await measure({ name: 'PostgreSQL', createUrl }))] };
}

/** Where a service keeps its data: in a folder, but for what is in PostgreSQL. */
export interface Place {
  readonly data: string;
  readonly databaseUrl?: string | undefined;
}

export async function openStorage(
  { data, databaseUrl }: Place,
  onCommit = (_: number): void => undefined,
): Promise<Storage> {
  await mkdir(data, { recursive: true });
  return databaseUrl === undefined
    ? openSqlite({ folder: data, onCommit })
    : openPostgres({ url: databaseUrl, onCommit, onIdleError: () => undefined });
}

async function withStorage(place: Place, work: (storage: Storage) => Promise<void>): Promise<void> {
  const storage = await openStorage(place);
  await work(storage).finally(() => storage.close());
}

/** Adds workspaces beside a running service, as `workspace add --no-check` does. */
export const addWorkspaces = (place: Place, ids: readonly string[], remote: string): Promise<void> =>
  withStorage(place, ({ commit, now }) =>
    commit('global', async (db) => {
      for (const id of ids) await addWorkspace(db, now, { id, remote });
    }),
  );

/** The workspace that `serve --dev` adds by itself where there is none of its name. */
const workspace = 'sample';
const remote = 'https://git.example.com/game.git';
const lockId = (number: number): string => `lock_${String(number).padStart(36, '0')}`;
const rowsAtOnce = 1_000;
const dayMs = 86_400_000;

/** Puts so many locks into a database that no service uses yet: to take each of them would take minutes. */
export async function seedLocks(place: Place, number: number): Promise<void> {
  await addWorkspaces(place, [workspace], remote);
  const now = Date.now();
  const row = (index: number) => ({
    workspace_id: workspace,
    path: lockPath('seeded', index),
    id: lockId(index),
    type: 'exclusive',
    token_id: 'tok_seeded',
    owner: 'release',
    origin: 'https://github.com/studio/game/actions/runs/1234567890/attempts/1',
    acquired_at: now,
    expires_at: now + dayMs,
    fence: index + 1,
  });
  await withStorage(place, ({ commit }) =>
    commit('global', async (db) => {
      for (let first = 0; first < number; first += rowsAtOnce) {
        const rows = Array.from({ length: Math.min(rowsAtOnce, number - first) }, (_, index) => row(first + index));
        await db.insertInto('locks').values(rows).execute();
      }
    }),
  );
}

/** Events to be delivered to every hook, in a database that no service uses yet: one that starts has nothing else to do. */
export async function seedDeliveries(place: Place, urls: readonly string[], events: number): Promise<void> {
  await addWorkspaces(place, [workspace], remote);
  const headers = parseExtraHeaders({});
  if (!headers.ok) throw new Error(headers.why);
  const registration = {
    workspace,
    branches: null,
    format: 'standard',
    headers: headers.value,
    secret: null,
    actor: { name: 'bench', tokenId: null, address: null },
  } as const;
  const at = new Date().toISOString();
  await withStorage(place, ({ commit, now }) =>
    commit('global', async (db) => {
      for (const url of urls) await registerHook(db, now, { ...registration, url, events: ['lock.acquired'] });
      for (let number = 0; number < events; number += 1) {
        const path = lockPath('seeded', number);
        const times = { acquired_at: at, expires_at: at, fence: number + 1 };
        const lock = { id: lockId(number), path, type: 'exclusive', owner: 'release', origin: null, ...times } as const;
        const event = { type: 'lock.acquired', workspace, occurredAt: at, data: { lock } } as const;
        await recordEvent(db, now, event, { orderingKey: `lock:${path}`, branch: null });
      }
    }),
  );
}
