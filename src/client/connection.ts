import type * as http from 'node:http';
import { getProxyUrl } from '@actions/http-client/lib/proxy';
import { networkErrorText } from '../interface/network-errors.ts';
import { maxResponseBytes, type RawResponse } from './response.ts';
import type { Sanitizer } from './sanitizer.ts';
import { asSentence, type Failure } from './service-error.ts';

/** More connections would only wait for each other in the service. */
export const maxConnections = 16;

interface SentRequest {
  readonly method: string;
  /** Path and query, exactly as sent: no URL parser normalizes them. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /**
   * Sent on a new connection. A server may close an idle connection just as the request is sent, and then it is unknown
   * whether the request arrived.
   */
  readonly isAlone: boolean;
}

export type Connection = ReturnType<typeof openConnection>;

/** Opens keep-alive connections to one server, through the proxy of `https_proxy`, `http_proxy` and `no_proxy`. */
export function openConnection(baseUrl: URL) {
  const isHttps = baseUrl.protocol === 'https:';
  // Importing node:http would load Node's web client, which takes half as long as starting Node itself.
  const { Agent, request } = process.getBuiltinModule(isHttps ? 'node:https' : 'node:http');
  const port = baseUrl.port === '' ? (isHttps ? 443 : 80) : Number(baseUrl.port);
  const throughProxy = Boolean(getProxyUrl(baseUrl)?.hostname);
  // IPv6 addresses have brackets only in URLs.
  const host = throughProxy ? baseUrl.hostname : baseUrl.hostname.replace(/^\[(.*)\]$/, '$1');
  const closing = new AbortController();
  const direct = new Agent({ keepAlive: true, maxSockets: maxConnections });
  let tunnels: Promise<http.Agent> | undefined;

  return {
    /** Returns the complete response, whatever its status. Rejects if the connection fails or the signal is aborted. */
    async send({ method, target, headers, body, isAlone }: SentRequest, signal: AbortSignal): Promise<RawResponse> {
      if (throughProxy) tunnels ??= openTunnels(baseUrl, closing.signal);
      // The agent for tunnels keeps no idle connections.
      const agent = (await tunnels) ?? (isAlone ? false : direct);
      signal.throwIfAborted();
      const message = await new Promise<http.IncomingMessage>((resolve, reject) => {
        const sent = request({ host, port, path: target, method, headers, agent }, resolve).on('error', reject);
        // Cheaper than the option `signal`, which also listens for the end of the request.
        signal.addEventListener('abort', () => sent.destroy(), { once: true });
        // Given a string, Node would also encode the headers as UTF-8.
        sent.end(body === undefined ? undefined : Buffer.from(body));
      });
      const { statusCode = 0, headers: received } = message;
      return { status: statusCode, headers: received, ...(await readBytes(message)) };
    },
    close() {
      closing.abort();
      direct.destroy();
    },
  };
}

const neverConnected = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EPROTO)$/;

/** Messages of errors before a request can be sent, whose code is also used for later failures. */
const unconnectedWords = /^tunneling socket could not be established|before secure TLS connection was established/;

/** Codes of OpenSSL and Node for certificate errors. */
const certificate = /CERT|SELF_SIGNED|^UNABLE_TO_(GET|VERIFY|DECODE)|^HOSTNAME_MISMATCH$|^INVALID_CA$/;

const maxWordsLength = 300;

/** Codes of connection errors. Other codes of Node mostly mean wrong calls of its functions. */
const ofConnection = /^(?!ERR_|MODULE_NOT_FOUND$)|^ERR_(TLS|SSL|SOCKET|STREAM|PROXY)_/;

/** Undefined for a bug in this program: it does not concern the connection, and would happen again. */
export function connectionFailure(error: unknown, sanitizer: Sanitizer) {
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) return undefined;
  const code = textAt(error, 'code');
  if (code === undefined || !ofConnection.test(code)) return undefined;
  const isUntrusted = certificate.test(code);
  const isUnconnected =
    isUntrusted ||
    textAt(error, 'syscall') === 'connect' ||
    neverConnected.test(code) ||
    unconnectedWords.test(error.message);
  const message = sanitizer.line(reasonOf(error, code), maxWordsLength);
  const [what, advice] = isUntrusted
    ? [
        'The certificate of the server is not trusted, so nothing was sent',
        ' If your own CA signed its certificate, set NODE_EXTRA_CA_CERTS to the file of that CA.',
      ]
    : ['The connection to the server failed', ' Check the URL, and that this machine can reach the server.'];
  const reason = asSentence(`${what}: ${message}`);
  // A retry would not change the certificate.
  const failure: Failure = { kind: 'connection', reason, advice, isTransient: !isUntrusted };
  return { failure, mayHaveArrived: !isUnconnected };
}

/** Reads events instead of an async iterator, which would cost more than all bytes of a short response. */
function readBytes(message: http.IncomingMessage): Promise<Pick<RawResponse, 'bytes' | 'tooLarge'>> {
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
 * The proxy agent of the toolkit's HTTP client. It is loaded only if there is a proxy, and TLS only for https:
 * together, they would be half of the startup time.
 */
async function openTunnels(baseUrl: URL, signal: AbortSignal): Promise<http.Agent> {
  const { HttpClient } = await import('@actions/http-client');
  const client = new HttpClient(undefined, [], {
    keepAlive: true,
    // Unlimited, because a full pool of tunnels never gets all of its slots back. The number of connections is limited
    // elsewhere.
    maxSockets: Number.POSITIVE_INFINITY,
  });
  const agent = client.getAgent(baseUrl.href);
  // The request that opens a tunnel has no timeout by default.
  if ('proxyOptions' in agent && typeof agent.proxyOptions === 'object')
    Object.assign(agent.proxyOptions ?? {}, { signal });
  return agent;
}

/** For known codes, an explanation for users instead of Node's message. */
function reasonOf({ message }: Error, code: string): string {
  const isNamed = message.includes(code);
  const known = unconnectedWords.test(message) ? undefined : networkErrorText(code);
  if (known !== undefined) return `${known} (${isNamed ? message : code})`;
  return isNamed ? message : `${message} (${code})`;
}

const textAt = (error: object, name: 'code' | 'syscall'): string | undefined => {
  const value: unknown = Reflect.get(error, name);
  return typeof value === 'string' ? value : undefined;
};
