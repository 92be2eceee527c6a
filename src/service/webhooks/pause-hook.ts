import type { Database, Now } from '../storage/storage.ts';
import { type HookChange, type InactiveReason, inactiveWhyOf, recordHookAudit, requireHook } from './hooks.ts';

/**
 * Until it is resumed, the hook gets no new deliveries, and its waiting deliveries are held. `updated_at` does not
 * change, because the registration is the same: a running attempt can still end it with a 410.
 */
export async function pauseHook(db: Database, now: Now, { workspace, id, actor }: HookChange) {
  const hook = await requireHook(db, workspace, id);
  const reason = inactiveWhyOf(hook);
  if (reason !== null) return `${reason}-already` as const;
  const changes = { active: 0, inactive_why: 'paused' satisfies InactiveReason };
  await db.updateTable('hooks').set(changes).where('id', '=', id).execute();
  await recordHookAudit(db, now, { actor, action: 'hook.paused', hook });
  return 'paused';
}

/** Also resumes a hook whose receiver has answered 410, like registering it again. */
export async function resumeHook(db: Database, now: Now, { workspace, id, actor }: HookChange) {
  const hook = await requireHook(db, workspace, id);
  const reason = inactiveWhyOf(hook);
  if (reason === null) return 'active-already';
  const changes = { active: 1, inactive_why: null, failing_since: null, resumed_at: now };
  await db.updateTable('hooks').set(changes).where('id', '=', id).execute();
  await recordHookAudit(db, now, { actor, action: 'hook.resumed', hook, more: { was_inactive: reason } });
  return reason === 'gone' ? 'resumed-gone' : 'resumed';
}
