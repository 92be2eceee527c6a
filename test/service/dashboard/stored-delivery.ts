import { randomUUID } from 'node:crypto';
import type { Insertable } from 'kysely';
import { changeBacklogs } from '../../../src/service/outbox/backlog.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import type { Tables } from '../../../src/service/storage/tables.ts';
import { lock } from '../webhooks/samples.ts';

type Given = Partial<Insertable<Tables['deliveries']>> & { readonly path?: string };

/** Stores a delivery, by default a finished one, and returns its id. */
export async function storeDelivery(storage: Storage, hook: string, { path = 'a', ...given }: Given): Promise<string> {
  const id = `msg_${randomUUID()}`;
  const data = { lock: { ...lock, path } };
  const event = { id, type: 'lock.acquired', workspace: 'game', occurredAt: lock.acquired_at, data };
  await storage.commit('global', async (db) => {
    if (given.finished_at === null) await changeBacklogs(db, storage.now, [{ hookId: hook, added: 1, dropped: 0 }]);
    await db
      .insertInto('deliveries')
      .values({
        id,
        hook_id: hook,
        ordering_key: path,
        event: JSON.stringify(event),
        status: 'delivered',
        last_error: given.status === 'failed' || given.status === 'dropped' ? 'It failed.' : null,
        attempts: 1,
        created_at: storage.now,
        finished_at: storage.now,
        ...given,
      })
      .execute();
  });
  return id;
}
