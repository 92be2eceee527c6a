import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { accepted, type Parsed } from '../../interface/parsed.ts';
import { errorCode, systemErrorText } from '../../interface/system-errors.ts';
import { checkTargetAddresses, type IpAddresses, lookupAmong, parseTarget, type TargetCheck } from './target.ts';

interface OutboundRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface SendOptions {
  readonly check: TargetCheck;
  /** Slow lookups of names delay only those of the same group. */
  readonly group: string;
  /** Limit for headers and body, including all interim responses: RFC 9110, section 15.2 allows any number of them. */
  readonly maxResponseBytes: number;
  readonly signal: AbortSignal;
}

class ResponseTooLong extends Error {}

/** The reason why a request failed, to complete a sentence. */
export function sendErrorText(error: unknown): string {
  if (error instanceof ResponseTooLong) return error.message;
  // From the code, because the message may quote the request.
  const code = errorCode(error);
  return systemErrorText(code) ?? (code === '' ? 'the connection was closed' : `the connection failed (${code})`);
}

/** Sends a request of the service to another server, only to addresses that are allowed. Follows no redirects. */
export async function send(request: OutboundRequest, options: SendOptions): Promise<Parsed<IncomingMessage>> {
  const { check, group, signal } = options;
  const target = parseTarget(request.url);
  if (!target.ok) return target;
  const addresses = await check.addressesOf(target.value.hostname, group, signal);
  const checked = checkTargetAddresses(target.value, addresses, check);
  return checked.ok ? accepted(await exchange(checked.value, addresses, request, options)) : checked;
}

/** Sends the request only to one of the checked addresses: the name is not looked up again. */
function exchange(
  target: URL,
  addresses: IpAddresses,
  { method, headers, body }: OutboundRequest,
  { maxResponseBytes, signal }: SendOptions,
): Promise<IncomingMessage> {
  const request = (target.protocol === 'https:' ? https : http).request(target, {
    method,
    headers: { 'user-agent': 'workspace-automation', ...headers },
    // Default of Node, set explicitly so that options of the process do not change it.
    maxHeaderSize: 16 * 1_024,
    lookup: lookupAmong(addresses),
    // No connection is shared with other requests, and no proxy of the environment is used.
    agent: false,
    signal,
  });

  return new Promise((resolve, reject) => {
    let response: IncomingMessage | undefined;
    request.once('socket', (socket) => {
      let received = 0;
      // Counts the bytes before the parser receives them.
      socket.prependListener('data', (piece: Buffer) => {
        received += piece.length;
        if (received <= maxResponseBytes || request.destroyed) return;
        const limit = `${maxResponseBytes / 1_024} KB`;
        const error = new ResponseTooLong(`it sent more than ${limit}, and the connection was cut`);
        // Rejects first, because the final response may be in the data that was already received.
        reject(error);
        response?.destroy(error);
        request.destroy(error);
      });
    });
    request.once('response', (begun) => {
      response = begun;
      resolve(begun);
    });
    request.on('error', reject);
    request.once('close', () => reject(new Error('There was no response.')));
    request.end(body);
  });
}
