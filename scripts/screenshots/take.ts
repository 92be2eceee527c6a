import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

/** The current time of all pages, so that a picture does not depend on the day it is taken. */
export const pictureTime = new Date('2026-03-02T19:00:00Z');

/** Writes the page in light and dark colours: `<name>-light.png` and `<name>-dark.png`. */
export async function screenshot(
  page: Page,
  name: string,
  folder: string,
  fullPage = false,
): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true });
  const files: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const file = join(folder, `${name}-${colorScheme}.png`);
    // Animations are at their end, and no cursor blinks.
    await writeFile(file, await page.screenshot({ animations: 'disabled', caret: 'hide', scale: 'css', fullPage }));
    files.push(file);
  }
  return files;
}
