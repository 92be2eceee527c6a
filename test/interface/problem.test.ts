import { STATUS_CODES } from 'node:http';
import { expect, test } from 'vitest';
import { problems, problemTypePrefix } from '../../src/interface/problem.ts';

const table = Object.entries(problems);

test.each(table)(
  'the problem %s has a type that is an address, and a status of HTTP for errors',
  (name, { status }) => {
    expect(URL.parse(problemTypePrefix + name)?.href).toBe(problemTypePrefix + name);
    expect(STATUS_CODES[status]).toBeDefined();
    expect(status).toBeGreaterThanOrEqual(400);
  },
);

test('the title of a problem is that of no other', () => {
  const titles = table.map(([, { title }]) => title);
  expect(new Set(titles).size).toBe(titles.length);
});
