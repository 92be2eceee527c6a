import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseCidr } from '../../../src/service/platform/ip-address.ts';
import { valueIn } from '../../support/value-in.ts';
import { always, checking } from './delivering.ts';

const { signal: never } = new AbortController();

/** The verdict on a name with this address. Plain http leads only into allowed networks. */
async function verdictOn(address: string, ...allowed: string[]): Promise<'allowed' | 'public' | 'refused'> {
  const networks = allowed.map((text) => valueIn(parseCidr(text)));
  const check = checking(always(address), networks);
  if ((await check(new URL('http://hooks.example.com/'), 'game', never)).ok) return 'allowed';
  const checked = await check(new URL('https://hooks.example.com/'), 'game', never);
  if (checked.ok) return 'public';
  expect(checked.reason).toContain('leads to an address that is not public');
  return 'refused';
}

/** The first and the last addresses of each range, and other notations for addresses in it. */
test.each([
  ['an unspecified address', '0.0.0.0 0.255.255.255 ::'],
  ['a loopback address', '127.0.0.1 127.255.255.255 ::1 ::ffff:127.0.0.1 ::ffff:7f00:1 64:ff9b::127.0.0.1'],
  ['a private address', '10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.1.1'],
  ['a private address', '0:0:0:0:0:ffff:10.0.0.1 64:ff9b::10.0.0.1'],
  ['a unique-local address', 'fc00::1 fd00:ec2::254'],
  ['a deprecated-site-local address', 'fec0::1'],
  ['a link-local address', '169.254.169.254 64:ff9b::a9fe:a9fe fe80::1 fe80::1%eth0 febf::1'],
  ['a carrier-grade-nat address', '100.64.0.1 100.100.100.200 100.127.255.255'],
  ["an address of a cloud platform's own service", '168.63.129.16 ::ffff:168.63.129.16'],
  ['a reserved address', '192.0.2.1 198.51.100.1 203.0.113.1 2001:db8::1 3fff::1'],
  ['a reserved address', '198.18.0.1 198.19.255.255'],
  ['a benchmarking address', '2001:2::1'],
  ['a multicast address', '224.0.0.1 239.255.255.255 ff02::1'],
  ['a teredo address', '2001::1 2001:0:5ef5:79fb::1'],
  ['a 6to4 address', '2002:7f00:1:: 2002:808:808::1'],
  ['a reserved address', '192.0.0.192 192.88.99.1 240.0.0.1 ::7f00:1 ::127.0.0.1 ::1.1.1.1'],
  ['a broadcast address', '255.255.255.255'],
  ['a reserved address', '2001:1::1 2001:1ff:ffff::1 4000::1'],
  ['an rfc6145 address', '::ffff:0:127.0.0.1'],
  ['an rfc6052 address', '64:ff9b:1::1'],
  ['a discard address', '100::1'],
  ['a segment-routing address', '5f00::1'],
  ['something that is not an address', 'localhost 1.2.3 010.0.0.1'],
])('%s is refused: %s', async (_, addresses) => {
  for (const address of addresses.split(' ')) {
    expect([address, await verdictOn(address)]).toEqual([address, 'refused']);
  }
});

/** The neighbors of refused ranges, and ordinary addresses. */
test.each([
  '1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 172.15.255.255 172.32.0.0',
  '192.167.255.255 198.17.255.255 223.255.255.255 ::ffff:1.1.1.1 64:ff9b::101:101',
  '2001:200::1 2606:4700:4700::1111 2a00:1450:4001:82a::200e 2003::1',
])('globally reachable addresses are public: %s', async (addresses) => {
  for (const address of addresses.split(' ')) expect([address, await verdictOn(address)]).toEqual([address, 'public']);
});

test.each([
  ['10.1.2.3', '10.1.0.0/16', 'allowed'],
  ['10.2.0.0', '10.1.0.0/16', 'refused'],
  ['fd00::5', 'fd00::/16', 'allowed'],
  ['fd01::5', 'fd00::/16', 'refused'],
  ['127.0.0.1', '::1', 'refused'],
  ['1.1.1.1', '1.1.1.1', 'allowed'],
  ['1.1.1.2', '1.1.1.1', 'public'],
])('%s is classified relative to the allowed network %s as %s', async (address, network, kind) => {
  expect(await verdictOn(address, network)).toBe(kind);
});

test('an IPv4 address gets the same verdict plain, mapped, and behind NAT64', async () => {
  await fc.assert(
    fc.asyncProperty(fc.ipV4(), async (address) => {
      const plain = await verdictOn(address);
      for (const prefix of ['::ffff:', '64:ff9b::']) {
        expect(await verdictOn(prefix + address)).toBe(plain);
        expect(await verdictOn(prefix + address, address)).toBe('allowed');
      }
    }),
  );
});
