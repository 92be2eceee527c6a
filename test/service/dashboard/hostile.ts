import { expect } from 'vitest';

/** Texts that someone may use as the name of a file, token or branch, or as a reason. */
export const hostileTexts = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  'exe\u202Efdp.reward',
  'a\u200Bb',
  'x'.repeat(1_000),
] as const;

/** Expects no injected markup and no characters that reorder or hide text, except in the values of fields. */
export function expectHarmless(page: string): void {
  expect(page).not.toContain('<script>alert');
  expect(page).not.toContain('<img src=x');
  expect(page.replaceAll(/ value="[^"]*"/g, '')).not.toMatch(/[\u202E\u200B]/);
}
