import { type Actor, type AuditAction, recordAudit } from '../operation/audit.ts';
import type { Database, Now } from '../storage/storage.ts';

interface HookAct {
  readonly actor: Actor;
  readonly action: Extract<AuditAction, `hook.${string}` | `delivery.${string}`>;
  readonly hook: { readonly id: string; readonly workspace_id: string; readonly url: string };
  /** What else is worth knowing. Never a secret, nor the value of a header. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** Of the address only the origin: a path can be a credential as well as a query. */
export const recordHookAudit = (
  db: Database,
  now: Now,
  { actor, action, hook: { id, workspace_id, url }, more }: HookAct,
): Promise<void> =>
  recordAudit(db, now, {
    actor,
    action,
    detail: { workspace: workspace_id, hook: id, origin: new URL(url).origin, ...more },
  });
