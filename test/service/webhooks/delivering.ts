import pino from 'pino';
import { onTestFinished } from 'vitest';
import { createTargetCheck, type Resolve } from '../../../src/service/outbound/target.ts';
import { parseCidr } from '../../../src/service/platform/ip-address.ts';
import { createMetrics } from '../../../src/service/runtime/metrics.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import { type DeliveryResult, deliver } from '../../../src/service/webhooks/deliver.ts';
import { type DeliveryOptions, runDelivery, startDeliveries } from '../../../src/service/webhooks/delivery-worker.ts';
import { deliveryRequest } from '../../../src/service/webhooks/formats.ts';
import { newWebhookSecret } from '../../../src/service/webhooks/signature.ts';
import { valueIn } from '../../support/value-in.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.ts';
import { claimNext } from './hooked-storage.ts';
import { hookRow, succeeded } from './samples.ts';

const loopback = [valueIn(parseCidr('127.0.0.0/8')), valueIn(parseCidr('::1/128'))];

/** A resolver that resolves no names. */
export const nowhere: Resolve = () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }));

export const always =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses;

export const checking = (resolve: Resolve, allowedNetworks = loopback) => createTargetCheck(allowedNetworks, resolve);

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

/** Retries at once, and without end. */
const impatient: DeliveryOptions = { timeoutMs: 10_000, schedule: () => 0 };

interface Options {
  readonly options?: Partial<DeliveryOptions>;
  readonly pollMs?: number;
}

/** Starts the delivery work of one instance. It is stopped when the test ends. */
export function startDeliveryWorkers(storage: Storage, { options = {}, pollMs = 20 }: Options = {}) {
  const lines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(line) });
  const metrics = createMetrics();
  const onError = (error: unknown) => log.error({ err: error }, 'unexpected');
  const parts = { storage, targets: localCheck, metrics, log, pollMs, onError };
  const worker = startDeliveries({ ...parts, options: { ...impatient, ...options } });
  onTestFinished(worker.stop);
  return {
    ...worker,
    log: () => lines.join(''),
    /** The number of attempts by outcome, without outcomes that did not occur. */
    async attempts(): Promise<Readonly<Record<string, number>>> {
      const { values } = await metrics.deliveries.get();
      return Object.fromEntries(values.flatMap(({ labels, value }) => (value > 0 ? [[labels.outcome, value]] : [])));
    },
  };
}

/** Makes the attempt that is due, on the default options unless given others; false if none is due. */
export async function attemptNext(
  storage: Storage,
  { options, targets = localCheck }: Options & { readonly targets?: typeof localCheck } = {},
): Promise<boolean> {
  const claimed = await claimNext(storage);
  if (claimed === undefined) return false;
  const parts = { storage, targets, metrics: createMetrics(), log: pino({ level: 'silent' }) };
  await runDelivery(parts, claimed, new AbortController().signal, options && { ...impatient, ...options });
  return true;
}
