import { onTestFinished } from 'vitest';
import { createTargetCheck, type Resolve } from '../../../src/service/outbound/target.ts';
import { parseCidr } from '../../../src/service/platform/ip-address.ts';
import { type DeliveryResult, deliver, deliveryRequest } from '../../../src/service/webhooks/deliver.ts';
import { newWebhookSecret } from '../../../src/service/webhooks/signature.ts';
import { valueIn } from '../../support/value-in.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.ts';
import { hookRow, succeeded } from './samples.ts';

const loopback = [valueIn(parseCidr('127.0.0.0/8')), valueIn(parseCidr('::1/128'))];

/** A resolver that resolves no names. */
export const nowhere: Resolve = () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));

export const always =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses;

export const checking = (resolve: Resolve, allowedNetworks = loopback) =>
  createTargetCheck({ allowedNetworks, resolve });

/** Allows deliveries to loopback addresses, and resolves no names. */
export const localCheck = checking(nowhere);

export const secret = newWebhookSecret();
const headers = { authorization: 'Bearer s3cret' };

export const failed = (outcome: DeliveryResult) => {
  if (outcome.kind !== 'failed') throw new Error(`It was ${outcome.kind}.`);
  return outcome;
};

/** Attempts a delivery to a receiver at a loopback address. */
export const deliverTo = (url: string, options: Partial<Parameters<typeof deliver>[1]> = {}): Promise<DeliveryResult> =>
  deliver(deliveryRequest(hookRow({ url, secret, headers }), succeeded, new Date()), {
    check: localCheck,
    ...options,
  });

/** A receiver that is closed when the test ends. */
export async function receiver(...options: Parameters<typeof startWebhookReceiver>): Promise<WebhookReceiver> {
  const started = await startWebhookReceiver(...options);
  onTestFinished(started.close);
  return started;
}
