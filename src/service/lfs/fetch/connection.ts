import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { type IpAddresses, lookupAmong } from '../../outbound/target-address.ts';
import { LfsError } from '../../syncs/lfs-objects.ts';
import type { AddressGuard } from './address-guard.ts';
import { StoreError, toStoreError } from './store-error.ts';

export const transientStatuses = new Set([408, 429, 500, 502, 503, 504]);

/** Whether a store refuses a request only for now. */
export const isBusy = ({ statusCode, headers }: IncomingMessage): boolean =>
  statusCode === 429 || (statusCode === 503 && headers['retry-after'] !== undefined);

interface StoreRequest {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

export type StoreConnection = ReturnType<typeof openStoreConnection>;

/**
 * Sends requests to a store and to the URLs that it returns for objects. `ca` replaces the CAs of Node, unless it is
 * undefined.
 */
export function openStoreConnection(guard: AddressGuard, ca: readonly string[] | undefined) {
  // Proxies of the environment are not used: they would resolve names themselves, without the check of addresses.
  const agents = {
    'http:': new http.Agent({ keepAlive: true }),
    'https:': new https.Agent({ keepAlive: true, ...(ca && { ca: [...ca] }) }),
  };

  async function checkedAddresses(url: URL, signal: AbortSignal): Promise<IpAddresses> {
    const checked = await guard(url, signal);
    switch (checked.kind) {
      case 'allowed':
        return checked.addresses;
      case 'refused':
        throw new LfsError(checked.reason);
      case 'not-found':
        throw new StoreError(checked.reason);
    }
  }

  /** Runs for each new connection. Kept connections are reused only for the same host and port. */
  const checkedLookup =
    (url: URL, signal: AbortSignal): LookupFunction =>
    (hostname, options, callback) => {
      checkedAddresses(url, signal).then(
        (addresses) => lookupAmong(addresses)(hostname, options, callback),
        (error: NodeJS.ErrnoException) => callback(error, '', 4),
      );
    };

  /** Rejects with an LfsError if the URL is refused, and with a StoreError for transient errors. */
  async function request({ method, url, headers, body, signal }: StoreRequest): Promise<IncomingMessage> {
    const hostname = url.hostname.replace(/^\[|\]$/g, '');
    // Node calls no lookup for an IP address.
    if (isIP(hostname) !== 0) await checkedAddresses(url, signal);
    const isSecure = url.protocol === 'https:';
    const sent = (isSecure ? https : http).request({
      method,
      hostname,
      port: url.port,
      path: url.pathname + url.search,
      headers: {
        'user-agent': 'workspace-automation',
        ...headers,
        ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
      },
      agent: agents[isSecure ? 'https:' : 'http:'],
      signal,
      lookup: checkedLookup(url, signal),
    });
    return new Promise((resolve, reject) => {
      sent.once('response', resolve);
      sent.on('error', (error) => {
        reject(signal.aborted ? signal.reason : error instanceof LfsError ? error : toStoreError(error));
      });
      sent.end(body);
    });
  }

  return {
    request,
    close(): void {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}
