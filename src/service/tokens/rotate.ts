import { type Actor, recordAudit } from '../audit/audit.ts';
import type { Database, Now } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import { createTokenAudited } from './audited.ts';
import { findToken, type Token } from './tokens.ts';

/**
 * Replaces a token with a new one of the same name, owner and permissions, which therefore owns the locks of
 * the old one. The old secret stays valid for `keepMs`, unless the token expires sooner; 0 revokes it at once.
 */
export async function rotateToken(
  db: Database,
  now: Now,
  actor: Actor,
  { id, keepMs }: { readonly id: string; readonly keepMs: number },
) {
  const old = await findToken(db, now, id);
  if (old === undefined) return { kind: 'unknown' } as const;
  // Expired, revoked, or already rotated, maybe by the same form: the new secret cannot be shown again.
  if (old.state !== 'active' || old.replaced_by !== null) return { kind: 'over', token: old } as const;
  const { name, owner, scopes, workspaces } = old;
  const newToken = { name, owner, scopes, workspaces, lifetime: lifetimeOf(old) };
  const { token, secret } = await createTokenAudited(db, now, actor, newToken);
  const keptUntil = Date.parse(token.created_at) + keepMs;
  const validUntil = old.expires_at === null ? keptUntil : Math.min(keptUntil, Date.parse(old.expires_at));
  const end = keepMs === 0 ? { revoked_at: validUntil } : { expires_at: validUntil };
  await db
    .updateTable('tokens')
    .set({ ...end, replaced_by: token.id })
    .where('id', '=', id)
    .execute();
  const oldValidUntil = asTimestamp(validUntil);
  await recordAudit(db, now, {
    actor,
    action: 'token.rotated',
    detail: { token: id, name, owner, replaced_by: token.id, old_valid_until: oldValidUntil },
  });
  return { kind: 'rotated', token, secret, oldValidUntil } as const;
}

/** Lifetime of the old token, counted from its creation. */
export const lifetimeOf = ({ created_at, expires_at }: Token) =>
  expires_at === null ? null : { seconds: Math.ceil((Date.parse(expires_at) - Date.parse(created_at)) / 1_000) };
