import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findBrowser } from '../../test/support/browser/find.ts';
import { launchBrowser } from '../../test/support/browser/launch.ts';
import { takePictures } from './album.ts';
import { morePictures } from './more-pictures.ts';
import { pictures } from './pictures.ts';

/**
 * `npm run screenshots`: retakes the pictures of the docs. Nothing else writes to docs/images. With `-- FOLDER`, pictures of all
 * pages for somebody to look at go there instead, as wide as a desktop, a phone and a large screen; with names of pictures
 * after it, only those.
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
