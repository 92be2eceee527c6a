import { afterAll, beforeAll } from 'vitest';
import { test } from '../../support/browser/browser-test.ts';
import { expectProblem } from '../../support/browser/open-page.ts';
import { documentOf, type Site, startSite } from '../site.ts';

let site: Site;

beforeAll(async () => {
  site = await startSite({
    '/fine': documentOf('<p>Nothing is wrong.</p>'),
    '/console': documentOf('<script src="/console.js"></script>'),
    '/console.js': "console.error('a complaint');",
    '/script': documentOf('<script src="/script.js"></script>'),
    '/script.js': "setTimeout(() => { throw new Error('a mistake'); }); document.title = 'run';",
    '/inline': documentOf('<p style="color: red">Red</p>'),
    '/markup': documentOf('<script src="/markup.js"></script>'),
    '/markup.js': "document.body.innerHTML = '<b>markup</b>';",
    '/image': documentOf('<img src="http://192.0.2.1/pixel.png" alt="">'),
    '/missing': documentOf('<img src="/missing.png" alt="">'),
  });
});
afterAll(() => site.close());

test.for(['fine', 'console', 'script', 'inline', 'markup', 'image', 'missing'])('%s', async (name, { openPage }) => {
  const page = await openPage();
  await page.goto(`${site.origin}/${name}`);
});

test('window', async ({ openPage }) => {
  const page = await openPage();
  const opened = await page.context().newPage();
  await opened.goto(`${site.origin}/console`);
});

test('expected', async ({ openPage }) => {
  const page = await openPage();
  await page.goto(`${site.origin}/console`);
  await expectProblem(page, /a complaint/);
});

test('assertion', async ({ openPage }) => {
  const page = await openPage();
  await page.goto(`${site.origin}/fine`);
  throw new Error('The test itself failed.');
});
