import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findBrowser } from '../../test/support/browser/find.ts';
import { launchBrowser } from '../../test/support/browser/launch.ts';
import { takePictures } from './album.ts';
import { morePictures } from './more-pictures.ts';
import { pictures } from './pictures.ts';

/**
 * `npm run screenshots` retakes the pictures in docs/images. `npm run screenshots -- FOLDER [NAME…]` writes pictures of all
 * pages, or of the named ones, to the folder, at the widths of a desktop, a phone and a large screen.
 */

const [elsewhere, ...names] = process.argv.slice(2);
const folder = elsewhere ?? fileURLToPath(new URL('../images', import.meta.url));

const found = findBrowser();
if (found.kind === 'missing') {
  process.stderr.write(`${found.reason}\n`);
  process.exitCode = 1;
} else {
  const { browser, close } = await launchBrowser(found.program);
  try {
    const tell = (files: readonly string[]) => {
      for (const file of files) process.stdout.write(`${relative(process.cwd(), file)}\n`);
    };
    if (elsewhere === undefined) tell(await takePictures(browser, pictures, folder));
    else {
      const asked = [...morePictures, ...pictures].filter(({ name }) => names.length === 0 || names.includes(name));
      for (const width of [1280, 390]) tell(await takePictures(browser, asked, folder, width));
      tell(await takePictures(browser, asked.slice(0, 2), folder, 2560));
    }
  } finally {
    await close();
  }
}
