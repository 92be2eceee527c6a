import { expect, test } from 'vitest';
import { isLoopback } from '../../src/interface/loopback.ts';

test('recognizes the loopback names, and loopback addresses in every notation', () => {
  const addresses = '127.0.0.1 127.9.9.9 127.1 ::1 [::1] 0:0:0:0:0:0:0:1 ::ffff:127.0.0.1';
  const names = 'localhost LocalHost workspaces.localhost';
  for (const host of `${addresses} ${names}`.split(' ')) expect(isLoopback(host), host).toBe(true);
});

test('rejects names and addresses that only resemble loopback ones', () => {
  const addresses = '0.0.0.0 :: 192.168.0.1 10.0.0.1 128.0.0.1 fe80::1 fe80::1%eth0 ::ffff:128.0.0.1';
  const names = 'example.com localhost.example.com notlocalhost 127.0.0.1.example.com localhost@example.com';
  for (const host of ['', ...`${addresses} ${names}`.split(' ')]) expect(isLoopback(host), host).toBe(false);
});
