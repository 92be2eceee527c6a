import * as http from 'node:http';
import * as https from 'node:https';
import { getProxyUrl, HttpClient } from '@actions/http-client';
import { largestBody, type ReceivedBody } from './answer.ts';
import { longestTimer } from './time-limit.ts';

/** More would only wait for each other at the other end. */
export const mostConnections = 16;

export interface SentRequest {
  readonly method: string;
  /** Path and query, exactly as they go over the wire: no URL parser resolves anything in them. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface Received extends ReceivedBody {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  /** Nothing but the end of the connection told where the body ends, so that a cut one looks whole. */
  readonly endIsUnsure: boolean;
}

export interface Connection {
  /** One request and its whole answer, whatever its status; rejected when the connection or the signal ends first. */
  send(request: SentRequest, signal: AbortSignal): Promise<Received>;
  close(): void;
}

async function readBytes(message: http.IncomingMessage): Promise<ReceivedBody> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of message) {
    const bytes: Buffer = chunk;
    chunks.push(bytes);
    length += bytes.length;
    // To leave the loop cuts the connection: the rest is never received.
    if (length > largestBody) return { bytes: Buffer.concat(chunks), tooLarge: true };
  }
  return { bytes: Buffer.concat(chunks), tooLarge: false };
}

/** The tunnel through a proxy is asked for by a request of its own, which knows no limit unless it is given one. */
function endTunnelsWith(signal: AbortSignal, agent: http.Agent): void {
  if ('proxyOptions' in agent && typeof agent.proxyOptions === 'object')
    Object.assign(agent.proxyOptions ?? {}, { signal });
}

/** Connections to one server: kept alive, and through the proxy that `https_proxy`, `http_proxy` and `no_proxy` name. */
export function openConnection(baseUrl: URL, socketTimeoutMs: number): Connection {
  const throughProxy = getProxyUrl(baseUrl.href) !== '';
  const closing = new AbortController();
  const client = new HttpClient(undefined, [], {
    keepAlive: true,
    // A full pool of tunnels never gets all of its places back; how many there are at once is limited before.
    maxSockets: throughProxy ? Number.POSITIVE_INFINITY : mostConnections,
    socketTimeout: Math.min(socketTimeoutMs, longestTimer),
  });
  const isHttps = baseUrl.protocol === 'https:';
  const defaultPort = isHttps ? 443 : 80;
  const agent = client.getAgent(baseUrl.href);
  endTunnelsWith(closing.signal, agent);

  return {
    async send({ method, target, headers, body }, signal) {
      const { message } = await client.requestRaw(
        {
          parsedUrl: baseUrl,
          httpModule: isHttps ? https : http,
          options: {
            // An IPv6 address has brackets in a URL alone.
            host: throughProxy ? baseUrl.hostname : baseUrl.hostname.replace(/^\[(.*)\]$/, '$1'),
            port: baseUrl.port === '' ? defaultPort : Number(baseUrl.port),
            path: target,
            method,
            headers: { ...headers },
            agent,
            signal,
          },
        },
        body,
      );
      const { statusCode = 0, headers: received } = message;
      const endIsUnsure = received['content-length'] === undefined && received['transfer-encoding'] === undefined;
      return { status: statusCode, headers: received, endIsUnsure, ...(await readBytes(message)) };
    },
    close() {
      closing.abort();
      client.dispose();
    },
  };
}
