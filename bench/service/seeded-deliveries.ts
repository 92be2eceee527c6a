import { openPostgres } from '../../src/service/storage/postgres.ts';
import { openSqlite } from '../../src/service/storage/sqlite.ts';
import { parseExtraHeaders } from '../../src/service/webhooks/extra-headers.ts';
import { registerHook } from '../../src/service/webhooks/hooks.ts';
import { recordEvent } from '../../src/service/webhooks/outbox.ts';
import { addWorkspace } from '../../src/service/workspaces/workspaces.ts';
import { lockPath } from './load.ts';

const workspace = 'sample';

export interface Backlog {
  readonly data: string;
  readonly databaseUrl: string | undefined;
  /** One hook for each. */
  readonly urls: readonly string[];
  /** Each is delivered to every hook. */
  readonly events: number;
}

/** Deliveries that wait in a database that no service uses yet: when one starts, it has nothing else to do. */
export async function seedDeliveries({ data, databaseUrl, urls, events }: Backlog): Promise<void> {
  const storage =
    databaseUrl === undefined
      ? await openSqlite({ folder: data })
      : await openPostgres({ url: databaseUrl, onIdleError: () => undefined });
  const { now } = storage;
  const headers = parseExtraHeaders({});
  if (!headers.ok) throw new Error(headers.why);
  try {
    await storage.commit('global', async (db) => {
      await addWorkspace(db, now, { id: workspace, remote: 'https://git.example.com/game.git' });
      const registration = {
        workspace,
        branches: null,
        format: 'standard',
        headers: headers.value,
        secret: null,
        actor: { name: 'bench', tokenId: null, address: null },
      } as const;
      for (const url of urls) await registerHook(db, now, { ...registration, url, events: ['lock.acquired'] });
      const at = new Date().toISOString();
      for (let number = 0; number < events; number += 1) {
        const path = lockPath('seeded', number);
        const id = `lock_${String(number).padStart(36, '0')}`;
        const times = { acquired_at: at, expires_at: at, fence: number + 1 };
        const lock = { id, path, type: 'exclusive', owner: 'release', origin: null, ...times } as const;
        const event = { type: 'lock.acquired', workspace, occurredAt: at, data: { lock } } as const;
        await recordEvent(db, now, event, { orderingKey: `lock:${path}`, branch: null });
      }
    });
  } finally {
    await storage.close();
  }
}
