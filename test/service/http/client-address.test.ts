import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { readAudit } from '../../../src/service/audit/audit.ts';
import { parseTrustedProxy } from '../../../src/service/cli/settings.ts';
import { createClientAddress } from '../../../src/service/http/client-address.ts';
import { sqlite } from '../../support/databases.ts';
import { valueIn } from '../../support/value-in.ts';
import { locksOf, type SharedService, sharedService } from './shared-service.ts';

const trusted = ['127.0.0.1', '10.0.0.0/8', 'fd00::/8'].map((text) => valueIn(parseTrustedProxy(text)));
const clientAddress = createClientAddress(trusted);

/** A request with only the properties in use. Node joins header lines like this. */
const request = (remoteAddress: string | undefined, ...lines: readonly string[]): IncomingMessage =>
  ({
    socket: { remoteAddress },
    headers: lines.length === 0 ? {} : { 'x-forwarded-for': lines.join(', ') },
  }) as unknown as IncomingMessage;

test.each([
  { name: 'one proxy', peer: '10.0.0.1', lines: ['203.0.113.9'], client: '203.0.113.9' },
  { name: 'more proxies', peer: 'fd00::1', lines: ['203.0.113.9, 10.255.1.2,127.0.0.1'], client: '203.0.113.9' },
  { name: 'a lie in a line of its own', peer: '127.0.0.1', lines: ['1.2.3.4', '203.0.113.9'], client: '203.0.113.9' },
  { name: 'a peer that is not a proxy', peer: '203.0.113.7', lines: ['1.2.3.4', '127.0.0.1'], client: '203.0.113.7' },
  { name: 'a port', peer: '127.0.0.1', lines: ['203.0.113.9:4711'], client: '203.0.113.9' },
  { name: 'brackets', peer: '127.0.0.1', lines: ['[2001:DB8::7]'], client: '2001:db8::7' },
  { name: 'brackets and a port', peer: '127.0.0.1', lines: ['[2001:db8:0:0::7]:4711'], client: '2001:db8::7' },
  { name: 'an IPv4-mapped client', peer: '127.0.0.1', lines: ['::ffff:203.0.113.9'], client: '203.0.113.9' },
  { name: 'no header', peer: '127.0.0.1', lines: [], client: '127.0.0.1' },
  { name: 'a word after an address', peer: '127.0.0.1', lines: ['203.0.113.9, unknown'], client: '127.0.0.1' },
  { name: 'a word before a proxy', peer: '127.0.0.1', lines: ['203.0.113.9, unknown, 10.0.0.2'], client: '10.0.0.2' },
  { name: 'the form of RFC 7239', peer: '127.0.0.1', lines: ['for=203.0.113.9'], client: '127.0.0.1' },
  { name: 'a client that is a proxy itself', peer: '127.0.0.1', lines: ['10.0.0.9'], client: '10.0.0.9' },
  { name: 'a zone', peer: '127.0.0.1', lines: ['fe80::1%<script>'], client: 'fe80::1' },
  { name: 'an IPv4-mapped proxy', peer: '::ffff:127.0.0.1', lines: ['203.0.113.9'], client: '203.0.113.9' },
  { name: 'a peer with a zone', peer: 'fe80::1%eth0', lines: ['10.0.0.1'], client: 'fe80::1%eth0' },
  { name: 'a closed connection', peer: undefined, lines: ['203.0.113.9'], client: null },
])('the client address with $name is $client', ({ peer, lines, client }) => {
  expect(clientAddress(request(peer, ...lines))).toBe(client);
});

const believing = sharedService(sqlite, { trustedProxies: ['127.0.0.1'] });
const doubting = sharedService();

/** The client address of a request, as recorded in the audit and in the log. */
async function told(service: SharedService, forwardedFor: string): Promise<unknown[]> {
  const admin = await service.token({ name: 'root' });
  await locksOf(service, service.home, service.secret).take('a');
  const headers = { 'x-forwarded-for': forwardedFor };
  const released = await locksOf(service, service.home, admin.secret).release('a', headers, '?force=true');
  expect(released.status).toBe(204);
  const { entries } = await readAudit(service.storage, { limit: 1 });
  const lines = service.log().split('\n');
  const line = lines.find((text) => text.includes(released.headers.get('x-request-id') ?? ''));
  return [entries[0]?.token_id === admin.id && entries[0].address, JSON.parse(line ?? '').origin_address];
}

test('the audit and the log record the client address of a request', async () => {
  const forwarded = '198.51.100.1, ::ffff:203.0.113.9';
  expect(await told(believing, forwarded)).toEqual(['203.0.113.9', '203.0.113.9']);
  expect(await told(doubting, forwarded)).toEqual(['127.0.0.1', '127.0.0.1']);
});
