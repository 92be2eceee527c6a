import { describe, expect, test } from 'vitest';
import { addressesBelow, follow } from '../../src/client/addresses.ts';
import { lockPath, workspaceId } from './test-client.ts';

describe('the target of a request', () => {
  const { workspaces, branches, lock } = addressesBelow(new URL('https://example.com/api/v1/'));

  test('is below the base address', () => {
    expect(workspaces).toBe('/api/v1/workspaces');
    expect(branches(workspaceId('a game?'))).toBe('/api/v1/workspaces/a%20game%3F/branches');
  });

  test('has a lock path as one segment, or with its slashes as they are', () => {
    const path = lockPath('Content/50% #1.uasset');
    const below = '/api/v1/workspaces/game/locks';
    expect(lock(workspaceId('game'), path, 'encoded')).toBe(`${below}/Content%2F50%25%20%231.uasset`);
    expect(lock(workspaceId('game'), path, 'raw')).toBe(`${below}/Content/50%25%20%231.uasset`);
  });
});

describe('an address that the service gives', () => {
  const baseUrl = new URL('https://example.com/v1');
  const from = '/v1/workspaces/game/locks?limit=10';

  test.each([
    ['?cursor=b', '/v1/workspaces/game/locks?cursor=b'],
    ['/v1/x?y=1#z', '/v1/x?y=1'],
    ['https://example.com/v2', '/v2'],
    ['https://example.com:443/v2', '/v2'],
  ])('%s is followed to %s', (address, target) => {
    expect(follow(address, from, baseUrl)).toEqual({ kind: 'target', target });
  });

  test.each([
    ['http://example.com/v1', 'http://example.com'],
    ['https://example.com:8443/v1', 'https://example.com:8443'],
    ['//evil.example/v1', 'https://evil.example'],
    ['https://example.com@evil.example/v1', 'https://evil.example'],
  ])('%s leads to another server', (address, origin) => {
    expect(follow(address, from, baseUrl)).toEqual({ kind: 'elsewhere', origin });
  });

  test('may be none', () => {
    expect(follow('https://', from, baseUrl)).toEqual({ kind: 'not-an-address' });
  });
});
