import type { z } from '@hono/zod-openapi';
import type { Actor } from '../audit/audit.ts';
import type { Database, Now } from '../storage/storage.ts';
import { type RegisteredHook, registerHook } from '../webhooks/hooks.ts';
import { checkTarget, type Target } from '../webhooks/target.ts';
import type { TargetCheck } from '../webhooks/target-address.ts';
import type { hookRequestSchema } from './hook-schema.ts';
import { invalid, Refusal } from './refusal.ts';

/** What a program sends, or a person's form says, once the schema has taken it. */
export type HookRequest = z.output<typeof hookRequestSchema>;

export async function targetOf({ url }: HookRequest, targets: TargetCheck): Promise<Target> {
  const target = await checkTarget(url, targets);
  if (!target.ok) throw invalid({ pointer: '#/url', detail: target.why });
  return target.value;
}

interface Registrant {
  readonly workspace: string;
  readonly actor: Actor;
}

export async function registerRequested(
  db: Database,
  now: Now,
  request: HookRequest,
  { url }: Target,
  registrant: Registrant,
): Promise<RegisteredHook> {
  const registered = await registerHook(db, now, { ...request, ...registrant, url, secret: request.secret ?? null });
  if (registered.kind !== 'too-many') return registered;
  const detail = `The workspace has ${registered.maxHooks} webhooks, and may have no more. Remove one that is not used, or have the operator raise --max-hooks.`;
  throw new Refusal('quota-exceeded', detail, { errors: [{ pointer: '#/url', detail }] });
}
