import { randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import { type Hook, type HookEvent, type HookFormat, hookEvents, hookFormats } from '../../interface/resources.ts';
import type { Database, Now } from '../storage/storage.ts';
import type { Tables } from '../storage/tables.ts';
import { asTimestamp } from '../storage/timestamp.ts';
import type { ExtraHeaders } from './extra-headers.ts';
import { newSecret, type WebhookSecret } from './secret.ts';

export type HookRow = Selectable<Tables['hooks']>;

// Only registerHook writes these columns; words that this version does not know are left out.
const eventsOf = (row: HookRow): HookEvent[] => {
  const stored = JSON.parse(row.events) as string[];
  return hookEvents.filter((event) => stored.includes(event));
};
const branchesOf = (row: HookRow): string[] | null => JSON.parse(row.branches ?? 'null') as string[] | null;
export const headersOf = (row: HookRow): ExtraHeaders => JSON.parse(row.headers) as ExtraHeaders;
export const secretOf = (row: HookRow): WebhookSecret => row.secret as WebhookSecret;
export const formatOf = (row: HookRow): HookFormat => hookFormats.find((format) => format === row.format) ?? 'standard';

/** What may be shown of a hook: neither its secret nor the values of its headers. */
export const hookOf = (row: HookRow): Hook => ({
  id: row.id,
  url: row.url,
  events: eventsOf(row),
  branches: branchesOf(row),
  format: formatOf(row),
  header_names: Object.keys(headersOf(row)),
  active: row.active === 1,
  created_at: asTimestamp(row.created_at),
  updated_at: asTimestamp(row.updated_at),
});

export function wantsEvent(row: HookRow, event: HookEvent, branch: string | null): boolean {
  if (!eventsOf(row).includes(event)) return false;
  const branches = branchesOf(row);
  return branch === null || branches === null || branches.includes(branch);
}

export interface HookRegistration {
  readonly workspace: string;
  readonly url: string;
  readonly events: readonly HookEvent[];
  readonly branches: readonly string[] | null;
  readonly format: HookFormat;
  readonly headers: ExtraHeaders;
  /** Null: the one that the hook has, or a new one. */
  readonly secret: WebhookSecret | null;
}

export type RegisteredHook =
  | { readonly kind: 'created'; readonly hook: Hook; readonly madeSecret: WebhookSecret | null }
  | { readonly kind: 'updated'; readonly hook: Hook };

/** A workspace has one hook for a url: registering it again replaces what was registered, and wakes it up. */
export async function registerHook(
  db: Database,
  now: Now,
  { workspace, url, secret, ...registration }: HookRegistration,
): Promise<RegisteredHook> {
  const values = {
    events: JSON.stringify(hookEvents.filter((event) => registration.events.includes(event))),
    branches: registration.branches === null ? null : JSON.stringify(registration.branches),
    format: registration.format,
    headers: JSON.stringify(registration.headers),
    active: 1,
    updated_at: now,
  };
  const updated = await db
    .updateTable('hooks')
    .set({ ...values, ...(secret !== null && { secret }) })
    .where('workspace_id', '=', workspace)
    .where('url', '=', url)
    .returningAll()
    .executeTakeFirst();
  if (updated !== undefined) return { kind: 'updated', hook: hookOf(updated) };

  const madeSecret = secret === null ? newSecret() : null;
  const created = await db
    .insertInto('hooks')
    .values({
      ...values,
      id: `hook_${randomUUID()}`,
      workspace_id: workspace,
      url,
      // One of the two is there: a secret is made exactly when none was given.
      secret: (secret ?? madeSecret) as WebhookSecret,
      created_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return { kind: 'created', hook: hookOf(created), madeSecret };
}

export async function removeHook(db: Database, workspace: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('hooks')
    .where('workspace_id', '=', workspace)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
