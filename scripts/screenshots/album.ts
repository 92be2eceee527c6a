import type { Browser } from 'playwright-core';
import { openPageIn } from '../../test/support/browser/open-page.ts';
import type { Picture } from './pictured-service.ts';
import { pictureTime, screenshot } from './take.ts';

/**
 * Takes each picture on a page of its own, and returns the files. Fails on any error in a page. With a width, the pictures
 * show complete pages of that width, and their names contain it.
 */
export async function takePictures(
  browser: Browser,
  pictures: readonly Picture[],
  folder: string,
  width?: number,
): Promise<readonly string[]> {
  const files: string[] = [];
  const size = width === undefined ? {} : { viewport: { width, height: 800 } };
  for (const { name, show } of pictures) {
    const { page, problems, settle, close } = await openPageIn(browser, size);
    try {
      await page.clock.setFixedTime(pictureTime);
      await show(page, async () => {
        await settle();
        if (problems.unexpected.length > 0)
          throw new Error(`No picture of ${name}:\n${problems.unexpected.join('\n')}`);
        const named = width === undefined ? name : `${name}-${width}`;
        files.push(...(await screenshot(page, named, folder, width !== undefined)));
      });
    } finally {
      await close();
    }
  }
  return files;
}
