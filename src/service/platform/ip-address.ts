import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

/** The IP address in the host of a URL; undefined for a name. The URL parser has normalized its spelling. */
export function addressInHost(hostname: string): string | undefined {
  const text = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIPv4(text) || isIPv6(text) ? text : undefined;
}

/** A network: all addresses that start with the same bits. */
export type Cidr = readonly [network: IpAddress, prefix: number];

export const isInside = (address: IpAddress, [network, prefix]: Cidr): boolean =>
  address.kind() === network.kind() && address.match(network, prefix);

/** Parses a network from source code. */
export function cidr(text: string): Cidr {
  const parsed = parseCidr(text);
  if (!parsed.ok) throw new TypeError(parsed.reason);
  return parsed.value;
}

const form = 'A network is written as 10.0.0.0/8 or fd00::/8, and a single address as 10.0.0.1 or fd00::1.';

export function parseCidr(text: string): Parsed<Cidr> {
  const [, written = '', digits] = /^([0-9a-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = parseIpAddress(written);
  if (address === undefined) return refused(form);
  const width = address.kind() === 'ipv4' ? 32 : 128;
  const prefix = digits === undefined ? width : Number(digits);
  if (prefix > width) return refused(`The number after the slash must not be larger than ${width}. ${form}`);
  if (networkOf(address, prefix).toString() !== address.toString()) {
    return refused(`The address has bits set beyond its first ${prefix}: write the first address of the network.`);
  }
  if (prefix >= 96 && unmapped(address) !== address) {
    return refused(`This is an IPv4 network in IPv6 form: write the IPv4 network instead. ${form}`);
  }
  return accepted([address, prefix]);
}

/**
 * Node validates the address: `ipaddr.js` also accepts octal, hexadecimal and short forms, which programs interpret
 * differently. A zone (`fe80::1%eth0`) is ignored: it names an interface and is not part of the address.
 */
export function parseIpAddress(text: string): IpAddress | undefined {
  if (isIPv4(text)) return ipaddr.IPv4.parse(text);
  const [address = ''] = text.split('%');
  if (!isIPv6(address)) return undefined;
  // `ipaddr.js` parses `::192.0.2.7` as the mapped `::ffff:192.0.2.7`. The URL parser converts the IPv4 part to
  // hexadecimal.
  return ipaddr.IPv6.parse(new URL(`http://[${address}]`).hostname.slice(1, -1));
}

/** An IPv6 subscriber has at least a /64 (RFC 6177), and can send requests from any address in it. */
export function subscriberOf(address: string): string {
  const parsed = parseIpAddress(address);
  if (parsed === undefined || parsed.kind() === 'ipv4') return address;
  return `${networkOf(parsed, 64)}/64`;
}

const networkOf = (address: IpAddress, prefix: number): IpAddress =>
  (address instanceof ipaddr.IPv4 ? ipaddr.IPv4 : ipaddr.IPv6).networkAddressFromCIDR(`${address}/${prefix}`);

/** Converts `::ffff:192.0.2.7` to `192.0.2.7`. Dual-stack sockets report IPv4 peers this way (RFC 4291, 2.5.5.2). */
export const unmapped = (address: IpAddress): IpAddress =>
  address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
