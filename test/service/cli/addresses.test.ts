import { describe, expect, test } from 'vitest';
import { baseUrl } from '../../../src/service/cli/serve/addresses.ts';

describe('an address to listen on', () => {
  test.each([
    ['127.0.0.1', 'http://127.0.0.1:8080/v1'],
    ['::1', 'http://[::1]:8080/v1'],
    ['localhost', 'http://localhost:8080/v1'],
  ])('%s is part of the base address', (host, url) => {
    expect(baseUrl(host, 8080)).toBe(url);
    expect(URL.canParse(baseUrl(host, 8080))).toBe(true);
  });
});
