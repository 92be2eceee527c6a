import type { IncomingMessage } from 'node:http';
import { type Cidr, type IpAddress, isInside, parseIpAddress, unmapped } from '../platform/ip-address.ts';

/**
 * The IP address of the client; null if the connection is closed. Entries count only if a trusted proxy added them,
 * because clients can forge all others. An entry that is not an address ends the search at the proxy that added it.
 */
export function createClientAddress(trusted: readonly Cidr[]): (incoming: IncomingMessage) => string | null {
  const isTrusted = (address: IpAddress): boolean => trusted.some((network) => isInside(address, network));
  return (incoming) => {
    const { remoteAddress } = incoming.socket;
    if (remoteAddress === undefined) return null;
    const peer = trusted.length === 0 ? undefined : parseEntry(remoteAddress);
    if (peer === undefined || !isTrusted(peer)) return peerAddress(remoteAddress);
    let client = peer;
    for (const entry of entriesOf(incoming).reverse()) {
      const before = parseEntry(entry.trim());
      if (before === undefined) break;
      client = before;
      if (!isTrusted(before)) break;
    }
    return client.toString();
  };
}

/** The peer's address as people write it: plain IPv4, even if the socket accepts both versions. */
export const peerAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

/** Parses an entry. Some proxies add a port: `192.0.2.7:4711`, `[2001:db8::7]:4711`. */
function parseEntry(entry: string): IpAddress | undefined {
  const [, inBrackets, beforePort] = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/.exec(entry) ?? [];
  const address = parseIpAddress(inBrackets ?? beforePort ?? entry);
  return address === undefined ? undefined : unmapped(address);
}

/** The header is not standardized. Each proxy appends the address of its peer, so the entry of the nearest is last. */
const entriesOf = ({ headers }: IncomingMessage): string[] =>
  [headers['x-forwarded-for'] ?? []].flat().flatMap((line) => line.split(','));
