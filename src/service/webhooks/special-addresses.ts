import { type Cidr, isInside, parseCidr } from './cidr.ts';
import type { IpAddress } from './ip-address.ts';

function network(text: string): Cidr {
  const cidr = parseCidr(text);
  if (!cidr.ok) throw new TypeError(cidr.why);
  return cidr.value;
}

const kinds = (table: Readonly<Record<string, string>>): readonly (readonly [Cidr, string])[] =>
  Object.entries(table).map(([text, kind]) => [network(text), kind]);

/**
 * What the IANA special-purpose address registries (RFC 6890) do not call globally reachable, and multicast.
 * https://www.iana.org/assignments/iana-ipv4-special-registry
 * https://www.iana.org/assignments/iana-ipv6-special-registry
 */
const special = kinds({
  '0.0.0.0/8': 'an unspecified address',
  '10.0.0.0/8': 'a private address',
  '100.64.0.0/10': "an address of a carrier's shared space",
  '127.0.0.0/8': 'a loopback address',
  // Not in the registry: public by its number, but inside a machine on Azure it is the platform's own control service.
  '168.63.129.16/32': "an address of a cloud platform's own service",
  '169.254.0.0/16': 'a link-local address',
  '172.16.0.0/12': 'a private address',
  '192.0.0.0/24': 'a reserved address',
  '192.0.2.0/24': 'an address for documentation',
  '192.88.99.0/24': 'a reserved address',
  '192.168.0.0/16': 'a private address',
  '198.18.0.0/15': 'an address for benchmarks',
  '198.51.100.0/24': 'an address for documentation',
  '203.0.113.0/24': 'an address for documentation',
  '224.0.0.0/4': 'a multicast address',
  '240.0.0.0/4': 'a reserved address',
  '::/128': 'an unspecified address',
  '::1/128': 'a loopback address',
  '2001::/32': 'an address of a tunnel (Teredo)',
  '2001:2::/48': 'an address for benchmarks',
  '2001::/23': 'a reserved address',
  '2001:db8::/32': 'an address for documentation',
  '2002::/16': 'an address of a tunnel (6to4)',
  '3fff::/20': 'an address for documentation',
  'fc00::/7': 'a private address',
  'fe80::/10': 'a link-local address',
  'fec0::/10': 'a private address',
  'ff00::/8': 'a multicast address',
});

/** The only part of IPv6 from which public addresses are given out (RFC 4291, section 2.4, and IANA's allocations). */
const globalUnicast = network('2000::/3');

/**
 * The first 96 bits of addresses that carry an IPv4 address and reach it: mapped, `::ffff:0:0/96` (RFC 4291, section
 * 2.5.5.2), and NAT64, `64:ff9b::/96` (RFC 6052).
 */
const carriers: readonly bigint[] = [0xffffn, 0x0064_ff9b_0000_0000_0000_0000n];

/** The IPv4 address that is reached in the end, or the address itself. */
export function reachedBy(address: IpAddress): IpAddress {
  if (address.version === 4 || !carriers.includes(address.bits >> 32n)) return address;
  return { version: 4, bits: BigInt.asUintN(32, address.bits) };
}

/** What kind of address it is, unless it is a public one. */
export function specialKindOf(address: IpAddress): string | undefined {
  const reached = reachedBy(address);
  const [, kind] = special.find(([cidr]) => isInside(reached, cidr)) ?? [];
  if (kind !== undefined) return kind;
  return reached.version === 6 && !isInside(reached, globalUnicast) ? 'a reserved address' : undefined;
}
