import { STATUS_CODES } from 'node:http';
import { describe, expect, test } from 'vitest';
import { problems, problemTypePrefix } from '../../src/interface/problem.ts';

const table = Object.entries(problems);

describe('the table of problems', () => {
  test.each(table)('%s has a type that is a URN (RFC 8141)', (name) => {
    const type = problemTypePrefix + name;
    expect(type).toMatch(/^urn:[a-z][a-z0-9-]{0,30}[a-z0-9]:[a-z-]+:[a-z]+(-[a-z]+)*$/);
    expect(new URL(type).href).toBe(type);
  });

  test.each(table)('%s has a status that HTTP knows as an error', (_, { status }) => {
    expect(STATUS_CODES[status]).toBeDefined();
    expect(status).toBeGreaterThanOrEqual(400);
  });

  test.each(table)('%s has a title for a person', (_, { title }) => {
    expect(title).toMatch(/^[A-Z][A-Za-z ]*[A-Za-z]$/);
  });

  test('tells every problem apart by its title, too', () => {
    const titles = table.map(([, { title }]) => title);
    expect(new Set(titles).size).toBe(titles.length);
  });
});
