import { expect, test } from 'vitest';
import { parseCidr } from '../../../src/service/webhooks/cidr.ts';
import { whyOf } from './samples.ts';

test.each(['10.0.0.0/8', '10.0.0.1', '0.0.0.0/0', '::/0', '::1', '::1/128', 'fd00::/8', 'FD00::/8', '192.168.4.0/22'])(
  '%s is a network',
  (text) => {
    expect(parseCidr(text).ok).toBe(true);
  },
);

test.each([
  '',
  '10.0.0.0/',
  '10.0.0.0/33',
  '10.0.0.0/-1',
  '10.0.0.0/8/8',
  '10.0.0/8',
  '010.0.0.0/8',
  ' 10.0.0.0/8',
  'fd00::/129',
  'fd00:::/8',
  'fe80::1%eth0',
  'localhost',
  'all',
])('%j is none', (text) => {
  expect(parseCidr(text).ok).toBe(false);
});

test('a network whose address has more bits than its prefix is a slip, and said to be one', () => {
  expect(whyOf(parseCidr('10.0.0.1/8'))).toContain('beyond its first 8');
  expect(whyOf(parseCidr('fd00::1/8'))).toContain('beyond its first 8');
});

test('a mapped network would not hold the addresses it seems to hold', () => {
  expect(whyOf(parseCidr('::ffff:10.0.0.0/104'))).toContain('IPv4');
});
