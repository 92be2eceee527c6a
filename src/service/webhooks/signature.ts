import { createHmac } from 'node:crypto';
import { secretKey, type WebhookSecret } from './secret.ts';

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
