import { expect, test } from 'vitest';
import { isLoopback } from '../../src/interface/loopback.ts';

test.each([
  '127.0.0.1',
  '127.9.9.9',
  '127.1',
  '::1',
  '[::1]',
  '0:0:0:0:0:0:0:1',
  '::ffff:127.0.0.1',
  'localhost',
  'LocalHost',
  'workspaces.localhost',
])('%s is this machine', (host) => {
  expect(isLoopback(host)).toBe(true);
});

test.each([
  '0.0.0.0',
  '::',
  '192.168.0.1',
  '10.0.0.1',
  '128.0.0.1',
  'fe80::1',
  'fe80::1%eth0',
  '::ffff:128.0.0.1',
  'example.com',
  'localhost.example.com',
  'notlocalhost',
  '127.0.0.1.example.com',
  'localhost@example.com',
  '',
])('%s is not', (host) => {
  expect(isLoopback(host)).toBe(false);
});
