import pg from 'pg';
import type { HookEventOccurrence } from '../../../src/service/outbox/event.ts';

export interface OutboxRow {
  readonly id: string;
  readonly key: string;
  readonly status: string;
  readonly event: HookEventOccurrence;
}

/** All committed events, in their order. */
export async function readOutbox(databaseUrl: string): Promise<readonly OutboxRow[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ id: string; key: string; status: string; event: string }>(
      'select id, ordering_key as key, status, event from deliveries order by sequence',
    );
    // Only the service writes this column.
    return rows.map((row) => ({ ...row, event: JSON.parse(row.event) as HookEventOccurrence }));
  } finally {
    await client.end();
  }
}

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
