import type { IncomingMessage } from 'node:http';
import {
  type Cidr,
  type IpAddress,
  isInside,
  parseIpAddress,
  unmapped,
  writeIpAddress,
} from '../platform/ip-address.ts';

/**
 * The address of the client; null when the connection is gone. Only entries from trusted proxies count, because a client
 * can write any others. An entry that is no address ends the search at the proxy that passed it on.
 */
export function createClientAddress(trusted: readonly Cidr[]): (incoming: IncomingMessage) => string | null {
  const isTrusted = (address: IpAddress): boolean => trusted.some((network) => isInside(address, network));
  return (incoming) => {
    const { remoteAddress } = incoming.socket;
    if (remoteAddress === undefined) return null;
    const peer = trusted.length === 0 ? undefined : parseEntry(remoteAddress);
    if (peer === undefined || !isTrusted(peer)) return shownPeer(remoteAddress);
    let client = peer;
    for (const entry of entriesOf(incoming).reverse()) {
      const before = parseEntry(entry.trim());
      if (before === undefined) break;
      client = before;
      if (!isTrusted(before)) break;
    }
    return writeIpAddress(client);
  };
}

/** The peer's address as shown: IPv4 as such, even where the socket accepts both versions. */
export const shownPeer = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

/** Some proxies add the port: `192.0.2.7:4711`, `[2001:db8::7]:4711`. */
function parseEntry(entry: string): IpAddress | undefined {
  const [, inBrackets, beforePort] = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d{1,5})?$/.exec(entry) ?? [];
  const address = parseIpAddress(inBrackets ?? beforePort ?? entry);
  return address === undefined ? undefined : unmapped(address);
}

/** The header has no standard. Its entries are what each proxy on the way has seen, the nearest last. */
const entriesOf = ({ headers }: IncomingMessage): string[] =>
  [headers['x-forwarded-for'] ?? []].flat().flatMap((line) => line.split(','));
