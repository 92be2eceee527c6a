import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { systemErrorText } from '../../platform/system-errors.ts';
import { LfsError } from '../../syncs/lfs-objects.ts';
import type { Addresses, TargetCheck } from '../../webhooks/target-address.ts';

export interface StoreRequest {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** Sends requests to a store, and to wherever it says that its objects are. */
export interface StoreConnection {
  /** Rejects with an LfsError where the address is refused, and with a StoreTrouble for all that may pass. */
  request(request: StoreRequest): Promise<IncomingMessage>;
  close(): void;
}

/** The store did not answer, or broke off. The message completes "…: ". */
export class StoreTrouble extends Error {
  override readonly name = 'StoreTrouble';
}

export const troubleOf = (error: unknown): StoreTrouble => {
  if (error instanceof StoreTrouble) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // The message of an error may quote the request; its code does not.
  return new StoreTrouble(systemErrorText(code) ?? (code === '' ? 'it broke off' : `the connection failed (${code})`));
};

export interface ConnectionOptions {
  readonly targets: TargetCheck;
  /** Whether the operator has named this address: then it is not looked at where it leads. */
  readonly isNamed: (url: URL) => boolean;
  /** At most so many connections to one host. */
  readonly parallel: number;
  /** After so long without a byte, a connection is given up. */
  readonly idleMs: number;
  /** Authorities that the operator trusts beside those of Node. */
  readonly ca: readonly string[] | undefined;
}

export function openConnection(options: ConnectionOptions): StoreConnection {
  const { targets, isNamed, parallel, idleMs, ca } = options;
  const settings = { keepAlive: true, maxSockets: parallel };
  // No proxy of the environment is used: where a name leads to is known here alone.
  const agents = {
    'http:': new http.Agent(settings),
    'https:': new https.Agent({ ...settings, ...(ca && { ca: [...ca] }) }),
  };

  function judge(url: URL, addresses: Addresses): void {
    for (const address of addresses) {
      const judgement = targets.judge(address);
      const what =
        judgement.kind === 'refused'
          ? judgement.what
          : judgement.kind === 'public' && url.protocol === 'http:'
            ? 'a public address without encryption'
            : undefined;
      if (what === undefined) continue;
      throw new LfsError(
        `The LFS store says that objects are at ${url.origin}, which leads to ${what}. It may send the service to public addresses over https, and into the networks that the operator allows (--allow-hook-network).`,
      );
    }
  }

  /** For each new connection. One that is kept is used for the same host and port alone. */
  const judgedLookup =
    (url: URL, signal: AbortSignal): LookupFunction =>
    (hostname, { all }, callback) => {
      targets
        .addressesOf(hostname, signal)
        .then((addresses) => {
          judge(url, addresses);
          return addresses.map((address) => ({ address, family: isIP(address) }));
        })
        .then(
          (found) => (all ? callback(null, found) : callback(null, found[0]?.address ?? '', found[0]?.family)),
          (error: NodeJS.ErrnoException) => callback(error, '', 4),
        );
    };

  async function request({ method, url, headers, body, signal }: StoreRequest): Promise<IncomingMessage> {
    const isGuarded = !isNamed(url);
    const hostname = url.hostname.replace(/^\[|\]$/g, '');
    // The address of a literal is not looked up.
    if (isGuarded && isIP(hostname) !== 0) judge(url, [hostname]);
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
      timeout: idleMs,
      signal,
      ...(isGuarded && { lookup: judgedLookup(url, signal) }),
    });
    return new Promise((resolve, reject) => {
      sent.on('timeout', () => sent.destroy(new StoreTrouble('it does not answer in time')));
      sent.once('response', resolve);
      sent.on('error', (error) => {
        reject(signal.aborted ? signal.reason : error instanceof LfsError ? error : troubleOf(error));
      });
      sent.end(body);
    });
  }

  return {
    request,
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

/** All of a short answer. */
export async function readAnswer(answer: IncomingMessage, maxBytes: number): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of answer as AsyncIterable<Buffer>) {
      pieces.push(piece);
      size += piece.length;
      if (size > maxBytes) throw new StoreTrouble(`it answered with more than ${maxBytes / 1_024} KiB`);
    }
  } catch (error) {
    throw troubleOf(error);
  }
  return Buffer.concat(pieces).toString('utf8');
}
