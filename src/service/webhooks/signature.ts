import { createHmac, randomBytes } from 'node:crypto';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';

declare const brand: unique symbol;

/** Secret that signs the deliveries of a hook, in the format of Standard Webhooks 1.0: `whsec_` and base64. */
export type WebhookSecret = string & { readonly [brand]: 'WebhookSecret' };

const prefix = 'whsec_';
const minBytes = 24;
const maxBytes = 64;

export function parseSecret(text: string): Parsed<WebhookSecret> {
  if (secretPattern.test(text)) return accepted(text as WebhookSecret);
  return refused(
    `A secret is ${prefix} followed by the base64 of ${minBytes} to ${maxBytes} random bytes. ` +
      'Create one with: echo "whsec_$(openssl rand -base64 32)", or leave it out to have one generated.',
  );
}

// 32 random bytes match the pattern.
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

/** Number of groups of three bytes. */
const minGroups = minBytes / 3;
const maxGroups = (maxBytes - 1) / 3;
const sextet = '[A-Za-z0-9+/]';

/**
 * Accepts only canonical base64, which all decoders decode the same way: the bits after the last byte are zero (RFC
 * 4648 section 3.5). After the maximum number of groups, there is room for one more byte, but not for two.
 */
export const secretPattern = new RegExp(
  `^${prefix}(?:(?:${sextet}{4}){${minGroups},${maxGroups}}(?:${sextet}[AQgw]==)?|` +
    `(?:${sextet}{4}){${minGroups},${maxGroups - 1}}${sextet}{2}[AEIMQUYcgkosw048]=)$`,
);
