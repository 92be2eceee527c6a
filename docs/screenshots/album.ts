import type { Browser } from 'playwright-core';
import { openPageIn } from '../../test/support/browser/open-page.ts';
import type { Picture } from './pictured-service.ts';
import { pictureTime, screenshot } from './take.ts';

/** Takes each picture on a page of its own and returns the files. If something goes wrong in a page, it fails. */
export async function takePictures(
  browser: Browser,
  pictures: readonly Picture[],
  folder: string,
): Promise<readonly string[]> {
  const files: string[] = [];
  for (const { name, show } of pictures) {
    const { page, problems, settle, close } = await openPageIn(browser);
    try {
      await page.clock.setFixedTime(pictureTime);
      await show(page);
      await settle();
      if (problems.unexpected.length > 0) throw new Error(`No picture of ${name}:\n${problems.unexpected.join('\n')}`);
      files.push(...(await screenshot(page, name, folder)));
    } finally {
      await close();
    }
  }
  return files;
}
