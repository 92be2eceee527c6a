import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { type IpAddress, parseIpAddress, widthOf } from './ip-address.ts';

declare const brand: unique symbol;

/** A network: every address that begins with the same bits. */
export interface Cidr {
  readonly version: 4 | 6;
  readonly network: bigint;
  readonly prefix: number;
  readonly [brand]: 'Cidr';
}

const form = 'A network is written as 10.0.0.0/8 or fd00::/8, and a single address as 10.0.0.1 or fd00::1.';

const leadingBits = ({ version, bits }: IpAddress, prefix: number): bigint => bits >> BigInt(widthOf[version] - prefix);

export const isInside = (address: IpAddress, { version, network, prefix }: Cidr): boolean =>
  address.version === version && leadingBits(address, prefix) === network;

export function parseCidr(text: string): Parsed<Cidr> {
  const [, written = '', digits] = /^([0-9a-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = parseIpAddress(written);
  if (address === undefined) return refused(form);
  const width = widthOf[address.version];
  const prefix = digits === undefined ? width : Number(digits);
  if (prefix > width) return refused(`The number behind the slash is at most ${width} here. ${form}`);
  const network = leadingBits(address, prefix);
  if (network << BigInt(width - prefix) !== address.bits) {
    return refused(`The address has bits set beyond its first ${prefix}: write the first address of the network.`);
  }
  if (address.version === 6 && prefix >= 96 && address.bits >> 32n === 0xffffn) {
    return refused(`This stands for an IPv4 network: write that network itself. ${form}`);
  }
  // The brand exists for the compiler alone.
  return accepted({ version: address.version, network, prefix } as Cidr);
}
