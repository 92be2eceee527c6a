import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findBrowser, launchBrowser, noBrowser } from '../../test/support/browser/launch.ts';
import { takePictures } from './album.ts';
import { pictures } from './pictures.ts';

/** `npm run screenshots` retakes the pictures in docs/images, or writes them to the folder that it is given. */

const folder = process.argv[2] ?? fileURLToPath(new URL('../../docs/images', import.meta.url));

const program = findBrowser();
if (program === undefined) {
  process.stderr.write(`${noBrowser}\n`);
  process.exitCode = 1;
} else {
  const { browser, close } = await launchBrowser(program);
  try {
    for (const file of await takePictures(browser, pictures, folder)) {
      process.stdout.write(`${relative(process.cwd(), file)}
`);
    }
  } finally {
    await close();
  }
}
