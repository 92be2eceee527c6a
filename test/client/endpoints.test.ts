import { expect, test } from 'vitest';
import { resolveLink } from '../../src/client/request.ts';

test.each([
  ['?cursor=b', { server: 'https://example.com', target: '/v1/workspaces/game/locks?cursor=b' }],
  ['/v1/x?y=1#z', { server: 'https://example.com', target: '/v1/x?y=1' }],
  ['https://example.com/v2', { server: 'https://example.com', target: '/v2' }],
  ['https://example.com:443/v2', { server: 'https://example.com', target: '/v2' }],
  ['http://example.com/v1', { server: 'http://example.com', target: undefined }],
  ['https://example.com:8443/v1', { server: 'https://example.com:8443', target: undefined }],
  ['//evil.example/v1', { server: 'https://evil.example', target: undefined }],
  ['https://example.com@evil.example/v1', { server: 'https://evil.example', target: undefined }],
  ['https://', undefined],
])('the link %s of the service resolves to %j', (address, followed) => {
  const from = '/v1/workspaces/game/locks?limit=10';
  expect(resolveLink(address, from, new URL('https://example.com/v1'))).toEqual(followed);
});
