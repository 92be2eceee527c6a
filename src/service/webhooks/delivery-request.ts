import { accepted, type Parsed } from '../../interface/parsed.ts';
import { hookFormats } from '../../interface/resources.ts';
import type { HookEventOccurrence } from '../outbox/event.ts';
import type { HookRow } from '../outbox/hook-row.ts';
import { isChatFormat } from './chat-formats.ts';
import { contentOf } from './formats.ts';
import { formatOf, headersOf, secretOf } from './hooks.ts';
import { signedHeaders } from './signature.ts';

export interface DeliveryRequest {
  readonly workspace: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Texts to redact, also in the response of the receiver. */
  readonly secrets: readonly string[];
}

/**
 * The request for an event, by the current registration of the hook. Headers of the hook replace those of its format
 * (`user-agent`), but never the signature. Refused if the format cannot express the event.
 */
export function deliveryRequest(
  hook: HookRow,
  occurrence: HookEventOccurrence,
  timestamp: Date,
): Parsed<DeliveryRequest> {
  const content = contentOf(formatOf(hook), occurrence);
  if (!content.ok) return content;
  const { body } = content.value;
  const signature = signedHeaders({ id: occurrence.id, timestamp, body, secret: secretOf(hook) });
  const headers = { ...content.value.headers, ...headersOf(hook), ...signature };
  return accepted({
    workspace: hook.workspace_id,
    url: hook.url,
    headers,
    body,
    secrets: requestSecrets(hook, signature['webhook-signature']),
  });
}

/** Secrets that a delivery sends to its receiver, in every form in which the response may repeat them. */
export function requestSecrets(hook: HookRow, signature: string): readonly string[] {
  const { pathname, search } = new URL(hook.url);
  const secret = secretOf(hook);
  return [
    secret,
    secret.slice(secret.indexOf('_') + 1),
    signature,
    signature.slice(signature.indexOf(',') + 1),
    ...valuesIn(search.slice(1)),
    ...(hasSecretPath(hook) ? secretsInPath(pathname) : []),
    ...Object.values(headersOf(hook)).flatMap(credentialsIn),
  ].filter((text) => text !== '');
}

/**
 * URL without the query, which is a secret for many receivers, and for chats without the path, which is their secret.
 */
export function redactedUrl(hook: Pick<HookRow, 'url' | 'format'>): string {
  const { origin, pathname, search } = new URL(hook.url);
  if (hasSecretPath(hook)) return `${origin}/…`;
  return `${origin}${pathname}${search === '' ? '' : '?…'}`;
}

/** Formats of later versions may be those of chats. */
const hasSecretPath = ({ format }: Pick<HookRow, 'format'>): boolean =>
  isChatFormat(format) || !hookFormats.includes(format);

/** The complete query, and each of its values, encoded and decoded. A name without a value counts as a value. */
function valuesIn(query: string): readonly string[] {
  const encoded = query.split('&').map((part) => part.slice(part.indexOf('=') + 1));
  const decoded = [...new URLSearchParams(query)].map(([name, value]) => (value === '' ? name : value));
  return [query, ...encoded, ...decoded];
}

const minSecretLength = 12;

const secretsInPath = (pathname: string): readonly string[] => [
  pathname,
  ...pathname.split('/').filter((segment) => segment.length >= minSecretLength),
];

/** The value and its credential, such as that after `Bearer`. For `Basic`, also the decoded one (RFC 7617). */
function credentialsIn(value: string): readonly string[] {
  const [, scheme = '', credential = ''] = /^(\S+) +(.+)$/.exec(value) ?? [];
  if (scheme.toLowerCase() !== 'basic') return [value, credential];
  const pair = Buffer.from(credential, 'base64').toString();
  return [value, credential, pair, pair.slice(pair.indexOf(':') + 1)];
}
