import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { unlessAborted } from '../../interface/timers.ts';
import { checkTargetAddresses, parseTarget, type Target } from '../outbound/target.ts';
import { type IpAddresses, lookupAmong, type TargetCheck } from '../outbound/target-address.ts';
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

/** Makes one attempt. Never rejects. */
export async function deliver(request: DeliveryRequest, options: DeliverOptions): Promise<DeliveryResult> {
  const { check, timeoutMs = 15_000, signal, mayConnect = async () => true } = options;
  const parsed = parseTarget(request.url);
  if (!parsed.ok) return { kind: 'failed', reason: parsed.reason };
  const target = parsed.value;

  const timeout = AbortSignal.timeout(timeoutMs);
  const ending = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
  try {
    const addresses = await check.addressesOf(target.hostname, request.workspace, ending);
    const checked = checkTargetAddresses(target, addresses, check);
    if (!checked.ok) return { kind: 'failed', reason: checked.reason };
    // A database that does not answer says nothing about the receiver.
    if (!(await unlessAborted(mayConnect(), ending).catch(() => false))) return { kind: 'cancelled' };

    const response = await exchange(target, addresses, request, ending);
    const result = resultOf(target, response);
    await discardBody(response);
    return result;
  } catch (error) {
    if (signal?.aborted) return { kind: 'cancelled' };
    const reason = timeout.aborted ? `it did not respond within ${timeoutMs / 1_000} s` : reasonOf(error);
    return { kind: 'failed', reason: `The delivery to ${target.origin} failed: ${reason}.` };
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

/** Limit for headers and body, including all interim responses: RFC 9110, section 15.2 allows any number of them. */
const maxResponseBytes = 64 * 1_024;

class ResponseTooLong extends Error {}

const reasonOf = (error: unknown): string =>
  error instanceof ResponseTooLong
    ? `it sent more than ${maxResponseBytes / 1_024} KB, and the connection was cut`
    : connectionErrorText(error);

/** Sends the request only to one of the checked addresses: the name is not looked up again. */
function exchange(
  target: Target,
  addresses: IpAddresses,
  { headers, body }: DeliveryRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const request = (target.protocol === 'https:' ? https : http).request(target, {
    method: 'POST',
    headers,
    // Default of Node, set explicitly so that options of the process do not change it.
    maxHeaderSize: 16 * 1_024,
    lookup: lookupAmong(addresses),
    // No connection is shared with other requests, and no proxy of the environment is used.
    agent: false,
    signal,
  });

  return new Promise((resolve, reject) => {
    request.once('socket', (socket: Socket) => {
      let received = 0;
      // Counts the bytes before the parser receives them.
      socket.prependListener('data', (piece: Buffer) => {
        received += piece.length;
        if (received <= maxResponseBytes || request.destroyed) return;
        const error = new ResponseTooLong();
        // Rejects first, because the final response may be in the data that was already received.
        reject(error);
        request.destroy(error);
      });
    });
    request.once('response', resolve);
    request.on('error', reject);
    request.once('close', () => reject(new Error('There was no answer.')));
    request.end(body);
  });
}

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
