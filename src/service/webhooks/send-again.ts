import type { Selectable } from 'kysely';
import type { Actor } from '../audit/audit.ts';
import { changeBacklogs } from '../outbox/backlog.ts';
import type { DeliveryStatus } from '../outbox/outbox.ts';
import type { Database, Now } from '../storage/storage.ts';
import type { Tables } from '../storage/tables.ts';
import { free, notLeased } from './delivery-queue.ts';
import { findHook, type InactiveReason, inactiveWhyOf, recordHookAudit } from './hooks.ts';

export interface SendAgainRequest {
  readonly workspace: string;
  readonly hook: string;
  readonly delivery: string;
  readonly actor: Actor;
}

export type SendAgain =
  /** `after-another`: an earlier delivery about the same subject must finish first. */
  | { readonly kind: 'sent-again'; readonly due: 'at-once' | 'after-another' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'absent' };

const inactiveText: Readonly<Record<InactiveReason, string>> = {
  paused: 'The webhook is paused: resume it first.',
  gone: 'The receiver answered 410: it wants no more deliveries. If that has changed, resume the webhook first.',
};

/**
 * Makes a delivery due again under its id, so that a receiver can detect the duplicate. A finished delivery gets one
 * attempt. The caller wakes the worker after the commit.
 */
export async function sendAgain(
  db: Database,
  now: Now,
  { workspace, hook: hookId, delivery: id, actor }: SendAgainRequest,
): Promise<SendAgain> {
  const hook = await findHook(db, workspace, hookId);
  if (hook === undefined) return { kind: 'absent' };
  const delivery = await db
    .selectFrom('deliveries')
    .selectAll()
    .where('id', '=', id)
    .where('hook_id', '=', hook.id)
    .executeTakeFirst();
  if (delivery === undefined) return { kind: 'absent' };
  const inactive = inactiveWhyOf(hook);
  if (inactive !== null) return refused(inactiveText[inactive]);
  const sent = await (delivery.finished_at === null ? hurry : reopen)(db, now, delivery);
  if (sent.kind === 'sent-again') {
    await recordHookAudit(db, now, { actor, action: 'delivery.sent-again', hook, more: { delivery: id } });
  }
  return sent;
}

type DeliveryRow = Selectable<Tables['deliveries']>;

/** Makes an unfinished delivery due now. */
async function hurry(db: Database, now: Now, { id, next_attempt_at }: DeliveryRow): Promise<SendAgain> {
  if (next_attempt_at === null) {
    return refused(
      'It waits for an earlier delivery about the same subject. Send that one again first; this one follows.',
    );
  }
  const { numUpdatedRows } = await db
    .updateTable('deliveries')
    .set({ ...free, next_attempt_at: now })
    .where('id', '=', id)
    .where(notLeased(now))
    .executeTakeFirst();
  return numUpdatedRows > 0n
    ? { kind: 'sent-again', due: 'at-once' }
    : refused('An attempt is in progress. If it fails, try again in a moment.');
}

/** Makes a finished delivery due again, at its old position among the deliveries with its ordering key. */
async function reopen(
  db: Database,
  now: Now,
  { id, sequence, hook_id, ordering_key }: DeliveryRow,
): Promise<SendAgain> {
  const first = await db
    .selectFrom('deliveries')
    .select('sequence')
    .where('hook_id', '=', hook_id)
    .where('ordering_key', '=', ordering_key)
    .where('finished_at', 'is', null)
    .orderBy('sequence')
    .limit(1)
    .executeTakeFirst();
  const waits = first !== undefined && first.sequence < sequence;
  if (first !== undefined && !waits && !(await stepBack(db, now, first.sequence))) {
    return refused('An attempt at a later delivery about the same subject is in progress. Try again in a moment.');
  }
  await db
    .updateTable('deliveries')
    .set({
      ...free,
      status: 'again' satisfies DeliveryStatus,
      finished_at: null,
      next_attempt_at: waits ? null : now,
    })
    .where('id', '=', id)
    .execute();
  await changeBacklogs(db, now, [{ hookId: hook_id, added: 1, dropped: 0 }]);
  return { kind: 'sent-again', due: waits ? 'after-another' : 'at-once' };
}

const refused = (reason: string): SendAgain => ({ kind: 'refused', reason });

/** Makes a delivery wait for the previous one. False if an attempt is in progress, because the two would race. */
async function stepBack(db: Database, now: Now, sequence: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('deliveries')
    .set({ ...free, next_attempt_at: null })
    .where('sequence', '=', sequence)
    .where(notLeased(now))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
