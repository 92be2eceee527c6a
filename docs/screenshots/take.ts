import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

/** What the pages of the pictures take for now, so that a picture does not change with the day it is taken on. */
export const pictureTime = new Date('2026-03-02T19:00:00Z');

/** Writes the page as it is now, in light and in dark colours: `<name>-light.png` and `<name>-dark.png`. */
export async function screenshot(page: Page, name: string, folder: string): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true });
  const files: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const file = join(folder, `${name}-${colorScheme}.png`);
    // Without what moves: animations are at their end, and there is no blinking cursor.
    await writeFile(file, await page.screenshot({ animations: 'disabled', caret: 'hide', scale: 'css' }));
    files.push(file);
  }
  return files;
}
