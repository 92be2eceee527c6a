import type { Logger } from 'pino';
import type { Metrics } from '../operation/metrics.ts';
import type { Storage } from '../storage/storage.ts';
import { deliver, type Outcome } from './deliver.ts';
import { abandonDelivery, type ClaimedDelivery, type DeliveryEnd, settleDelivery } from './delivery-queue.ts';
import { deliveryRequest } from './delivery-request.ts';
import { formatOf, headersOf, secretOf } from './hooks.ts';
import { nextAttemptAfter } from './retry-schedule.ts';
import type { TargetCheck } from './target-address.ts';

export interface DeliveryParts {
  readonly storage: Storage;
  readonly targets: TargetCheck;
  readonly metrics: Metrics;
  readonly log: Logger;
}

async function attempt(targets: TargetCheck, { hook, event }: ClaimedDelivery, signal: AbortSignal): Promise<Outcome> {
  const receiver = { url: hook.url, format: formatOf(hook), secret: secretOf(hook), headers: headersOf(hook) };
  const request = deliveryRequest(receiver, event, new Date());
  // The hook was registered again in another format, which cannot express an event that is still under way.
  if (!request.ok) return { kind: 'failed', why: request.why };
  return deliver(request.value, { check: targets, signal });
}

function retry(attemptsMade: number, why: string, atLeastMs: number): DeliveryEnd {
  const wait = nextAttemptAfter(attemptsMade);
  return wait === undefined ? { kind: 'given-up', why } : { kind: 'retry', afterMs: Math.max(wait, atLeastMs), why };
}

function endOf(outcome: Outcome, attemptsMade: number): DeliveryEnd | undefined {
  switch (outcome.kind) {
    case 'delivered':
      return { kind: 'delivered' };
    case 'gone':
      return { kind: 'gone', why: 'The receiver answered 410: it wants nothing more.' };
    case 'failed':
      return retry(attemptsMade, outcome.why, (outcome.retryAfterSeconds ?? 0) * 1_000);
    case 'refused-target':
      return retry(attemptsMade, outcome.why, 0);
    case 'cancelled':
      return undefined;
  }
}

/** Makes one attempt at a claimed delivery, and puts down what came of it. */
export async function runDelivery(
  parts: DeliveryParts,
  delivery: ClaimedDelivery,
  stopping: AbortSignal,
): Promise<void> {
  const { storage, targets, metrics, log } = parts;
  const end = endOf(await attempt(targets, delivery, stopping), delivery.attempts + 1);
  if (end === undefined) {
    await abandonDelivery(storage, delivery);
    return;
  }
  await storage.commit((db) => settleDelivery(db, storage.now, delivery, end));
  metrics.deliveries.inc({ outcome: end.kind });
  if (end.kind !== 'delivered') {
    const about = { delivery: delivery.id, hook: delivery.hook.id, workspace: delivery.hook.workspace_id };
    log.warn(
      { ...about, attempt: delivery.attempts + 1, outcome: end.kind, why: end.why },
      'a webhook was not delivered',
    );
  }
}
