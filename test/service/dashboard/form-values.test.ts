import { expect, test } from 'vitest';
import { accepted, refused } from '../../../src/interface/parsed.ts';
import { allValues, filledIn, parseForm } from '../../../src/service/dashboard/frame/form.ts';

test('a form with valid fields returns all their values', () => {
  expect(allValues({ name: accepted('ada'), age: accepted(7) })).toEqual({ ok: true, value: { name: 'ada', age: 7 } });
});

test('a form with invalid fields returns all their errors at once, and no values', () => {
  const read = allValues({ name: refused('Enter a name.'), age: accepted(7), note: refused('It is too long.') });
  expect(read).toEqual({ ok: false, errors: { name: 'Enter a name.', note: 'It is too long.' } });
});

test('a form that is filled in keeps the other values of another form', () => {
  const form = filledIn({ name: 'ada', scope: ['sync', 'hooks:write'] }, parseForm('name=+bob+&note=+x+&scope=admin'));
  expect([form.text('name'), form.all('scope'), form.text('note'), form.text('more')]).toEqual([
    'ada',
    ['sync', 'hooks:write'],
    ' x ',
    '',
  ]);
});
