import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { takePictures } from '../../docs/screenshots/album.ts';
import type { Picture } from '../../docs/screenshots/pictured-service.ts';
import { documentOf, type Site, startSite } from '../browser/site.ts';
import { test } from '../support/browser/browser-test.ts';
import { temporaryFolder } from '../support/git-folders.ts';

let site: Site;

beforeAll(async () => {
  site = await startSite({
    '/': documentOf('<p id="now"></p><input aria-label="Search" autofocus><script src="/now.js"></script>'),
    '/now.js': "document.querySelector('#now').textContent = new Date().toISOString();",
    '/broken': documentOf('<script src="/broken.js"></script>'),
    '/broken.js': "console.error('a complaint');",
  });
});
afterAll(() => site.close());

const picture = (name: string, path: string): Picture => ({
  name,
  show: async (page) => {
    await page.goto(`${site.origin}${path}`);
  },
});

const contents = (files: readonly string[]) => Promise.all(files.map((file) => readFile(file, 'base64')));

test('pictures come in both colour schemes, are small, and do not change from day to day', async ({ browser }) => {
  const take = async () => takePictures(browser, [picture('locks', '/')], await temporaryFolder());
  const files = await take();
  expect(files.map((file) => basename(file))).toEqual(['locks-light.png', 'locks-dark.png']);
  const [light = '', dark = ''] = await contents(files);
  expect(light).not.toBe(dark);
  expect(light.length).toBeLessThan(50_000);
  expect(await contents(await take())).toEqual([light, dark]);
});

test('a page with an error is not pictured', async ({ browser }) => {
  const taken = takePictures(browser, [picture('broken', '/broken')], await temporaryFolder());
  await expect(taken).rejects.toThrow(/^No picture of broken:\nConsole: a complaint/);
});
