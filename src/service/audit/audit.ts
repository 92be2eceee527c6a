import { z } from '@hono/zod-openapi';
import { sql } from 'kysely';
import { type Duration, milliseconds } from '../../interface/duration.ts';
import { parseJson } from '../contract/response.ts';
import type { RecordedEntry } from '../outbox/event.ts';
import { recordEvents } from '../outbox/outbox.ts';
import type { Database, Now, Storage } from '../storage/storage.ts';
import { asTimestamp } from '../storage/timestamp.ts';

/** Audited actions: everything except a token's own locks and syncs. */
export const auditActions = [
  'session.signed-in',
  'session.signed-out',
  'token.created',
  'token.rotated',
  'token.revoked',
  'token.exchanged',
  'lock.force-released',
  'hook.registered',
  'hook.replaced',
  'hook.removed',
  'workspace.added',
  'workspace.updated',
  'workspace.removed',
  'push-secret.created',
  'pool.added',
  'pool.updated',
  'pool.removed',
  'trust.added',
  'trust.removed',
  'backup.restored',
  'fences.raised',
] as const;

export type AuditAction = (typeof auditActions)[number];

export interface Actor {
  readonly name: string;
  /** Null for the operator at the command line. */
  readonly tokenId: string | null;
  readonly address: string | null;
}

export interface AuditEntry {
  readonly actor: Actor;
  readonly action: AuditAction;
  /** Must not contain secrets: everyone who may read the audit can read all of it. */
  readonly detail: Readonly<Record<string, unknown>>;
}

/**
 * Must run in the transaction of the action, so that neither exists without the other. Webhooks of a workspace receive
 * its entries. Entries about the service, such as those about tokens, go to no webhook.
 */
export async function recordAudit(db: Database, now: Now, { actor, action, detail }: AuditEntry): Promise<void> {
  const { name, tokenId: token_id, address } = actor;
  const { sequence, at } = await db
    .insertInto('audit')
    .values({ at: now, actor: name, token_id, address, action, detail: JSON.stringify(detail) })
    .returning(['sequence', 'at'])
    .executeTakeFirstOrThrow();
  const { workspace } = detail;
  if (typeof workspace !== 'string') return;
  const occurredAt = asTimestamp(at);
  const entry = { sequence, at: occurredAt, actor: name, token_id, address, action, detail };
  await recordEvents(db, now, [{ type: 'audit.recorded', workspace, occurredAt, data: { entry } }]);
}

interface AuditQuery {
  readonly limit: number;
  readonly action?: string | undefined;
  /** Name of the actor, or id of its token. */
  readonly actor?: string | undefined;
  /** Maximum age of the entries. */
  readonly since?: Duration | undefined;
  readonly workspace?: string | undefined;
}

/** For the command, which waits for no one else: filters read the entries one by one. Newest first. */
export async function readAudit({ read, now }: Pick<Storage, 'read' | 'now'>, query: AuditQuery) {
  const { limit, action, actor, since, workspace } = query;
  let found = read
    .selectFrom('audit')
    .select(['sequence', 'at', 'actor', 'token_id', 'address', 'action', 'detail'])
    .orderBy('sequence', 'desc')
    .limit(limit + 1);
  if (action !== undefined) found = found.where('action', '=', action);
  if (actor !== undefined) found = found.where(({ or }) => or({ actor, token_id: actor }));
  if (since !== undefined) found = found.where('at', '>=', sql<number>`${now} - ${milliseconds(since)}`);
  if (workspace !== undefined) found = found.where(ofWorkspace(workspace));
  const rows = await found.execute();
  const entries = rows
    .slice(0, limit)
    .map((row): RecordedEntry => ({ ...row, at: asTimestamp(row.at), detail: parseDetail(row.detail) }));
  return { entries, isComplete: rows.length <= limit };
}

/** JSON.stringify() writes the detail, so the member always has the same spelling. */
const ofWorkspace = (workspace: string) =>
  sql<boolean>`detail like ${`%"workspace":${JSON.stringify(workspace).replaceAll(/[\\%_]/g, '\\$&')}%`} escape '\\'`;

const detailSchema = z.record(z.string(), z.unknown());

/** A manually inserted entry must not make all others unreadable. */
const parseDetail = (text: string): Readonly<Record<string, unknown>> =>
  parseJson(detailSchema, text) ?? { unreadable: text };
