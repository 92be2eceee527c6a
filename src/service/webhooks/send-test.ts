import { randomUUID } from 'node:crypto';
import type { Lock, Timestamp } from '../../interface/resources.ts';
import type { Hook, Sync } from '../contract/schemas.ts';
import { changeBacklogs } from '../outbox/backlog.ts';
import type { HookEventOccurrence, RecordedEntry } from '../outbox/event.ts';
import type { Database, Now } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { type HookChange, recordHookAudit, requireHook, toHook } from './hooks.ts';

/** Queues one attempt, due now and independent of other deliveries of the hook. */
export async function sendTest(db: Database, now: Now, { workspace, id, actor }: HookChange) {
  const hook = await requireHook(db, workspace, id);
  if (hook.active !== 1) return 'test-inactive';
  const { at } = await db.selectNoFrom(now.as('at')).executeTakeFirstOrThrow();
  const delivery = `msg_${randomUUID()}`;
  const about = { id: delivery, workspace, occurredAt: asTimestamp(at) };
  await changeBacklogs(db, now, [{ hookId: id, added: 1, dropped: 0 }]);
  await db
    .insertInto('deliveries')
    .values({
      id: delivery,
      hook_id: id,
      ordering_key: delivery,
      event: JSON.stringify(exampleOf(about, toHook(hook), actor.name)),
      // No automatic retry: a user checks the result.
      status: 'again',
      attempts: 0,
      next_attempt_at: now,
      created_at: now,
    })
    .execute();
  await recordHookAudit(db, now, { actor, action: 'hook.tested', hook, more: { delivery } });
  return 'test-sent';
}

type Example = Pick<HookEventOccurrence, 'id' | 'workspace' | 'occurredAt'>;

/** An event that the hook subscribes to, so that the test shows whether the receiver supports later deliveries. */
function exampleOf(
  about: Example,
  { events: [type = 'lock.acquired'], branches }: Hook,
  name: string,
): HookEventOccurrence {
  const test = true;
  const sync = (status: 'succeeded' | 'failed') => exampleSync(status, branches?.[0] ?? 'main', about.occurredAt);
  const lock = exampleLock(name, about.occurredAt);
  switch (type) {
    case 'sync.succeeded':
      return { ...about, type, data: { sync: sync('succeeded'), test } };
    case 'sync.failed':
      return { ...about, type, data: { sync: sync('failed'), test } };
    case 'lock.released':
      return { ...about, type, data: { lock, released_by: name, test } };
    case 'lock.requested':
      return { ...about, type, data: { lock, request: { owner: name, origin: null, note: null }, test } };
    case 'lock.acquired':
    case 'lock.expired':
      return { ...about, type, data: { lock, test } };
    case 'audit.recorded':
      return { ...about, type, data: { entry: exampleEntry(name, about), test } };
  }
}

function exampleSync(status: 'succeeded' | 'failed', branch: string, at: Timestamp): Sync {
  return {
    sync_id: 'sync_test',
    status,
    branch,
    estimated_objects: 0,
    received_objects: 0,
    received_bytes: 0,
    total_bytes: null,
    missing_objects: 0,
    missing: [],
    head: null,
    error: status === 'failed' ? 'This is a test: nothing has failed.' : null,
    created_at: at,
    started_at: at,
    finished_at: at,
  };
}

const hourMs = 60 * 60_000;

const exampleLock = (owner: string, at: Timestamp): Lock => ({
  id: 'lock_test',
  path: 'test/of-this-webhook.txt',
  type: 'exclusive',
  owner,
  origin: null,
  note: 'This is a test: nothing is locked.',
  acquired_at: at,
  expires_at: asTimestamp(Date.parse(at) + hourMs),
  fence: 0,
  lease: null,
});

const exampleEntry = (actor: string, { workspace, occurredAt }: Example): RecordedEntry => ({
  sequence: 0,
  at: occurredAt,
  actor,
  token_id: null,
  address: null,
  action: 'hook.tested',
  detail: { workspace },
});
