import { accepted, type Parsed } from '../../interface/parsed.ts';
import { deliveryRequest } from './delivery-request.ts';
import type { HookEventOccurrence } from './event.ts';
import { type HookRow, headersOf, receiverOf } from './hooks.ts';

export type ShownHeader =
  | { readonly name: string; readonly value: string }
  /** Extra headers and the signature are secret; the time is that of an attempt. */
  | { readonly name: string; readonly hidden: 'secret' | 'of-each-attempt' };

export interface ShownRequest {
  readonly method: 'POST';
  /** Without its query. */
  readonly url: string;
  readonly headers: readonly ShownHeader[];
  /** As it is sent. */
  readonly body: string;
  /** The same with line breaks, for people. */
  readonly prettyBody: string;
}

/**
 * What a hook is told of an event, as it is registered now: an attempt from before it was registered again may have looked
 * otherwise. Refused where its format cannot express the event.
 */
export function shownRequest(hook: HookRow, event: HookEventOccurrence): Parsed<ShownRequest> {
  const request = deliveryRequest(receiverOf(hook), event, new Date(0));
  if (!request.ok) return request;
  const { headers, body } = request.value;
  const extra = headersOf(hook);
  return accepted({
    method: 'POST',
    url: shownUrl(hook.url),
    headers: Object.entries(headers).map(([name, value]) => {
      if (Object.hasOwn(extra, name) || name === 'webhook-signature') return { name, hidden: 'secret' };
      return name === 'webhook-timestamp' ? { name, hidden: 'of-each-attempt' } : { name, value };
    }),
    body,
    prettyBody: JSON.stringify(JSON.parse(body), null, 2),
  });
}

/** Without the query, where many receivers expect a secret. */
export function shownUrl(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return `${origin}${pathname}${search === '' ? '' : '?…'}`;
}
