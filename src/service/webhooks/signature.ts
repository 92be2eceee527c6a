import { createHmac, randomBytes } from 'node:crypto';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';

declare const brand: unique symbol;

/** The secret that signs the deliveries of one hook, as Standard Webhooks 1.0 writes it: `whsec_` and base64. */
export type WebhookSecret = string & { readonly [brand]: 'WebhookSecret' };

const prefix = 'whsec_';
const minBytes = 24;
const maxBytes = 64;

export function parseSecret(text: string): Parsed<WebhookSecret> {
  if (isSecret(text)) return accepted(text);
  return refused(
    `A secret is ${prefix} followed by the base64 of ${minBytes} to ${maxBytes} random bytes. ` +
      'Make one with: echo "whsec_$(openssl rand -base64 32)", or leave it out and one is made.',
  );
}

// 32 bytes are a secret: see the pattern.
export const newWebhookSecret = (): WebhookSecret => (prefix + randomBytes(32).toString('base64')) as WebhookSecret;

interface Signed {
  readonly id: string;
  /** When this attempt is made; not when the event occurred. */
  readonly timestamp: Date;
  /** Exactly what is sent. */
  readonly body: string;
  readonly secret: WebhookSecret;
}

export interface SignedHeaders {
  readonly 'webhook-id': string;
  readonly 'webhook-timestamp': string;
  readonly 'webhook-signature': string;
}

/** Standard Webhooks 1.0, "Signature scheme" and "Webhook headers", symmetric. */
export function signedHeaders({ id, timestamp, body, secret }: Signed): SignedHeaders {
  const seconds = String(Math.floor(timestamp.getTime() / 1_000));
  const signature = createHmac('sha256', secretKey(secret)).update(`${id}.${seconds}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${signature}` };
}

export const secretKey = (secret: WebhookSecret): Buffer => Buffer.from(secret.slice(prefix.length), 'base64');

/** Groups of three bytes. */
const minGroups = minBytes / 3;
const maxGroups = (maxBytes - 1) / 3;
const sextet = '[A-Za-z0-9+/]';

/**
 * Decoders differ in what else they take for base64. What encodes back to itself means the same to all of them: RFC 4648
 * section 3.5, the bits behind the last byte are zero. After the most groups there is room for one byte, not for two.
 */
export const secretPattern = new RegExp(
  `^${prefix}(?:(?:${sextet}{4}){${minGroups},${maxGroups}}(?:${sextet}[AQgw]==)?|` +
    `(?:${sextet}{4}){${minGroups},${maxGroups - 1}}${sextet}{2}[AEIMQUYcgkosw048]=)$`,
);

const isSecret = (text: string): text is WebhookSecret => secretPattern.test(text);
