import { expect } from 'vitest';

/** What somebody may call a file, a token or a branch, or give as a reason. */
export const hostileTexts = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  'exe\u202Efdp.reward',
  'a\u200Bb',
  'x'.repeat(1_000),
] as const;

/** None of it is markup, reorders or hides anything. A field keeps what was typed into it as it is, and to itself. */
export function expectHarmless(page: string): void {
  expect(page).not.toContain('<script>alert');
  expect(page).not.toContain('<img src=x');
  expect(page.replaceAll(/ value="[^"]*"/g, '')).not.toMatch(/[\u202E\u200B]/);
}
