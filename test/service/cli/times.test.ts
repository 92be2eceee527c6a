import { describe, expect, test } from 'vitest';
import { shownTime, shownUntil } from '../../../src/service/cli/output/times.ts';

const now = Date.parse('2026-03-01T12:00:00.000Z');
const after = (seconds: number): string => new Date(now + seconds * 1_000).toISOString();

describe('a time', () => {
  test('is shown to the minute, in UTC', () => {
    expect(shownTime('2026-03-01T14:05:59.999Z')).toBe('2026-03-01 14:05 UTC');
  });

  test.each([
    [-5, 'in 0 s'],
    [40, 'in 40 s'],
    [119, 'in 119 s'],
    [120, 'in 2 min'],
    [12 * 60, 'in 12 min'],
    [90 * 60, 'in 1 h 30 min'],
    [3 * 3_600 + 60, 'in 3 h 1 min'],
    [30 * 86_400, 'in 30 d'],
  ])('%d seconds ahead is "%s"', (seconds, shown) => {
    expect(shownUntil(after(seconds), now)).toBe(shown);
  });
});
