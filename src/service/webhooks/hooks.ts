import { randomUUID } from 'node:crypto';
import { type HookEvent, type HookFormat, hookEvents } from '../../interface/resources.ts';
import { type Actor, type AuditAction, recordAudit } from '../audit/audit.ts';
import { Refusal } from '../contract/response.ts';
import type { Hook } from '../contract/schemas.ts';
import { branchesOf, eventsOf, type HookRow } from '../outbox/outbox.ts';
import type { Database } from '../storage/storage.ts';
import { asTimestamp, asTimestampOrNull, now } from '../storage/timestamp.ts';
import type { ExtraHeaders } from './extra-headers.ts';
import { newWebhookSecret, type WebhookSecret } from './signature.ts';

export const secretOf = (row: HookRow): WebhookSecret => row.secret as WebhookSecret;

export interface HookRegistration {
  readonly workspace: string;
  readonly url: string;
  readonly events: readonly HookEvent[];
  readonly branches: readonly string[] | null;
  readonly format: HookFormat;
  readonly headers: ExtraHeaders;
  /** Undefined: keep the secret of the hook, or create one. */
  readonly secret?: WebhookSecret | undefined;
  readonly actor: Actor;
}

/** A workspace has one hook per URL. Registering it again replaces the registration, and ends the effect of a 410. */
export async function registerHook(db: Database, registration: HookRegistration) {
  const { workspace, url, secret, actor } = registration;
  const settings = settingsOf(registration);
  const values = { ...settings, active: 1, failing_since: null, updated_at: now };
  const ofUrl = db.selectFrom('hooks').selectAll().where('workspace_id', '=', workspace).where('url', '=', url);
  const replaced = await ofUrl.executeTakeFirst();
  if (replaced !== undefined) {
    const hook = await db
      .updateTable('hooks')
      .set({ ...values, ...(secret && { secret }) })
      .where('id', '=', replaced.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    const { events, branches, format, headers, active } = replaced;
    const isSame = JSON.stringify({ events, branches, format, headers }) === JSON.stringify(settings);
    const newSecret = hook.secret !== replaced.secret;
    // Audited only if something changed: the audit log has no limit, and a job may register its hook in each run.
    if (!isSame || newSecret || active !== 1) {
      await recordHookAudit(db, actor, 'hook.replaced', hook, { ...registrationDetail(hook), new_secret: newSecret });
    }
    return { hook: toHook(hook), isNew: false, newSecret: null };
  }
  await requireHookQuota(db, workspace);
  const signing = secret ?? newWebhookSecret();
  const id = `hook_${randomUUID()}`;
  const hook = await db
    .insertInto('hooks')
    .values({ ...values, id, workspace_id: workspace, url, secret: signing, created_at: now })
    .returningAll()
    .executeTakeFirstOrThrow();
  await recordHookAudit(db, actor, 'hook.registered', hook, registrationDetail(hook));
  return { hook: toHook(hook), isNew: true, newSecret: secret === undefined ? signing : null };
}

/** Each change of a lock reads all hooks of its workspace. */
const maxHooks = 100;

async function requireHookQuota(db: Database, workspace: string): Promise<void> {
  const { hooks } = await db
    .selectFrom('hooks')
    .select(({ fn }) => fn.countAll<number>().as('hooks'))
    .where('workspace_id', '=', workspace)
    .executeTakeFirstOrThrow();
  if (Number(hooks) < maxHooks) return;
  const detail = `The workspace has its maximum of ${maxHooks} webhooks. Remove one that is no longer used.`;
  throw new Refusal('quota-exceeded', detail, { errors: [{ pointer: '#/url', detail }] });
}

/** Removes a hook and its waiting deliveries. False if the hook does not exist. */
export async function removeHook(
  db: Database,
  { workspace, id, actor }: { readonly workspace: string; readonly id: string; readonly actor: Actor },
): Promise<boolean> {
  const hooks = db.deleteFrom('hooks').where('workspace_id', '=', workspace).where('id', '=', id);
  const hook = await hooks.returning(['id', 'workspace_id', 'url']).executeTakeFirst();
  if (hook === undefined) return false;
  await recordHookAudit(db, actor, 'hook.removed', hook);
  return true;
}

/** Records only the origin of the URL, because the rest may be a credential, and no secret or header value. */
const recordHookAudit = (
  db: Database,
  actor: Actor,
  action: Extract<AuditAction, `hook.${string}`>,
  { id, workspace_id, url }: Pick<HookRow, 'id' | 'workspace_id' | 'url'>,
  more: Readonly<Record<string, unknown>> = {},
): Promise<void> =>
  recordAudit(db, {
    actor,
    action,
    detail: { workspace: workspace_id, hook: id, origin: new URL(url).origin, ...more },
  });

const settingsOf = ({ events, branches, format, headers }: HookRegistration) => ({
  events: JSON.stringify(hookEvents.filter((event) => events.includes(event))),
  branches: branches === null ? null : JSON.stringify(branches),
  format,
  headers: JSON.stringify(headers),
});

function registrationDetail(row: HookRow): Readonly<Record<string, unknown>> {
  const { events, branches, format, header_names } = toHook(row);
  return { events, branches, format, header_names };
}

/** Public fields of a hook, without its secret and the values of its headers. */
const toHook = (row: HookRow): Hook => ({
  id: row.id,
  url: row.url,
  events: eventsOf(row),
  branches: branchesOf(row),
  format: row.format,
  header_names: Object.keys(headersOf(row)),
  active: row.active === 1,
  created_at: asTimestamp(row.created_at),
  updated_at: asTimestamp(row.updated_at),
});

export const headersOf = (row: HookRow): ExtraHeaders => JSON.parse(row.headers) as ExtraHeaders;

export type HookOverview = Awaited<ReturnType<typeof listHooks>>[number];

export async function listHooks(db: Database, workspace: string) {
  const rows = await db
    .selectFrom('hooks')
    .leftJoin('hook_backlogs', 'hook_backlogs.hook_id', 'hooks.id')
    .selectAll('hooks')
    .select(['waiting', 'dropped'])
    .where('workspace_id', '=', workspace)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    ...toHook(row),
    /** Every attempt since then has failed. Null if the last one succeeded. */
    failing_since: asTimestampOrNull(row.failing_since),
    last_error: row.last_error,
    pending_deliveries: row.waiting ?? 0,
    /** Events that were dropped because too many deliveries waited, or because one change caused too many. */
    dropped_events: row.dropped ?? 0,
  }));
}
