import type { HookEventOccurrence } from '../outbox/event.ts';
import type { HookRow } from '../outbox/hook-row.ts';
import { isChatFormat } from './chat-formats.ts';
import { contentOf } from './formats.ts';
import { headersOf, secretOf } from './hooks.ts';
import { signedHeaders } from './signature.ts';

export interface DeliveryRequest {
  readonly workspace: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * The request for an event, by the current registration of the hook. Headers of the hook replace those of its format
 * (`user-agent`), but never the signature.
 */
export function deliveryRequest(hook: HookRow, occurrence: HookEventOccurrence, timestamp: Date): DeliveryRequest {
  const { headers, body } = contentOf(hook.format, occurrence);
  const signature = signedHeaders({ id: occurrence.id, timestamp, body, secret: secretOf(hook) });
  return {
    workspace: hook.workspace_id,
    url: hook.url,
    headers: { ...headers, ...headersOf(hook), ...signature },
    body,
  };
}

/**
 * URL without the query, which is a secret for many receivers, and for chats without the path, which is their secret.
 */
export function redactedUrl(hook: Pick<HookRow, 'url' | 'format'>): string {
  const { origin, pathname, search } = new URL(hook.url);
  if (isChatFormat(hook.format)) return `${origin}/…`;
  return `${origin}${pathname}${search === '' ? '' : '?…'}`;
}
