import { randomBytes } from 'node:crypto';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';

declare const brand: unique symbol;

/** The secret that signs the deliveries of one hook, as Standard Webhooks 1.0 writes it: `whsec_` and base64. */
export type WebhookSecret = string & { readonly [brand]: 'WebhookSecret' };

const prefix = 'whsec_';
const fewestBytes = 24;
const mostBytes = 64;

/** Decoders differ in what else they take for base64. What encodes back to itself means the same to all of them. */
function isSecret(text: string): text is WebhookSecret {
  if (!text.startsWith(prefix)) return false;
  const encoded = text.slice(prefix.length);
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.toString('base64') === encoded && bytes.length >= fewestBytes && bytes.length <= mostBytes;
}

export function parseSecret(text: string): Parsed<WebhookSecret> {
  if (isSecret(text)) return accepted(text);
  return refused(
    `A secret is ${prefix} followed by the base64 of ${fewestBytes} to ${mostBytes} random bytes. ` +
      'Make one with: echo "whsec_$(openssl rand -base64 32)", or leave it out and one is made.',
  );
}

export function newSecret(random: (bytes: number) => Buffer = randomBytes): WebhookSecret {
  const secret = parseSecret(prefix + random(32).toString('base64'));
  if (!secret.ok) throw new TypeError('The source of randomness did not give 32 bytes.');
  return secret.value;
}

export const secretKey = (secret: WebhookSecret): Buffer => Buffer.from(secret.slice(prefix.length), 'base64');
