import { sql } from 'kysely';
import type { HookEvent } from '../../src/interface/resources.ts';
import { changeBacklogs } from '../../src/service/outbox/backlog.ts';
import type { Database, Storage } from '../../src/service/storage/storage.ts';
import { asTimestamp } from '../../src/service/storage/timestamp.ts';
import { parseExtraHeaders } from '../../src/service/webhooks/extra-headers.ts';
import { registerHook } from '../../src/service/webhooks/hooks.ts';
import { addWorkspace } from '../../src/service/workspaces/workspaces.ts';
import type { Picture } from './pictured-service.ts';
import { withPicturedService } from './pictured-service.ts';

const minute = 60_000;

interface PastDelivery {
  readonly type: Extract<HookEvent, 'lock.acquired' | 'lock.released'>;
  readonly path: string;
  readonly minutesAgo: number;
  readonly attempts: number;
  readonly trouble?: { readonly error: string; readonly nextInMinutes: number | null };
}

const unavailable = 'https://ci.example.com responded with the status 503.';

/** Oldest first. */
const deliveries: readonly PastDelivery[] = [
  {
    type: 'lock.released',
    path: 'Content/Maps/Harbour.umap',
    minutesAgo: 4_600,
    attempts: 10,
    trouble: { error: 'https://ci.example.com did not accept a connection within 15 s.', nextInMinutes: null },
  },
  { type: 'lock.acquired', path: 'Content/Characters/Hero.uasset', minutesAgo: 190, attempts: 1 },
  { type: 'lock.released', path: 'Content/Characters/Hero.uasset', minutesAgo: 130, attempts: 2 },
  { type: 'lock.acquired', path: 'Content/Maps/Arena.umap', minutesAgo: 62, attempts: 1 },
  {
    type: 'lock.released',
    path: 'Content/Maps/Arena.umap',
    minutesAgo: 38,
    attempts: 4,
    trouble: { error: unavailable, nextInMinutes: 118 },
  },
  {
    type: 'lock.acquired',
    path: 'Content/Vehicles/Truck.uasset',
    minutesAgo: 6,
    attempts: 3,
    trouble: { error: unavailable, nextInMinutes: 29 },
  },
];

async function insertDelivery(db: Database, hook: string, now: number, index: number, delivery: PastDelivery) {
  const { type, path, minutesAgo, attempts, trouble } = delivery;
  const at = now - minutesAgo * minute;
  const lastAt = trouble === undefined ? at : at + 4 * minute;
  const isOpen = trouble !== undefined && trouble.nextInMinutes !== null;
  const acquired_at = asTimestamp(at);
  const expires_at = asTimestamp(at + 60 * minute);
  const lock = { id: `lock_${index}`, path, type: 'exclusive', owner: 'release pipeline', origin: null };
  const event = {
    id: `msg_00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    type,
    workspace: 'game',
    occurredAt: acquired_at,
    data: { lock: { ...lock, acquired_at, expires_at, fence: index + 40 } },
  };
  if (isOpen) await changeBacklogs(db, sql.lit(now), [{ hookId: hook, added: 1, dropped: 0 }]);
  await db
    .insertInto('deliveries')
    .values({
      id: event.id,
      hook_id: hook,
      ordering_key: path,
      event: JSON.stringify(event),
      status: isOpen ? 'pending' : trouble === undefined ? 'delivered' : 'failed',
      attempts,
      next_attempt_at: isOpen ? now + trouble.nextInMinutes * minute : null,
      last_error: trouble?.error ?? null,
      last_attempt_at: lastAt,
      last_duration_ms: 212,
      created_at: at,
      finished_at: isOpen ? null : lastAt,
    })
    .execute();
}

/** A webhook of the workspace "game" whose receiver fails for an evening. Returns the path of its page. */
export async function furnishHooks({ commit, now }: Storage): Promise<string> {
  const headers = parseExtraHeaders({ authorization: 'Bearer of-the-receiver' });
  if (!headers.ok) throw new Error(headers.reason);
  return commit('global', async (db) => {
    await addWorkspace(db, now, { id: 'game', remote: 'https://git.example.com/studio/game.git' });
    const { hook } = await registerHook(db, now, {
      workspace: 'game',
      url: 'https://ci.example.com/hooks/workspace',
      events: ['lock.acquired', 'lock.released'],
      branches: null,
      format: 'standard',
      headers: headers.value,
      scopes: [],
      actor: { name: 'ada', tokenId: null, address: null },
    });
    const registeredAt = Date.now() - 12 * 24 * 60 * minute;
    const failingSince = Date.now() - 38 * minute;
    const times = { created_at: registeredAt, updated_at: registeredAt, failing_since: failingSince };
    await db.updateTable('hooks').set(times).execute();
    for (const [index, delivery] of deliveries.entries()) {
      await insertDelivery(db, hook.id, Date.now(), index, delivery);
    }
    return `/workspaces/game/hooks/${hook.id}`;
  });
}

export const hookPictures: readonly Picture[] = [
  {
    name: 'webhook',
    show: (page) =>
      withPicturedService({}, async ({ storage, open }) => {
        await open(page, await furnishHooks(storage));
      }),
  },
];
