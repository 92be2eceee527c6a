import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsePoolItems } from '../../../src/service/pools/pool-item.ts';

const many = Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`n${index}`, 'v']));

test.each([
  ['a', { X: 's3cret' }, 'A property name has'],
  ['a', { '': 's3cret' }, 'A property name has'],
  ['a', { x: '' }, 'The property x has no value'],
  ['a', { x: `s3cret${'x'.repeat(200)}` }, 'The value of the property x cannot be used. It must have at most 200'],
  ['a', { x: 's3cret\n' }, 'The value of the property x cannot be used. It must be one line'],
  ['a', many, 'more than 20 properties'],
  ['../a', { x: 's3cret' }, '"../a": A path must not have'],
])('refuses the item %j %j without quoting a value', (path, properties, reason) => {
  const parsed = parsePoolItems(JSON.stringify([{ path, properties }]));
  expect(parsed).toEqual({ ok: false, reason: expect.stringContaining(reason) });
  expect(JSON.stringify(parsed)).not.toContain('s3cret');
});

describe('items in a file', () => {
  test('cannot make a property secret that has no value, as in a listing without secrets', () => {
    const listed = [{ path: 'seats/1', properties: { host: 'b1' }, secret: ['serial'] }];
    expect(parsePoolItems(JSON.stringify(listed))).toEqual({
      ok: false,
      reason: '0: The item "seats/1": The secret property "serial" has no value.',
    });
  });

  test('are the same after they are read again', () => {
    const value = fc.string({ minLength: 1, maxLength: 50, unit: 'grapheme' });
    const item = fc.record({
      path: value,
      properties: fc.dictionary(fc.stringMatching(/^[a-z][a-z0-9_-]{0,9}$/), value, { maxKeys: 4 }),
    });
    fc.assert(
      fc.property(fc.array(item, { maxLength: 3 }), (items) => {
        const given = items.map((each) => ({ ...each, secret: Object.keys(each.properties).slice(0, 1) }));
        const once = parsePoolItems(JSON.stringify(given));
        fc.pre(once.ok);
        expect(parsePoolItems(JSON.stringify(once.value))).toEqual(once);
      }),
    );
  });
});
