import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { grants, isScope, type Scope, scopeMeanings, scopes } from '../../src/interface/scopes.ts';
import { codeUnits } from './texts.ts';

const scope = fc.constantFrom(...scopes);
const held = fc.uniqueArray(scope);

/** All that a token with this one scope may do. */
const reach = (of: Scope): Scope[] => scopes.filter((needed) => grants([of], needed));

describe('a scope', () => {
  test('grants itself and what it implies, and nothing else', () => {
    expect(Object.fromEntries(scopes.map((one) => [one, reach(one)]))).toEqual({
      sync: ['sync'],
      'locks:read': ['locks:read'],
      'locks:write': ['locks:read', 'locks:write'],
      'locks:admin': ['locks:read', 'locks:write', 'locks:admin'],
      'hooks:write': ['hooks:write'],
      admin: [...scopes],
    });
  });

  test('grants whatever is granted by what it grants', () => {
    fc.assert(
      fc.property(scope, (one) => {
        for (const granted of reach(one)) expect(reach(one)).toEqual(expect.arrayContaining(reach(granted)));
      }),
    );
  });

  test('only ever adds to what the others grant', () => {
    fc.assert(
      fc.property(held, scope, scope, (some, another, needed) => {
        expect(grants([...some, another], needed)).toBe(grants(some, needed) || grants([another], needed));
      }),
    );
  });

  test('is needed for anything at all', () => {
    for (const needed of scopes) expect(grants([], needed)).toBe(false);
  });

  test('is known by its exact name', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          codeUnits,
          scope,
          scope.map((one) => one.toUpperCase()),
          fc.constantFrom('', 'toString', 'locks', '*'),
        ),
        (text) => {
          expect(isScope(text)).toBe(new Set<string>(scopes).has(text));
        },
      ),
    );
  });

  test('has a meaning to show to a person', () => {
    for (const one of scopes) expect(scopeMeanings[one]).toMatch(/^[a-z].*[a-z]$/);
  });
});
