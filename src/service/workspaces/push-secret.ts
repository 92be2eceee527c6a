import { type Actor, recordAudit } from '../audit/audit.ts';
import type { Database, Now } from '../storage/storage.ts';
import { newWebhookSecret, type WebhookSecret } from '../webhooks/signature.ts';

/** The workspace, with the secret that signs its push events. Undefined if it does not exist or has no secret. */
export async function findPushTarget(db: Database, id: string) {
  const row = await db
    .selectFrom('workspaces')
    .select(['id', 'remote', 'push_secret'])
    .where('id', '=', id)
    .where('push_secret', 'is not', null)
    .executeTakeFirst();
  // Only this file writes the column.
  return row && { workspace: row, secret: row.push_secret as WebhookSecret };
}

/** The secret of an existing workspace: a new one at first use, and with `rotate`. */
export async function pushSecretAudited(db: Database, now: Now, actor: Actor, id: string, rotate: boolean) {
  const target = await findPushTarget(db, id);
  if (target !== undefined && !rotate) return target.secret;
  const secret = newWebhookSecret();
  await db.updateTable('workspaces').set({ push_secret: secret }).where('id', '=', id).execute();
  await recordAudit(db, now, { actor, action: 'push-secret.created', detail: { workspace: id } });
  return secret;
}
