import type { IncomingMessage } from 'node:http';
import { unlessAborted } from '../../interface/timers.ts';
import { ResponseTooLong, send } from '../outbound/send.ts';
import type { Target } from '../outbound/target.ts';
import type { TargetCheck } from '../outbound/target-address.ts';
import { connectionErrorText } from '../platform/system-errors.ts';
import type { DeliveryRequest } from './delivery-request.ts';
import { retryAfterSeconds } from './retry-schedule.ts';

/** Result of one attempt. Reasons contain only the origin of the URL, and nothing that was sent. */
export type DeliveryResult =
  /** `gone` is 410: the receiver wants no more deliveries from this hook. */
  | { readonly kind: 'delivered' | 'gone' }
  | {
      readonly kind: 'failed';
      readonly reason: string;
      /** Wait that the receiver requests; at most a day. */
      readonly retryAfterSeconds?: number | undefined;
    }
  /** The caller cancelled it. It may have reached the receiver. */
  | { readonly kind: 'cancelled' };

interface DeliverOptions {
  readonly check: TargetCheck;
  /** Total time, from the DNS lookup to the end of the response. Standard Webhooks 1.0 recommends 15 to 30 seconds. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Asked after the DNS lookup, which may take long. If false, the attempt is cancelled. */
  readonly mayConnect?: () => Promise<boolean>;
}

const maxResponseBytes = 64 * 1_024;

/** Makes one attempt. Never rejects. */
export async function deliver(request: DeliveryRequest, options: DeliverOptions): Promise<DeliveryResult> {
  const { check, timeoutMs = 15_000, signal, mayConnect = async () => true } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  const ending = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
  try {
    const sent = await send(
      { ...request, method: 'POST' },
      {
        ...{ check, group: request.workspace, maxResponseBytes, signal: ending },
        // A database that does not answer says nothing about the receiver.
        mayConnect: () => unlessAborted(mayConnect(), ending).catch(() => false),
      },
    );
    if (sent.kind === 'refused') return { kind: 'failed', reason: sent.reason };
    if (sent.kind === 'cancelled') return sent;
    const result = resultOf(sent.target, sent.response);
    await discardBody(sent.response);
    return result;
  } catch (error) {
    if (signal?.aborted) return { kind: 'cancelled' };
    const reason = timeout.aborted ? `it did not respond within ${timeoutMs / 1_000} s` : reasonOf(error);
    return { kind: 'failed', reason: `The delivery to ${new URL(request.url).origin} failed: ${reason}.` };
  }
}

function resultOf(target: Target, { statusCode: status = 0, headers }: IncomingMessage): DeliveryResult {
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  if (status === 410) return { kind: 'gone' };
  const advice = status >= 300 && status < 400 ? ' Redirects are not followed: register the URL that it leads to.' : '';
  const sentAt = Date.parse(headers.date ?? '');
  return {
    kind: 'failed',
    reason: `${target.origin} responded with the status ${status}.${advice}`,
    retryAfterSeconds: retryAfterSeconds(headers['retry-after'], Number.isNaN(sentAt) ? new Date() : new Date(sentAt)),
  };
}

const reasonOf = (error: unknown): string =>
  error instanceof ResponseTooLong
    ? `it sent more than ${maxResponseBytes / 1_024} KB, and the connection was cut`
    : connectionErrorText(error);

/** Enough that receivers can usually complete their response. */
const maxBytesRead = 16 * 1_024;

/** Errors are ignored, because the status has already decided the result. */
async function discardBody(response: IncomingMessage): Promise<void> {
  let read = 0;
  try {
    for await (const piece of response) {
      read += piece.length;
      if (read >= maxBytesRead) break;
    }
  } catch {
    // The connection was closed, or the time limit was reached.
  }
  response.destroy();
}
