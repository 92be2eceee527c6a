import { accepted, type Parsed } from '../../interface/parsed.ts';
import type { HookFormat } from '../../interface/resources.ts';
import type { HookEventOccurrence } from './event.ts';
import type { ExtraHeaders } from './extra-headers.ts';
import { contentOf } from './formats.ts';
import { requestSecrets } from './request-secrets.ts';
import { signedHeaders, type WebhookSecret } from './signature.ts';

/** One attempt, ready to be sent. */
export interface DeliveryRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** What must be redacted, also in what the receiver answers. */
  readonly secrets: readonly string[];
}

export interface Receiver {
  readonly url: string;
  readonly format: HookFormat;
  readonly secret: WebhookSecret;
  readonly headers: ExtraHeaders;
}

/** A hook's own headers replace those of its format (`user-agent`); the signature is replaced by nothing. */
export function deliveryRequest(
  { url, format, secret, headers }: Receiver,
  occurrence: HookEventOccurrence,
  timestamp: Date,
): Parsed<DeliveryRequest> {
  const content = contentOf(format, occurrence);
  if (!content.ok) return content;
  const { body } = content.value;
  const signature = signedHeaders({ id: occurrence.id, timestamp, body, secret });
  const secrets = requestSecrets({ url, secret, headers, signature: signature['webhook-signature'] });
  return accepted({ url, headers: { ...content.value.headers, ...headers, ...signature }, body, secrets });
}
