import { lookup } from 'node:dns/promises';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { errorCode, systemErrorText } from '../../interface/system-errors.ts';
import { unlessAborted } from '../../interface/timers.ts';
import { addressInHost, type Cidr, cidr, type IpAddress, isInside, parseIpAddress } from '../platform/ip-address.ts';
import { limitParallel } from '../runtime/limit-parallel.ts';

/** Checks whether a hook may be registered for this URL. Names that do not resolve now are checked at delivery. */
export async function checkTarget(
  text: string,
  check: TargetCheck,
  group: string,
  { resolveWithinMs = 3_000 } = {},
): Promise<Parsed<URL>> {
  const target = parseTarget(text);
  if (!target.ok) return target;
  const addresses = await check
    .addressesOf(target.value.hostname, group, AbortSignal.timeout(resolveWithinMs))
    .catch(() => undefined);
  if (addresses !== undefined) return checkTargetAddresses(target.value, addresses, check);
  if (target.value.protocol === 'https:') return target;
  return refused(
    `The name of ${target.value.origin} could not be resolved, so it may be outside the allowed networks. Use https, or try again later.`,
  );
}

export const maxUrlLength = 2_048;
const controlCharacter = /\p{Cc}/u;

/**
 * Parses the target of a request by the service itself, without resolving its name. The path and query may contain
 * secrets: messages and logs use only the origin.
 */
export function parseTarget(text: string): Parsed<URL> {
  if (text.length > maxUrlLength) return refused(`The URL has more than ${maxUrlLength} characters.`);
  if (controlCharacter.test(text) || !text.isWellFormed() || text !== text.trim()) {
    return refused('The URL has a control character, or a space at one of its ends.');
  }
  const url = URL.parse(text);
  if (url === null) return refused('This is not a URL. It must look like https://hooks.example.com/path.');
  const { protocol, href } = url;
  if (protocol !== 'https:' && protocol !== 'http:') return refused('The URL must begin with https://.');
  if (url.username !== '' || url.password !== '') {
    return refused('The URL has a user name or a password, which would reach logs: send them in "headers" instead.');
  }
  if (href.includes('#')) return refused('The URL has a fragment (the part from # on), which is never sent.');
  if (href.length > maxUrlLength)
    return refused(`The URL has more than ${maxUrlLength} characters once it is encoded.`);
  return accepted(url);
}

/** Checks the addresses of the target. All of them must be allowed, because any may be used. */
function checkTargetAddresses(target: URL, addresses: IpAddresses, check: TargetCheck): Parsed<URL> {
  const verdicts = addresses.map(check.checkAddress);
  const forbidden = verdicts.find((verdict) => verdict.kind === 'refused');
  if (forbidden !== undefined) {
    return refused(
      `${target.origin} leads to ${forbidden.addressKind}. Requests go to public addresses, and into the networks that the operator of the service allows (--allow-hook-network).`,
    );
  }
  if (target.protocol === 'https:' || verdicts.every(({ kind }) => kind === 'allowed')) return accepted(target);
  return refused(
    `${target.origin} does not encrypt, and is not inside a network that the operator of the service allows (--allow-hook-network): use https.`,
  );
}

/** Returns all addresses of a name. Rejects or returns none if the name does not resolve. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

type IpAddresses = readonly [string, ...string[]];

type AddressVerdict =
  | { readonly kind: 'public' }
  | { readonly kind: 'allowed' }
  | { readonly kind: 'refused'; readonly addressKind: string };

interface Settings {
  /** Networks that the operator allows in addition to public addresses. */
  readonly allowedNetworks: readonly Cidr[];
  readonly resolve?: Resolve;
}

export type TargetCheck = ReturnType<typeof createTargetCheck>;

export function createTargetCheck({ allowedNetworks, resolve = systemResolve }: Settings) {
  const limit = limitParallel({ max: maxLookups, maxPerKey: maxLookupsOfGroup });
  return {
    /**
     * Resolves the host of a URL. For an IP address, returns the address itself. Rejects if there are none. Slow
     * lookups delay only those of the same group, such as the webhooks of one workspace.
     */
    async addressesOf(hostname: string, group: string, signal: AbortSignal): Promise<IpAddresses> {
      const literal = addressInHost(hostname);
      if (literal !== undefined) return [literal];
      const found = limit(group, async () => {
        signal.throwIfAborted();
        return resolve(hostname);
      });
      const [first, ...others] = await unlessAborted(found, signal);
      if (first === undefined) throw Object.assign(new Error('The name has no address.'), { code: 'ENOTFOUND' });
      return [first, ...others];
    },
    checkAddress(text: string): AddressVerdict {
      const address = parseIpAddress(text);
      if (address === undefined) return { kind: 'refused', addressKind: 'something that is not an address' };
      const reached = reachedAddress(address);
      if (allowedNetworks.some((network) => isInside(address, network) || isInside(reached, network))) {
        return { kind: 'allowed' };
      }
      const addressKind = specialKindOf(reached);
      return addressKind === undefined ? { kind: 'public' } : { kind: 'refused', addressKind };
    },
  };
}

/** Lookup function that limits a request to these addresses: a second DNS lookup could return others. */
const lookupAmong =
  (addresses: IpAddresses): LookupFunction =>
  (_hostname, { all }, callback) => {
    const found = addresses.map((address) => ({ address, family: isIP(address) }));
    if (all) callback(null, found);
    else callback(null, addresses[0], isIP(addresses[0]));
  };

/** Resolves names like other programs on the machine, including `/etc/hosts`. */
const systemResolve: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address);

/** IPv6 addresses that lead to the IPv4 address in their last 32 bits: mapped addresses, and NAT64 (RFC 6052). */
const ipv4Carriers = [[ipaddr.IPv6.parse('::ffff:0:0'), 96] as const, cidr('64:ff9b::/96')];

/** The IPv4 address that an IPv6 address leads to, or the address itself. */
const reachedAddress = (address: IpAddress): IpAddress =>
  ipv4Carriers.some((network) => isInside(address, network))
    ? ipaddr.fromByteArray(address.toByteArray().slice(-4))
    : address;

/** The only range of IPv6 with public addresses so far (RFC 4291, section 2.4, and the allocations of IANA). */
const globalUnicast = cidr('2000::/3');

/** Formally public, but on Azure machines the control service of the platform. */
const azurePlatform = cidr('168.63.129.16/32');

/** The kind of a non-public address; undefined for a public one. */
function specialKindOf(reached: IpAddress): string | undefined {
  if (isInside(reached, azurePlatform)) return "an address of a cloud platform's own service";
  const isReserved = reached.kind() === 'ipv6' && !isInside(reached, globalUnicast);
  const range = reached.range() === 'unicast' && isReserved ? 'reserved' : reached.range();
  if (range === 'unicast') return undefined;
  const kind = range.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return `${/^(?!uni)[aeiou]/.test(kind) ? 'an' : 'a'} ${kind} address`;
}

/**
 * Half of the 64 threads that scripts/one-file.js sets: a lookup cannot be cancelled, and takes up to a minute if its
 * name server does not respond. Other lookups, such as those for connections to PostgreSQL, need some threads too.
 */
const maxLookups = 28;

/** A group whose name servers do not respond leaves lookups for others. */
const maxLookupsOfGroup = 4;

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
