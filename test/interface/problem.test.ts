import { expect, test } from 'vitest';
import { problems } from '../../src/interface/problem.ts';

const all = Object.values(problems);

test('every problem is answered with a status of an error, and told apart by its title', () => {
  for (const { status } of all) expect(status).toSatisfy((code: number) => code >= 400 && code < 600);
  expect(new Set(all.map(({ title }) => title)).size).toBe(all.length);
});
