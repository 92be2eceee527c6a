import type { z } from '@hono/zod-openapi';
import type { Actor } from '../operation/audit.ts';
import type { Database, Now } from '../storage/storage.ts';
import { type RegisteredHook, registerHook } from '../webhooks/hooks.ts';
import { checkTarget, type Target } from '../webhooks/target.ts';
import type { TargetCheck } from '../webhooks/target-address.ts';
import type { hookRequestSchema } from './hook-schema.ts';
import { invalid } from './refusal.ts';

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

export const registerRequested = (
  db: Database,
  now: Now,
  request: HookRequest,
  { url }: Target,
  registrant: Registrant,
): Promise<RegisteredHook> => registerHook(db, now, { ...request, ...registrant, url, secret: request.secret ?? null });
