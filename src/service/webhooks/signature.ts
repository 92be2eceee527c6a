import { createHmac, randomBytes } from 'node:crypto';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';

declare const brand: unique symbol;

/** Secret that signs the deliveries of a hook, in the format of Standard Webhooks 1.0: `whsec_` and base64. */
export type WebhookSecret = string & { readonly [brand]: 'WebhookSecret' };

const prefix = 'whsec_';
const minBytes = 24;
const maxBytes = 64;

/** For the OpenAPI document. Base64 of the longest secret has 86 characters without its padding. */
export const secretPattern = '^whsec_[A-Za-z0-9+/]{32,86}={0,2}$';

export function parseSecret(text: string): Parsed<WebhookSecret> {
  const bytes = Buffer.from(text.slice(prefix.length), 'base64');
  // Only canonical base64, which all decoders decode the same way.
  const isCanonical = text === prefix + bytes.toString('base64');
  if (isCanonical && bytes.length >= minBytes && bytes.length <= maxBytes) return accepted(text as WebhookSecret);
  return refused(
    `A secret is ${prefix} followed by the base64 of ${minBytes} to ${maxBytes} random bytes. ` +
      'Create one with: echo "whsec_$(openssl rand -base64 32)", or leave it out to have one generated.',
  );
}

// The cast is safe: 32 bytes are a valid length.
export const newWebhookSecret = (): WebhookSecret => (prefix + randomBytes(32).toString('base64')) as WebhookSecret;

interface Signed {
  readonly id: string;
  /** Time of this attempt, not of the event. */
  readonly timestamp: Date;
  /** Exactly the body that is sent. */
  readonly body: string;
  readonly secret: WebhookSecret;
}

/** Symmetric signature: Standard Webhooks 1.0, "Signature scheme" and "Webhook headers". */
export function signedHeaders({ id, timestamp, body, secret }: Signed) {
  const seconds = String(Math.floor(timestamp.getTime() / 1_000));
  const signature = createHmac('sha256', secretKey(secret)).update(`${id}.${seconds}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${signature}` };
}

export const secretKey = (secret: WebhookSecret): Buffer => Buffer.from(secret.slice(prefix.length), 'base64');
