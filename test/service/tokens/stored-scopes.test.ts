import { expect, test } from 'vitest';
import { permissionsOf } from '../../../src/service/tokens/tokens.ts';

test('a stored scope that this version does not know grants nothing', () => {
  const scopes = JSON.stringify(['locks:read', 'locks:teleport', 'toString']);
  expect(permissionsOf({ scopes, workspaces: '["game"]' })).toEqual({ scopes: ['locks:read'], workspaces: ['game'] });
});
