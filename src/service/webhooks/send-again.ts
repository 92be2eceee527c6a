import type { Selectable } from 'kysely';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { Refusal } from '../contract/problem.ts';
import { changeBacklogs } from '../outbox/backlog.ts';
import { noLease } from '../runtime/lease.ts';
import { noteQueued } from '../storage/commit-group.ts';
import type { Database, Now } from '../storage/storage.ts';
import type { Tables } from '../storage/tables.ts';
import { firstUnfinished, goneReason, notLeased } from './delivery-queue.ts';
import { type HookChange, type InactiveReason, recordHookAudit, requireHook } from './hooks.ts';

const inactiveText: Readonly<Record<InactiveReason, string>> = {
  paused: 'The webhook is paused: resume it first.',
  gone: `${goneReason} If that has changed, resume the webhook first.`,
};

/** `sent-after-another`: an earlier delivery about the same subject must finish first. */
type SendAgain = Parsed<'sent-again' | 'sent-after-another'>;

/**
 * Makes a delivery due again under its id, so that a receiver can detect the duplicate. A finished delivery gets one
 * attempt.
 */
export async function sendAgain(
  db: Database,
  now: Now,
  { workspace, id: hookId, actor }: HookChange,
  id: string,
): Promise<SendAgain> {
  const hook = await requireHook(db, workspace, hookId);
  const delivery = await db
    .selectFrom('deliveries')
    .selectAll()
    .where('id', '=', id)
    .where('hook_id', '=', hook.id)
    .executeTakeFirstOrThrow(noSuchDelivery);
  if (hook.inactive_why !== null) return refused(inactiveText[hook.inactive_why]);
  const sent = await (delivery.finished_at === null ? makeDueNow : reopen)(db, now, delivery);
  if (sent.ok) await recordHookAudit(db, now, { actor, action: 'delivery.sent-again', hook, more: { delivery: id } });
  return sent;
}

export const noSuchDelivery = (): Refusal =>
  new Refusal('not-found', 'This webhook has no such delivery. Finished ones are removed after some time.');

type DeliveryRow = Selectable<Tables['deliveries']>;

async function makeDueNow(db: Database, now: Now, { sequence, next_attempt_at }: DeliveryRow): Promise<SendAgain> {
  if (next_attempt_at === null) {
    return refused(
      'It waits for an earlier delivery about the same subject. Send that one again first; this one follows.',
    );
  }
  return (await reschedule(db, now, sequence, now))
    ? accepted('sent-again')
    : refused('An attempt is in progress. If it fails, try again in a moment.');
}

/** Makes a finished delivery due again, at its old position among the deliveries with its ordering key. */
async function reopen(db: Database, now: Now, { sequence, hook_id, ordering_key }: DeliveryRow): Promise<SendAgain> {
  const first = await firstUnfinished(db, hook_id, ordering_key).executeTakeFirst();
  const waits = first !== undefined && first.sequence < sequence;
  // The first one now waits for this one.
  if (first !== undefined && !waits && !(await reschedule(db, now, first.sequence, null))) {
    return refused('An attempt at a later delivery about the same subject is in progress. Try again in a moment.');
  }
  await db
    .updateTable('deliveries')
    .set({
      ...noLease,
      status: 'again',
      finished_at: null,
      next_attempt_at: waits ? null : now,
    })
    .where('sequence', '=', sequence)
    .execute();
  await changeBacklogs(db, now, [{ hookId: hook_id, added: 1, dropped: 0 }]);
  return accepted(waits ? 'sent-after-another' : 'sent-again');
}

/** False if an attempt is in progress. */
async function reschedule(db: Database, now: Now, sequence: number, next_attempt_at: Now | null): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('deliveries')
    .set({ ...noLease, next_attempt_at })
    .where('sequence', '=', sequence)
    .where(notLeased(now))
    .executeTakeFirst();
  noteQueued(db, 'deliveries');
  return numUpdatedRows > 0n;
}
