import { expect, test } from 'vitest';
import { parseCidr, parseIpAddress, subscriberOf } from '../../../src/service/platform/ip-address.ts';
import { words } from '../http/shared-service.ts';
import { whyOf } from '../webhooks/samples.ts';

test.each(words('10.0.0.1 0.0.0.0/0 ::/0 ::1/128 FD00::/8 192.168.4.0/22'))('%s is a network', (text) => {
  expect(parseCidr(text).ok).toBe(true);
});

const none = words('10.0.0.0/ 10.0.0.0/33 10.0.0.0/-1 10.0.0.0/8/8 10.0.0/8 010.0.0.0/8 fd00::/129 fe80::1%eth0 all');
test.each(['', ' 10.0.0.0/8', ...none])('%j is not a network', (text) => {
  expect(parseCidr(text).ok).toBe(false);
});

test.each([
  ['10.0.0.1/8', 'beyond its first 8'],
  ['fd00::1/8', 'beyond its first 8'],
  // It would not contain the addresses that the operator expects.
  ['::ffff:10.0.0.0/104', 'IPv4'],
])('the network %s is rejected as a mistake', (text, reason) => {
  expect(whyOf(parseCidr(text))).toContain(reason);
});

test.each([
  ['::192.0.2.7', '::c000:207'],
  ['::ffff:192.0.2.7', '::ffff:c000:207'],
  ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['192.0.2.7', '192.0.2.7'],
])('%s is written as %s', (text, written) => {
  const address = parseIpAddress(text);
  expect(address?.toString()).toBe(written);
});

test.each(['010.0.0.1', '0x7f.1', '127.1', '2130706433', '10.0.0.1%eth0', ''])('%j is not an IP address', (text) => {
  expect(parseIpAddress(text)).toBeUndefined();
});

test.each([
  ['2001:db8:1:2::7', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['192.0.2.7', '192.0.2.7'],
  ['', ''],
])('"%s" is an address of the subscriber "%s"', (address, subscriber) => {
  expect(subscriberOf(address)).toBe(subscriber);
});
