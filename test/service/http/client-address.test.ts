import type { IncomingMessage } from 'node:http';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readAudit } from '../../../src/service/audit/audit.ts';
import { parseTrustedProxy } from '../../../src/service/cli/settings.ts';
import { createClientAddress } from '../../../src/service/http/client-address.ts';
import { parseIpAddress } from '../../../src/service/platform/ip-address.ts';
import { sqlite } from '../../support/databases.ts';
import { runs } from '../../support/runs.ts';
import { valueIn } from '../../support/value-in.ts';
import { locksOf, type SharedService, sharedService } from './shared-service.ts';

const network = (text: string) => valueIn(parseTrustedProxy(text));

const trusted = ['127.0.0.1', '10.0.0.0/8', 'fd00::/8'].map(network);
const clientAddress = createClientAddress(trusted);

/** A request with only the properties in use. Node joins header lines like this. */
const request = (remoteAddress: string | undefined, ...lines: readonly string[]): IncomingMessage =>
  ({
    socket: { remoteAddress },
    headers: lines.length === 0 ? {} : { 'x-forwarded-for': lines.join(', ') },
  }) as unknown as IncomingMessage;

/** The canonical spelling of an address: see ip-address.test.ts. */
function canonical(text: string): string {
  const address = parseIpAddress(text);
  if (address === undefined) throw new Error(`${text} is not an address.`);
  return address.toString();
}

const stranger = fc
  .oneof(fc.ipV4(), fc.ipV6().map(canonical))
  .filter((text) => !/^(?:10\.|127\.|fd|::ffff:)/.test(text));
const proxy = fc.constantFrom('127.0.0.1', '10.0.0.1', '10.255.1.2', 'fd00::1', 'fd12:3456::7:0:0:1');

const isV6 = (address: string): boolean => address.includes(':');

/** Ways in which proxies write the address that they see. */
const spelling = fc.constantFrom(
  (address: string) => address,
  (address: string) => (isV6(address) ? `[${address}]` : address),
  (address: string) => (isV6(address) ? `[${address}]:4711` : `${address}:4711`),
  (address: string) => (isV6(address) ? address.toUpperCase() : `::ffff:${address}`),
  (address: string) => `  ${address} `,
);

const written = fc.oneof(
  stranger,
  proxy,
  fc.constantFrom('', 'unknown', '_hidden', '127.0.0.1', '::1', '"', 'for=1.2.3.4'),
  fc.string(),
);
/** Lines that a client may send in the header, each with entries. */
const forged = fc.array(
  fc.array(written, { maxLength: 5 }).map((entries) => entries.join(',')),
  { maxLength: 3 },
);

test('behind trusted proxies, the client is the address that the first of them saw, whatever it sends', () => {
  const hops = fc.array(fc.record({ address: proxy, spelling }), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(stranger, forged, hops, fc.boolean(), (client, lies, proxies, ownLine) => {
      let seen = client;
      const told: string[] = [];
      for (const { address, spelling } of proxies) {
        told.push(spelling(seen));
        seen = address;
      }
      const truth = told.join(',');
      const lines = ownLine ? [...lies, truth] : [[...lies, truth].join(',')];
      expect(clientAddress(request(seen, ...lines))).toBe(canonical(client));
    }),
    { numRuns: runs(500, 50_000) },
  );
});

test('a peer that is not a trusted proxy is the client itself, whatever headers it sends', () => {
  const believeNobody = createClientAddress([]);
  fc.assert(
    fc.property(stranger, proxy, forged, (peer, ownProxy, lies) => {
      expect(clientAddress(request(peer, ...lies))).toBe(peer);
      expect(believeNobody(request(ownProxy, ...lies))).toBe(ownProxy);
    }),
    { numRuns: runs(200, 20_000) },
  );
});

test.each([
  { name: 'no header', peer: '127.0.0.1', lines: [], client: '127.0.0.1' },
  { name: 'an empty header', peer: '127.0.0.1', lines: [''], client: '127.0.0.1' },
  { name: 'a word', peer: '127.0.0.1', lines: ['unknown'], client: '127.0.0.1' },
  { name: 'a word after an address', peer: '127.0.0.1', lines: ['203.0.113.9, unknown'], client: '127.0.0.1' },
  { name: 'a word before a proxy', peer: '127.0.0.1', lines: ['203.0.113.9, unknown, 10.0.0.2'], client: '10.0.0.2' },
  { name: 'the form of RFC 7239', peer: '127.0.0.1', lines: ['for=203.0.113.9'], client: '127.0.0.1' },
  { name: 'too large a number', peer: '127.0.0.1', lines: ['203.0.113.256'], client: '127.0.0.1' },
  { name: 'leading zeros', peer: '127.0.0.1', lines: ['203.0.113.09'], client: '127.0.0.1' },
  { name: 'a client that is a proxy itself', peer: '127.0.0.1', lines: ['10.0.0.9'], client: '10.0.0.9' },
  { name: 'a zone', peer: '127.0.0.1', lines: ['fe80::1%<script>'], client: 'fe80::1' },
  { name: 'an IPv4-mapped proxy', peer: '::ffff:127.0.0.1', lines: ['203.0.113.9'], client: '203.0.113.9' },
  { name: 'an IPv4-mapped peer', peer: '::ffff:203.0.113.9', lines: ['10.0.0.1'], client: '203.0.113.9' },
  { name: 'a peer with a zone', peer: 'fe80::1%eth0', lines: ['10.0.0.1'], client: 'fe80::1%eth0' },
  { name: 'a closed connection', peer: undefined, lines: ['203.0.113.9'], client: null },
])('the client address with $name is $client', ({ peer, lines, client }) => {
  expect(clientAddress(request(peer, ...lines))).toBe(client);
});

test.each(['0.0.0.0/0', '::/0'])('the network %s cannot be a trusted proxy', (text) => {
  expect(parseTrustedProxy(text)).toMatchObject({
    ok: false,
    reason: expect.stringContaining('It includes all addresses'),
  });
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
  const { entries } = await readAudit(service.storage, { limit: 1, actor: admin.id });
  const lines = service.log().split('\n');
  const line = lines.find((text) => text.includes(released.headers.get('x-request-id') ?? ''));
  return [entries[0]?.address, JSON.parse(line ?? '').origin_address];
}

test('the audit and the log record the client address of a request', async () => {
  const forwarded = '198.51.100.1, ::ffff:203.0.113.9';
  expect(await told(believing, forwarded)).toEqual(['203.0.113.9', '203.0.113.9']);
  expect(await told(doubting, forwarded)).toEqual(['127.0.0.1', '127.0.0.1']);
});
