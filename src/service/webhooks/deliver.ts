import http, { type IncomingMessage, type RequestOptions } from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { type Stage, whyFailed, whyNotAccepted, whyTimedOut } from './delivery-failure.ts';
import type { DeliveryRequest } from './delivery-request.ts';
import { retryAfterSeconds } from './retry-after.ts';
import { judgeTarget, parseTarget, type Target } from './target.ts';
import type { Addresses, TargetCheck } from './target-address.ts';

/** What came of one attempt. No sentence holds more of the URL than its origin, nor anything that was sent. */
export type Outcome =
  | { readonly kind: 'delivered'; readonly status: number }
  /** 410: the receiver wants no more deliveries of this hook. */
  | { readonly kind: 'gone' }
  | {
      readonly kind: 'failed';
      readonly status?: number;
      readonly why: string;
      /** What the receiver asks for; at most a day. */
      readonly retryAfterSeconds?: number;
    }
  /** The address must not be delivered to; nothing was sent. */
  | { readonly kind: 'refused-target'; readonly why: string }
  /** The caller called it off. It may have reached the receiver. */
  | { readonly kind: 'cancelled' };

interface Terms {
  readonly check: TargetCheck;
  /** Over everything, from the name to the end of the answer. Standard Webhooks 1.0 recommends 15 to 30 seconds. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly now?: () => Date;
}

/** Nothing is done with the body of an answer; this much is read so that a receiver can finish what it says. */
const mostRead = 16 * 1_024;

/** Makes one attempt. It does not reject. */
export async function deliver(request: DeliveryRequest, terms: Terms): Promise<Outcome> {
  const { check, timeoutMs = 15_000, signal, now = () => new Date() } = terms;
  const parsed = parseTarget(request.url);
  if (!parsed.ok) return { kind: 'refused-target', why: parsed.why };
  const target = parsed.value;

  const ending = new AbortController();
  const end = (): void => ending.abort();
  const timer = setTimeout(end, timeoutMs);
  signal?.addEventListener('abort', end, { once: true });
  if (signal?.aborted) end();

  let stage: Stage = 'resolving';
  try {
    const addresses = await check.addressesOf(target.hostname, ending.signal);
    const judged = judgeTarget(target, addresses, check);
    if (!judged.ok) return { kind: 'refused-target', why: judged.why };

    stage = 'connecting';
    const answer = await exchange(target, addresses, request, ending.signal, (reached) => {
      stage = reached;
    });
    await drain(answer);
    return outcomeOf(target, answer, now());
  } catch (error) {
    if (signal?.aborted) return { kind: 'cancelled' };
    const why = ending.signal.aborted ? whyTimedOut(target, stage, timeoutMs) : whyFailed(target, stage, error);
    return { kind: 'failed', why };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

function outcomeOf(target: Target, { statusCode: status = 0, headers }: IncomingMessage, now: Date): Outcome {
  if (status >= 200 && status < 300) return { kind: 'delivered', status };
  if (status === 410) return { kind: 'gone' };
  const wait = retryAfterSeconds(headers['retry-after'], now);
  const why = whyNotAccepted(target, status);
  return { kind: 'failed', status, why, ...(wait === undefined ? {} : { retryAfterSeconds: wait }) };
}

/** Sends the request to one of the addresses that were judged, and to no other: the name is not looked up again. */
function exchange(
  target: Target,
  addresses: Addresses,
  { headers, body }: DeliveryRequest,
  signal: AbortSignal,
  reached: (stage: Stage) => void,
): Promise<IncomingMessage> {
  const { hostname, port, pathname, search } = new URL(target.url);
  const options: RequestOptions = {
    method: 'POST',
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port,
    path: pathname + search,
    headers,
    lookup: answering(addresses),
    signal,
  };
  const secure = target.protocol === 'https:';
  // An agent of its own: nothing is shared with other requests, and no proxy of the environment stands in between.
  const request = secure
    ? https.request({ ...options, agent: new https.Agent({ keepAlive: false }) })
    : http.request({ ...options, agent: new http.Agent({ keepAlive: false }) });

  return new Promise((resolve, reject) => {
    request.once('socket', (socket: Socket) => {
      socket.once('connect', () => reached(secure ? 'securing' : 'waiting'));
      socket.once('secureConnect', () => reached('waiting'));
    });
    request.once('response', resolve);
    request.on('error', reject);
    request.once('close', () => reject(new Error('There was no answer.')));
    request.end(body);
  });
}

const answering =
  (addresses: Addresses): LookupFunction =>
  (_hostname, { all }, callback) => {
    const found = addresses.map((address) => ({ address, family: isIP(address) }));
    if (all) callback(null, found);
    else callback(null, addresses[0], isIP(addresses[0]));
  };

/** The status has decided already, so what goes wrong from here on does not count. */
async function drain(answer: IncomingMessage): Promise<void> {
  let read = 0;
  try {
    for await (const chunk of answer) {
      read += chunk.length;
      if (read >= mostRead) break;
    }
  } catch {
    // Cut off, or out of time.
  }
  answer.destroy();
}
