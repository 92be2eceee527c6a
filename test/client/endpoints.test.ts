import { expect, test } from 'vitest';
import { createEndpoints, resolveLink } from '../../src/client/endpoints.ts';
import { game, lockPath, workspaceId } from './test-client.ts';

test('endpoints are below the base URL, with a lock path as one segment or with its slashes', () => {
  const { workspaces, branches, lock, lockWithSlashes } = createEndpoints(new URL('https://example.com/api/v1/'));
  expect(workspaces).toBe('/api/v1/workspaces');
  expect(branches(workspaceId('a game?'))).toBe('/api/v1/workspaces/a%20game%3F/branches');
  const path = lockPath('Content/50% #1.uasset');
  expect(lock(game, path)).toBe('/api/v1/workspaces/game/locks/Content%2F50%25%20%231.uasset');
  expect(lockWithSlashes(game, path)).toBe('/api/v1/workspaces/game/locks/Content/50%25%20%231.uasset');
});

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
