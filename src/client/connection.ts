import * as http from 'node:http';
import { getProxyUrl } from '@actions/http-client/lib/proxy';
import { BrokenResponse, maxResponseBytes, type RawResponse, type ReceivedBody } from './response.ts';
import type { ConnectionFailed } from './service-error.ts';
import type { ServiceText } from './service-text.ts';

/** More would only wait for each other in the service. */
export const maxConnections = 16;

export interface SentRequest {
  readonly method: string;
  /** Path and query, exactly as they go over the wire: no URL parser resolves anything in them. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface Connection {
  /** One request and its whole answer, whatever its status; rejected when the connection or the signal ends first. */
  send(request: SentRequest, signal: AbortSignal): Promise<RawResponse>;
  close(): void;
}

/** Connections to one server: kept alive, and through the proxy that `https_proxy`, `http_proxy` and `no_proxy` name. */
export function openConnection(baseUrl: URL): Connection {
  const isHttps = baseUrl.protocol === 'https:';
  const { Agent, request } = isHttps ? process.getBuiltinModule('node:https') : http;
  const port = baseUrl.port === '' ? (isHttps ? 443 : 80) : Number(baseUrl.port);
  const throughProxy = Boolean(getProxyUrl(baseUrl)?.hostname);
  const closing = new AbortController();
  const direct = new Agent({ keepAlive: true, maxSockets: maxConnections });
  let tunnels: Promise<http.Agent> | undefined;

  async function agentToUse(): Promise<http.Agent> {
    if (!throughProxy) return direct;
    tunnels ??= openTunnels(baseUrl, closing.signal);
    return tunnels;
  }

  return {
    async send({ method, target, headers, body }, signal) {
      const agent = await agentToUse();
      const message = await new Promise<http.IncomingMessage>((resolve, reject) => {
        const options = {
          // An IPv6 address has brackets in a URL alone.
          host: throughProxy ? baseUrl.hostname : baseUrl.hostname.replace(/^\[(.*)\]$/, '$1'),
          port,
          path: target,
          method,
          headers,
          agent,
          signal,
        };
        request(options, resolve)
          .on('error', reject)
          .end(body ?? undefined);
      });
      const { statusCode = 0, headers: received } = message;
      const endIsUnsure = received['content-length'] === undefined && received['transfer-encoding'] === undefined;
      return { status: statusCode, headers: received, endIsUnsure, ...(await readBytes(message)) };
    },
    close() {
      closing.abort();
      direct.destroy();
    },
  };
}

/** Works through the items in order, as many at a time as there are connections, until `goOn` says no. */
export async function inParallel<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
  goOn: () => boolean = () => true,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (;;) {
      const item = items[next];
      if (item === undefined || !goOn()) return;
      next += 1;
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxConnections, items.length) }, worker));
}

const neverConnected = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'EPROTO',
]);

/** These fail before a request can be sent, with the code of a failure after it. */
const unconnectedWords = /^tunneling socket could not be established|before secure TLS connection was established/;

/** As OpenSSL and Node name what is wrong with a certificate. */
const certificate = /CERT|SELF_SIGNED|^UNABLE_TO_(GET|VERIFY|DECODE)|^HOSTNAME_MISMATCH$|^INVALID_CA$/;

const maxWordsLength = 300;

/** It names a flag of Node's command line, which the reader of the error cannot set. */
const tipOfNode = /; if the root CA is installed locally.*$/s;

/** Node's own codes are mostly for wrong calls of its functions; these are for what happens on a connection. */
const ofConnection = /^(?!ERR_|MODULE_NOT_FOUND$)|^ERR_(TLS|SSL|SOCKET|STREAM|PROXY)_/;

/** OpenSSL finds plain text where TLS should begin. */
const notTls = /wrong version number|packet length too long|http request/i;

/** Undefined for a fault of our own code: it is no news about the connection, and would happen again. */
export function connectionFailure(error: unknown, texts: ServiceText): ConnectionFailed | undefined {
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) return undefined;
  const code = textAt(error, 'code');
  if (!(error instanceof BrokenResponse) && (code === undefined || !ofConnection.test(code))) return undefined;
  const untrusted = code !== undefined && certificate.test(code);
  const unconnected =
    untrusted ||
    textAt(error, 'syscall') === 'connect' ||
    (code !== undefined && neverConnected.has(code)) ||
    unconnectedWords.test(error.message);
  const words = texts.line(wordsOf(error).replace(tipOfNode, ''), maxWordsLength);
  return {
    kind: 'connection',
    code,
    words: code === undefined || words.includes(code) ? words : `${words} (${code})`,
    mayHaveArrived: !unconnected,
    untrusted,
    notTls: code === 'EPROTO' && notTls.test(error.message),
  };
}

/** By its events: for a short response, an async iterator costs more than all of its bytes. */
function readBytes(message: http.IncomingMessage): Promise<ReceivedBody> {
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    message
      .on('data', (bytes: Buffer) => {
        chunks.push(bytes);
        length += bytes.length;
        if (length <= maxResponseBytes) return;
        resolve({ bytes: Buffer.concat(chunks), tooLarge: true });
        message.destroy();
      })
      .on('end', () => resolve({ bytes: Buffer.concat(chunks), tooLarge: false }))
      .on('error', reject);
  });
}

/**
 * The agent that the toolkit's client has for a proxy. It is loaded where there is one, and so is TLS where it is spoken:
 * for a request without either, they would be half of the start.
 */
async function openTunnels(baseUrl: URL, signal: AbortSignal): Promise<http.Agent> {
  const { HttpClient } = await import('@actions/http-client');
  const client = new HttpClient(undefined, [], {
    keepAlive: true,
    // A full pool of tunnels never gets all of its places back; how many there are at once is limited before.
    maxSockets: Number.POSITIVE_INFINITY,
  });
  const agent = client.getAgent(baseUrl.href);
  // The request for a tunnel has no limit of its own.
  if ('proxyOptions' in agent && typeof agent.proxyOptions === 'object')
    Object.assign(agent.proxyOptions ?? {}, { signal });
  return agent;
}

/** When a name has several addresses, Node wraps the error of each in one without a message. */
const wordsOf = (error: Error): string =>
  error instanceof AggregateError && error.message === ''
    ? error.errors.map((each) => (each instanceof Error ? each.message : String(each))).join('; ')
    : error.message;

const textAt = (error: object, name: 'code' | 'syscall'): string | undefined => {
  const value: unknown = Reflect.get(error, name);
  return typeof value === 'string' ? value : undefined;
};
