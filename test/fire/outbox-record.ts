import pg from 'pg';
import type { HookEventOccurrence } from '../../src/service/outbox/event.ts';

export interface OutboxRow {
  readonly id: string;
  readonly key: string;
  readonly isWaiting: boolean;
  readonly event: HookEventOccurrence;
}

async function withDatabase<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return work(client).finally(() => client.end());
}

/** Keeps all events that are committed from now on: the service removes those that were delivered. */
export const recordOutbox = (databaseUrl: string) =>
  withDatabase(databaseUrl, (client) =>
    client.query(`
      create table outbox_record (sequence bigint, id text, key text, event text);
      create function record_delivery() returns trigger language plpgsql as $$ begin
        insert into outbox_record values (new.sequence, new.id, new.ordering_key, new.event); return null;
      end $$;
      create trigger record_deliveries after insert on deliveries for each row execute function record_delivery()`),
  );

/** All recorded events, in their order. */
export const readOutbox = (databaseUrl: string): Promise<readonly OutboxRow[]> =>
  withDatabase(databaseUrl, async (client) => {
    const { rows } = await client.query<{ id: string; key: string; is_waiting: boolean; event: string }>(
      `select id, key, event, exists (select from deliveries where deliveries.id = outbox_record.id) as is_waiting
       from outbox_record order by sequence`,
    );
    // Only the service writes this column.
    return rows.map(({ is_waiting: isWaiting, ...row }) => ({
      ...row,
      isWaiting,
      event: JSON.parse(row.event) as HookEventOccurrence,
    }));
  });

/** Checks the locks of each path: each ends before the next begins, by the database clock, and has a lower fence. */
export function readLockHistory(rows: readonly OutboxRow[]) {
  const acquired = new Set<string>();
  const wrong: string[] = [];
  const now = new Map<string, { readonly id: string; readonly until: number | null; readonly fence: number }>();
  for (const { event } of rows) {
    const { data } = event;
    if (!('lock' in data)) continue;
    const { id, path, fence } = data.lock;
    const at = Date.parse(event.occurredAt);
    const before = now.get(path);
    if (event.type === 'lock.acquired') {
      if (before !== undefined && before.until === null)
        wrong.push(`${id} on ${path} began while ${before.id} was held.`);
      if (before !== undefined && at < (before.until ?? 0))
        wrong.push(`${id} on ${path} began before ${before.id} ended.`);
      if (before !== undefined && fence <= before.fence)
        wrong.push(`${id} on ${path} has no higher fence than ${before.id}.`);
      if (acquired.has(id)) wrong.push(`${id} on ${path} began twice.`);
      acquired.add(id);
      now.set(path, { id, until: null, fence });
    } else {
      if (before === undefined || before.id !== id || before.until !== null)
        wrong.push(`${id} on ${path} ended (${event.type}), and was not held.`);
      now.set(path, { id, until: at, fence });
    }
  }
  /** Locks that were neither released nor expired. */
  const left = new Set([...now.values()].filter(({ until }) => until === null).map(({ id }) => id));
  return { acquired, left, wrong };
}
