import fc from 'fast-check';
import { expect, test } from 'vitest';
import { grants, isScope, type Scope, scopes } from '../../../src/service/contract/scopes.ts';
import { permissionsOf } from '../../../src/service/tokens/tokens.ts';
import { codeUnits } from '../../interface/texts.ts';

/** All scopes granted to a token with these scopes. */
const reach = (...held: readonly Scope[]): Scope[] => scopes.filter((needed) => grants(held, needed));

test('a scope grants itself and the scopes that it implies, and nothing else', () => {
  expect(Object.fromEntries(scopes.map((one) => [one, reach(one)]))).toEqual({
    sync: ['sync', 'contents:read'],
    'contents:read': ['contents:read'],
    'locks:read': ['locks:read'],
    'locks:write': ['locks:read', 'locks:write'],
    'locks:admin': ['locks:read', 'locks:write', 'locks:admin'],
    'hooks:write': ['hooks:write'],
    admin: [...scopes],
  });
});

test('a scope is recognized only by its exact name', () => {
  const almost = fc.constantFrom('', 'toString', 'locks', '*', ...scopes, ...scopes.map((one) => one.toUpperCase()));
  fc.assert(
    fc.property(fc.oneof(codeUnits, almost), (text) => {
      expect(isScope(text)).toBe(new Set<string>(scopes).has(text));
    }),
  );
});

test('a stored scope that this version does not know grants nothing', () => {
  const scopes = JSON.stringify(['locks:read', 'locks:teleport', 'toString']);
  expect(permissionsOf({ scopes, workspaces: '["game"]' })).toEqual({ scopes: ['locks:read'], workspaces: ['game'] });
});
