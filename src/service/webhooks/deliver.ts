import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream/promises';
import { send, sendErrorText, type TargetCheck } from '../outbound/target.ts';
import type { DeliveryRequest } from './formats.ts';

/** Result of one attempt. Reasons contain only the origin of the URL, and no part of the delivery. */
export type DeliveryResult =
  | { readonly kind: 'delivered' }
  /** 410: the receiver wants no more deliveries from this hook. */
  | { readonly kind: 'gone'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string }
  /** Cancelled by the caller. The delivery may have reached the receiver. */
  | { readonly kind: 'cancelled' };

interface DeliverOptions {
  readonly check: TargetCheck;
  /** Total time, from the DNS lookup to the end of the response. Standard Webhooks 1.0 recommends 15 to 30 seconds. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const maxResponseBytes = 64 * 1_024;

/** Makes one attempt. Never rejects. */
export async function deliver(request: DeliveryRequest, options: DeliverOptions): Promise<DeliveryResult> {
  const { check, timeoutMs = 15_000, signal } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  const ending = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
  try {
    const limits = { check, group: request.workspace, maxResponseBytes, signal: ending };
    const sent = await send({ ...request, ...limits, method: 'POST' });
    if (!sent.ok) return { kind: 'failed', reason: sent.reason };
    // Lets the receiver complete its response. Errors are ignored, because only the status matters.
    await finished(sent.value.resume()).catch(() => undefined);
    return resultOf(request.url, sent.value);
  } catch (error) {
    if (signal?.aborted) return { kind: 'cancelled' };
    const reason = timeout.aborted ? `it did not respond within ${timeoutMs / 1_000} s` : sendErrorText(error);
    return { kind: 'failed', reason: `The delivery to ${new URL(request.url).origin} failed: ${reason}.` };
  }
}

function resultOf(url: string, { statusCode: status = 0 }: IncomingMessage): DeliveryResult {
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  if (status === 410) return { kind: 'gone', reason: 'The receiver responded with 410: it wants no more deliveries.' };
  const advice = status >= 300 && status < 400 ? ' Redirects are not followed: register the URL that it leads to.' : '';
  return { kind: 'failed', reason: `${new URL(url).origin} responded with the status ${status}.${advice}` };
}

/**
 * Seconds from each attempt to the next: the example schedule of Standard Webhooks 1.0, section "Deliverability and
 * reliability". The last attempt is three days after the event.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md#deliverability-and-reliability
 */
const delays = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

/** Adds up to a tenth, so that deliveries that failed together are not retried together, and no retry is early. */
const jitter = 0.1;

/** Milliseconds from the last attempt to the next one; undefined if there are no more attempts. */
export function nextAttemptAfter(attemptsMade: number, random: () => number = Math.random): number | undefined {
  const delay = delays[attemptsMade];
  return delay === undefined ? undefined : Math.round(1_000 * delay * (1 + jitter * random()));
}
