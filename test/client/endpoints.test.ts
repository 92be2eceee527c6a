import { expect, test } from 'vitest';
import { resolveLink } from '../../src/client/endpoints.ts';

test.each([
  ['?cursor=b', { kind: 'target', target: '/v1/workspaces/game/locks?cursor=b' }],
  ['/v1/x?y=1#z', { kind: 'target', target: '/v1/x?y=1' }],
  ['https://example.com/v2', { kind: 'target', target: '/v2' }],
  ['https://example.com:443/v2', { kind: 'target', target: '/v2' }],
  ['http://example.com/v1', { kind: 'cross-origin', origin: 'http://example.com' }],
  ['https://example.com:8443/v1', { kind: 'cross-origin', origin: 'https://example.com:8443' }],
  ['//evil.example/v1', { kind: 'cross-origin', origin: 'https://evil.example' }],
  ['https://example.com@evil.example/v1', { kind: 'cross-origin', origin: 'https://evil.example' }],
  ['https://', { kind: 'not-a-url' }],
])('the link %s of the service resolves to %j', (address, followed) => {
  const from = '/v1/workspaces/game/locks?limit=10';
  expect(resolveLink(address, from, new URL('https://example.com/v1'))).toEqual(followed);
});
