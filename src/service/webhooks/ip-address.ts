import { isIPv4, isIPv6 } from 'node:net';

/** An address as a number, so that a network is a comparison of leading bits. */
export interface IpAddress {
  readonly version: 4 | 6;
  readonly bits: bigint;
}

export const widthOf = { 4: 32, 6: 128 } as const;

const joined = (parts: readonly bigint[], width: bigint): bigint =>
  parts.reduce((bits, part) => (bits << width) | part, 0n);

function bitsOfIPv6(text: string): bigint {
  // The URL parser writes every spelling in one: no IPv4 part, at most one "::" (WHATWG URL, "IPv6 serializer").
  const [head = '', tail = ''] = new URL(`http://[${text}]`).hostname.slice(1, -1).split('::');
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const [before, after] = [groups(head), groups(tail)];
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  return joined(
    [...before, ...zeros, ...after].map((group) => BigInt(`0x${group}`)),
    16n,
  );
}

/** A zone (`fe80::1%eth0`) says through which interface an address is reached, not which one it is. */
export function parseIpAddress(text: string): IpAddress | undefined {
  if (isIPv4(text)) return { version: 4, bits: joined(text.split('.').map(BigInt), 8n) };
  const [address = ''] = text.split('%');
  return isIPv6(address) ? { version: 6, bits: bitsOfIPv6(address) } : undefined;
}

/**
 * `::ffff:192.0.2.7` is how a socket that takes both versions names a peer of IPv4 (RFC 4291, section 2.5.5.2). Gives
 * that peer.
 */
export function unmapped(address: IpAddress): IpAddress {
  if (address.version === 4 || address.bits >> 32n !== 0xffffn) return address;
  return { version: 4, bits: BigInt.asUintN(32, address.bits) };
}

function groupsOf({ version, bits }: IpAddress, width: 8 | 16): bigint[] {
  const count = widthOf[version] / width;
  return Array.from({ length: count }, (_, index) =>
    BigInt.asUintN(width, bits >> BigInt((count - 1 - index) * width)),
  );
}

/** Each address in one spelling (RFC 5952). */
export function writeIpAddress(address: IpAddress): string {
  if (address.version === 4) return groupsOf(address, 8).join('.');
  const groups = groupsOf(address, 16).map((group) => group.toString(16));
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

/** The address that the host of a URL is, if it is one and not a name. The URL parser has undone unusual spellings. */
export function addressInHost(hostname: string): string | undefined {
  const text = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIPv4(text) || isIPv6(text) ? text : undefined;
}
