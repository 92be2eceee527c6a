import type { Hook } from '../../interface/resources.ts';
import type { Database, Now } from '../storage/storage.ts';
import { findHook, type HookChange, hookOf, type InactiveReason, inactiveWhyOf, recordHookAudit } from './hooks.ts';

export type Pause =
  | { readonly kind: 'paused'; readonly hook: Hook }
  /** Nothing was changed. */
  | { readonly kind: 'inactive-already'; readonly reason: InactiveReason; readonly hook: Hook }
  | { readonly kind: 'absent' };

/**
 * Until it is resumed, the hook gets no new deliveries, and its waiting deliveries are held. `updated_at` does not
 * change, because the registration is the same: a running attempt can still end it with a 410.
 */
export async function pauseHook(db: Database, now: Now, { workspace, id, actor }: HookChange): Promise<Pause> {
  const found = await findHook(db, workspace, id);
  if (found === undefined) return { kind: 'absent' };
  const reason = inactiveWhyOf(found);
  if (reason !== null) return { kind: 'inactive-already', reason, hook: hookOf(found) };
  const changed = db.updateTable('hooks').set({ active: 0, inactive_why: 'paused' satisfies InactiveReason });
  const hook = await changed.where('id', '=', id).returningAll().executeTakeFirstOrThrow();
  await recordHookAudit(db, now, { actor, action: 'hook.paused', hook });
  return { kind: 'paused', hook: hookOf(hook) };
}

export type Resumption =
  | { readonly kind: 'resumed'; readonly wasInactive: InactiveReason; readonly hook: Hook }
  /** Nothing was changed. */
  | { readonly kind: 'active-already'; readonly hook: Hook }
  | { readonly kind: 'absent' };

/** Also resumes a hook whose receiver has answered 410, like registering it again. */
export async function resumeHook(db: Database, now: Now, { workspace, id, actor }: HookChange): Promise<Resumption> {
  const found = await findHook(db, workspace, id);
  if (found === undefined) return { kind: 'absent' };
  const wasInactive = inactiveWhyOf(found);
  if (wasInactive === null) return { kind: 'active-already', hook: hookOf(found) };
  const changed = db.updateTable('hooks').set({ active: 1, inactive_why: null, failing_since: null, resumed_at: now });
  const hook = await changed.where('id', '=', id).returningAll().executeTakeFirstOrThrow();
  await recordHookAudit(db, now, { actor, action: 'hook.resumed', hook, more: { was_inactive: wasInactive } });
  return { kind: 'resumed', wasInactive, hook: hookOf(hook) };
}
