import { expect, test } from 'vitest';
import { accepted, refused } from '../../../src/interface/parsed.ts';
import { parseForm } from '../../../src/service/dashboard/frame/form.ts';
import { allValues, enteredTexts } from '../../../src/service/dashboard/frame/form-values.ts';

test('a form with valid fields returns all their values', () => {
  expect(allValues({ name: accepted('ada'), age: accepted(7) })).toEqual({ ok: true, value: { name: 'ada', age: 7 } });
});

test('a form with invalid fields returns all their errors at once, and no values', () => {
  const read = allValues({ name: refused('Enter a name.'), age: accepted(7), note: refused('It is too long.') });
  expect(read).toEqual({ ok: false, errors: { name: 'Enter a name.', note: 'It is too long.' } });
});

test('the entered texts of a form are those of its fields, and empty for missing ones', () => {
  expect(enteredTexts(parseForm('name=+ada+&more=1'), ['name', 'note'])).toEqual({ name: ' ada ', note: '' });
});
