import { describe, expect, test } from 'vitest';
import { baseUrl, isLoopback } from '../../../src/service/cli/serve/addresses.ts';

describe('an address to listen on', () => {
  test.each(['127.0.0.1', '127.9.9.9', '::1', '0:0:0:0:0:0:0:1', 'localhost', 'LocalHost'])(
    '%s is loopback',
    (host) => {
      expect(isLoopback(host)).toBe(true);
    },
  );

  test.each(['0.0.0.0', '::', '192.168.0.1', '10.0.0.1', 'fe80::1', 'example.com', 'localhost.example.com'])(
    '%s is not loopback',
    (host) => {
      expect(isLoopback(host)).toBe(false);
    },
  );

  test.each([
    ['127.0.0.1', 'http://127.0.0.1:8080/v1'],
    ['::1', 'http://[::1]:8080/v1'],
    ['localhost', 'http://localhost:8080/v1'],
  ])('%s is part of the base address', (host, url) => {
    expect(baseUrl(host, 8080)).toBe(url);
    expect(URL.canParse(baseUrl(host, 8080))).toBe(true);
  });
});
