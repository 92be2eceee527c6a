import { BlockList } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addressInHost, type Cidr, parseCidr } from '../../../src/service/platform/ip-address.ts';
import { createTargetCheck } from '../../../src/service/webhooks/target-address.ts';
import { valueIn } from './samples.ts';

const allowing = (...networks: string[]) =>
  createTargetCheck({ allowedNetworks: networks.map((text): Cidr => valueIn(parseCidr(text))) });

const judge = (address: string, ...allowed: string[]): string => allowing(...allowed).judge(address).kind;

const kinds = {
  'an unspecified address': ['0.0.0.0', '0.255.255.255', '::'],
  'a loopback address': [
    '127.0.0.1',
    '127.255.255.255',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '64:ff9b::127.0.0.1',
  ],
  'a private address': [
    '10.0.0.1',
    '10.255.255.255',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '0:0:0:0:0:ffff:10.0.0.1',
    '64:ff9b::10.0.0.1',
    'fc00::1',
    'fd00:ec2::254',
    'fec0::1',
  ],
  'a link-local address': ['169.254.169.254', '64:ff9b::a9fe:a9fe', 'fe80::1', 'fe80::1%eth0', 'febf::1'],
  "an address of a carrier's shared space": ['100.64.0.1', '100.100.100.200', '100.127.255.255'],
  "an address of a cloud platform's own service": ['168.63.129.16', '::ffff:168.63.129.16'],
  'an address for documentation': ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  'an address for benchmarks': ['198.18.0.1', '198.19.255.255', '2001:2::1'],
  'a multicast address': ['224.0.0.1', '239.255.255.255', 'ff02::1'],
  'an address of a tunnel (Teredo)': ['2001::1', '2001:0:5ef5:79fb::1'],
  'an address of a tunnel (6to4)': ['2002:7f00:1::', '2002:808:808::1'],
  'a reserved address': [
    '192.0.0.192',
    '192.88.99.1',
    '240.0.0.1',
    '255.255.255.255',
    '::7f00:1',
    '::127.0.0.1',
    '::1.1.1.1',
    '::ffff:0:127.0.0.1',
    '64:ff9b:1::1',
    '100::1',
    '2001:1::1',
    '2001:1ff:ffff::1',
    '4000::1',
    '5f00::1',
  ],
  'something that is not an address': ['localhost', '', '1.2.3', '010.0.0.1'],
};

test.each(Object.entries(kinds))('%s is refused as that', (what, addresses) => {
  for (const address of addresses)
    expect([address, allowing().judge(address)]).toEqual([address, { kind: 'refused', what }]);
});

test.each([
  '1.1.1.1',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '198.17.255.255',
  '223.255.255.255',
  '::ffff:1.1.1.1',
  '64:ff9b::101:101',
  '2001:200::1',
  '2606:4700:4700::1111',
  '2a00:1450:4001:82a::200e',
  '2003::1',
])('%s is public', (address) => {
  expect(judge(address)).toBe('public');
});

test('what is allowed is allowed in every spelling, and nothing beside it', () => {
  expect(judge('10.1.2.3', '10.1.0.0/16')).toBe('allowed');
  expect(judge('::ffff:10.1.2.3', '10.1.0.0/16')).toBe('allowed');
  expect(judge('64:ff9b::10.1.2.3', '10.1.0.0/16')).toBe('allowed');
  expect(judge('10.2.0.0', '10.1.0.0/16')).toBe('refused');
  expect(judge('fd00::5', 'fd00::/16')).toBe('allowed');
  expect(judge('fd01::5', 'fd00::/16')).toBe('refused');
  expect(judge('127.0.0.1', '::1')).toBe('refused');
  expect(judge('1.1.1.1', '1.1.1.1')).toBe('allowed');
  expect(judge('1.1.1.2', '1.1.1.1')).toBe('public');
});

const anyIPv4 = fc.ipV4();

const textOf = {
  ipv4: (bits: bigint) => [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 0xffn).join('.'),
  ipv6: (bits: bigint) =>
    [112n, 96n, 80n, 64n, 48n, 32n, 16n, 0n].map((shift) => ((bits >> shift) & 0xffffn).toString(16)).join(':'),
};

test.each([
  ['ipv4', 32],
  ['ipv6', 128],
] as const)('which addresses are inside a network agrees with the block list of Node (%s)', (family, width) => {
  const anyBits = fc.bigInt({ min: 0n, max: (1n << BigInt(width)) - 1n });
  fc.assert(
    fc.property(
      anyBits,
      anyBits,
      fc.integer({ min: 0, max: width }),
      fc.nat({ max: width }),
      (one, other, prefix, flip) => {
        const network = textOf[family]((one >> BigInt(width - prefix)) << BigInt(width - prefix));
        const list = new BlockList();
        list.addSubnet(network, prefix, family);
        // Near addresses differ in one bit, so that many of them are just inside and just outside.
        const near = BigInt.asUintN(width, one ^ (1n << BigInt(flip)));
        for (const bits of [one, near, other]) {
          const candidate = textOf[family](bits);
          expect(judge(candidate, `${network}/${prefix}`) === 'allowed').toBe(list.check(candidate, family));
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('an IPv4 address is judged the same on its own, mapped, and behind NAT64', () => {
  fc.assert(
    fc.property(anyIPv4, (address) => {
      const kind = judge(address);
      expect(judge(`::ffff:${address}`)).toBe(kind);
      expect(judge(`64:ff9b::${address}`)).toBe(kind);
    }),
  );
});

test('the host of a URL is seen as an address in every spelling that a URL may have', () => {
  const spellings = [
    'http://2130706433',
    'http://0x7f.1',
    'http://0177.0.0.1',
    'http://127.1',
    'http://127.0.0.1.',
    'http://①②⑦.0.0.1',
    'http://%31%32%37.0.0.1',
  ];
  for (const url of spellings) expect(addressInHost(new URL(url).hostname)).toBe('127.0.0.1');
  expect(addressInHost(new URL('http://[::FFFF:127.0.0.1]').hostname)).toBe('::ffff:7f00:1');
  expect(addressInHost(new URL('http://localhost').hostname)).toBeUndefined();
  expect(addressInHost(new URL('http://127.0.0.1.example.com').hostname)).toBeUndefined();
});

test('a host that is an address is not looked up, and one without addresses is an error', async () => {
  const asked: string[] = [];
  const check = createTargetCheck({
    allowedNetworks: [],
    resolve: (name) => {
      asked.push(name);
      return Promise.resolve([]);
    },
  });
  const { signal } = new AbortController();
  expect(await check.addressesOf('[::1]', signal)).toEqual(['::1']);
  expect(await check.addressesOf('10.0.0.1', signal)).toEqual(['10.0.0.1']);
  expect(asked).toEqual([]);
  await expect(check.addressesOf('hooks.example.com', signal)).rejects.toThrow('no address');
  expect(asked).toEqual(['hooks.example.com']);
});

test('a look-up that nobody waits for any more is not begun, and one under way is left', async () => {
  let begun = 0;
  const check = createTargetCheck({
    allowedNetworks: [],
    resolve: () => {
      begun += 1;
      return new Promise(() => {});
    },
  });
  const calling = new AbortController();
  const underWay = check.addressesOf('hooks.example.com', calling.signal);
  calling.abort(new Error('called off'));
  await expect(underWay).rejects.toThrow('called off');
  await expect(check.addressesOf('hooks.example.com', calling.signal)).rejects.toThrow('called off');
  expect(begun).toBe(1);
});
