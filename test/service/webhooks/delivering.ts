import { afterEach } from 'vitest';
import { parseCidr } from '../../../src/service/platform/ip-address.ts';
import type { DeliveryResult } from '../../../src/service/webhooks/deliver.ts';
import { type DeliveryRequest, deliveryRequest } from '../../../src/service/webhooks/delivery-request.ts';
import { parseExtraHeaders } from '../../../src/service/webhooks/extra-headers.ts';
import { newSecret } from '../../../src/service/webhooks/signature.ts';
import { createTargetCheck, type Resolve } from '../../../src/service/webhooks/target-address.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.ts';
import { succeeded, valueIn } from './samples.ts';

const loopback = [valueIn(parseCidr('127.0.0.0/8')), valueIn(parseCidr('::1/128'))];

/** A resolver that knows no name. */
export const nowhere: Resolve = () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));

export const always =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses;

export const checking = (resolve: Resolve, allowedNetworks = loopback) =>
  createTargetCheck({ allowedNetworks, resolve });

/** Lets deliveries reach receivers at loopback addresses, and no name. */
export const localCheck = checking(nowhere);

export const secret = newSecret();
const headers = valueIn(parseExtraHeaders({ authorization: 'Bearer s3cret' }));

export const requestTo = (url: string): DeliveryRequest =>
  valueIn(deliveryRequest({ url, format: 'standard', secret, headers }, succeeded, new Date()));

/** What is kept of an answer from an allowed network, such as that of the receivers of these tests. */
export const statusOnly = (status: number) => ({ kept: 'status', status });

export const failed = (outcome: DeliveryResult) => {
  if (outcome.kind !== 'failed') throw new Error(`It was ${outcome.kind}.`);
  return outcome;
};

const opened: WebhookReceiver[] = [];

afterEach(async () => {
  for (const { close } of opened.splice(0)) await close();
});

/** A receiver that is closed when the test ends. */
export async function receiver(...options: Parameters<typeof startWebhookReceiver>): Promise<WebhookReceiver> {
  const started = await startWebhookReceiver(...options);
  opened.push(started);
  return started;
}
