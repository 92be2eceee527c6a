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

/** Checks whether a hook may be registered for this URL. A name that does not resolve now is checked at delivery. */
export async function checkTarget(
  text: string,
  check: TargetCheck,
  group: string,
  { resolveWithinMs = 3_000 } = {},
): Promise<Parsed<URL>> {
  const target = parseTarget(text);
  if (!target.ok) return target;
  const signal = AbortSignal.timeout(resolveWithinMs);
  const checked = await check(target.value, group, signal).catch(() => undefined);
  if (checked !== undefined) return checked.ok ? target : checked;
  if (target.value.protocol === 'https:') return target;
  return refused(
    `The name of ${target.value.origin} could not be resolved, so it may be outside the allowed networks. Use https, or try again later.`,
  );
}

export const maxUrlLength = 2_048;
const controlCharacter = /\p{Cc}/u;

/**
 * Parses the target of a request that the service sends, without resolving its name. The path and query may contain
 * secrets, so messages and logs show only the origin.
 */
export function parseTarget(text: string): Parsed<URL> {
  if (text.length > maxUrlLength) return refused(`The URL has more than ${maxUrlLength} characters.`);
  if (controlCharacter.test(text) || !text.isWellFormed() || text !== text.trim()) {
    return refused('The URL has a control character, or starts or ends with a space.');
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

/** Returns all addresses of a name. Rejects or returns none if the name does not resolve. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

type IpAddresses = readonly [string, ...string[]];

/**
 * Returns the IP addresses of the target. All of them must be allowed, because any may be used. Rejects if the name
 * does not resolve. Slow lookups delay only those of the same group, such as the webhooks of one workspace.
 */
export type TargetCheck = (target: URL, group: string, signal: AbortSignal) => Promise<Parsed<IpAddresses>>;

/** `allowedNetworks` are networks that the operator allows in addition to public addresses. */
export function createTargetCheck(allowedNetworks: readonly Cidr[], resolve: Resolve = systemResolve): TargetCheck {
  const limit = limitParallel({ max: maxLookups, maxPerKey: maxLookupsOfGroup });

  async function addressesOf(hostname: string, group: string, signal: AbortSignal): Promise<IpAddresses> {
    const literal = addressInHost(hostname);
    if (literal !== undefined) return [literal];
    const found = limit(group, async () => {
      signal.throwIfAborted();
      return resolve(hostname);
    });
    const [first, ...others] = await unlessAborted(found, signal);
    if (first === undefined) throw Object.assign(new Error('The name has no address.'), { code: 'ENOTFOUND' });
    return [first, ...others];
  }

  const isAllowed = (address: IpAddress): boolean =>
    allowedNetworks.some((network) => isInside(address, network) || isInside(reachedAddress(address), network));

  return async ({ hostname, origin, protocol }, group, signal) => {
    const addresses = await addressesOf(hostname, group, signal);
    const others = addresses.map(parseIpAddress).filter((address) => address === undefined || !isAllowed(address));
    if (!others.every((address) => address !== undefined && isPublic(reachedAddress(address)))) {
      return refused(
        `${origin} leads to an address that is not public. Requests go only to public addresses, and to networks that the operator of the service allows (--allow-hook-network).`,
      );
    }
    if (protocol === 'https:' || others.length === 0) return accepted(addresses);
    return refused(
      `${origin} is not encrypted, and not in a network that the operator of the service allows (--allow-hook-network): use https.`,
    );
  };
}

/** Limits a request to these addresses, because a second DNS lookup could return others. */
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

/** IPv6 addresses that contain an IPv4 address in their last 32 bits: mapped addresses, and NAT64 (RFC 6052). */
const ipv4Carriers = [[ipaddr.IPv6.parse('::ffff:0:0'), 96] as const, cidr('64:ff9b::/96')];

/** The IPv4 address that an IPv6 address leads to, or otherwise the address itself. */
const reachedAddress = (address: IpAddress): IpAddress =>
  ipv4Carriers.some((network) => isInside(address, network))
    ? ipaddr.fromByteArray(address.toByteArray().slice(-4))
    : address;

/** The only range of IPv6 with public addresses so far (RFC 4291, section 2.4, and the allocations of IANA). */
const globalUnicast = cidr('2000::/3');

/** Formally public, but on Azure machines it is the control service of the platform. */
const azurePlatform = cidr('168.63.129.16/32');

const isPublic = (reached: IpAddress): boolean =>
  reached.range() === 'unicast' &&
  (reached.kind() === 'ipv4' || isInside(reached, globalUnicast)) &&
  !isInside(reached, azurePlatform);

/**
 * Half of the 64 threads that scripts/one-file.js sets. A lookup cannot be cancelled, and takes up to a minute if its
 * name server does not respond. Other lookups, such as those for PostgreSQL, need some threads, too.
 */
const maxLookups = 28;

/** Leaves lookups for others if the name servers of one group do not respond. */
const maxLookupsOfGroup = 4;

interface OutboundRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly check: TargetCheck;
  /** Slow lookups delay only those of the same group. */
  readonly group: string;
  /** Limit for headers and body, including any number of interim responses (RFC 9110, section 15.2). */
  readonly maxResponseBytes: number;
  readonly signal: AbortSignal;
}

class ResponseTooLong extends Error {}

/** The reason why a request failed, to complete a sentence. */
export function sendErrorText(error: unknown): string {
  if (error instanceof ResponseTooLong) return error.message;
  // Derived from the code, because the message may quote the request.
  const code = errorCode(error);
  return systemErrorText(code) ?? (code === '' ? 'the connection was closed' : `the connection failed (${code})`);
}

/**
 * Sends a request of the service to another server, only to addresses that are allowed: the name is not resolved again.
 * Does not follow redirects.
 */
export async function send(outbound: OutboundRequest): Promise<Parsed<IncomingMessage>> {
  const { method, headers, body, maxResponseBytes, signal } = outbound;
  const parsed = parseTarget(outbound.url);
  if (!parsed.ok) return parsed;
  const target = parsed.value;
  const addresses = await outbound.check(target, outbound.group, signal);
  if (!addresses.ok) return addresses;
  const request = (target.protocol === 'https:' ? https : http).request(target, {
    method,
    headers: { 'user-agent': 'workspace-automation', ...headers },
    // Node's default, set explicitly so that options of the process cannot change it.
    maxHeaderSize: 16 * 1_024,
    lookup: lookupAmong(addresses.value),
    // No connection is shared with other requests, and no proxy from the environment is used.
    agent: false,
    signal,
  });

  return new Promise((resolve, reject) => {
    let response: IncomingMessage | undefined;
    request.once('socket', (socket) => {
      let received = 0;
      // Counts the bytes before the parser gets them.
      socket.prependListener('data', (piece: Buffer) => {
        received += piece.length;
        if (received <= maxResponseBytes || request.destroyed) return;
        const limit = `${maxResponseBytes / 1_024} KB`;
        const error = new ResponseTooLong(`it sent more than ${limit}, and the connection was cut`);
        // Rejects first, because the data received so far may already contain the final response.
        reject(error);
        response?.destroy(error);
        request.destroy(error);
      });
    });
    request.once('response', (begun) => {
      response = begun;
      resolve(accepted(begun));
    });
    request.on('error', reject);
    request.once('close', () => reject(new Error('There was no response.')));
    request.end(body);
  });
}
