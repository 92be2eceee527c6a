import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseLockPath } from '../../src/interface/lock-path.ts';
import { chooseItems } from '../../src/locks/pool.ts';

const itemAt = (properties: Readonly<Record<string, string>>, index: number) => {
  const path = parseLockPath(`seats/${index}`);
  if (!path.ok) throw new Error(path.reason);
  return { path: path.value, properties, secret: [] };
};

test('chooses exactly the items of a pool that have all wanted properties, or says why there are too few', () => {
  const properties = fc.dictionary(fc.constantFrom('host', 'os', 'constructor'), fc.constantFrom('a', 'b'));
  fc.assert(
    fc.property(fc.array(properties), properties, fc.integer({ min: 1, max: 4 }), (all, where, any) => {
      const items = all.map(itemAt);
      const right = items.filter((item) =>
        Object.entries(where).every(([name, value]) =>
          Object.entries(item.properties).some(([its, value2]) => its === name && value2 === value),
        ),
      );
      const chosen = chooseItems(items, any, { kind: 'pool', name: 'unity-pro', where }, (option) => `--${option}`);
      expect(chosen).toEqual(
        right.length >= any ? { ok: true, value: right } : { ok: false, reason: expect.stringContaining('unity-pro') },
      );
    }),
  );
});
