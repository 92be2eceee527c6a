import { globSync } from 'node:fs';
import { afterAll, beforeAll, expect, onTestFinished, vi } from 'vitest';
import { expectAccessible } from '../support/browser/accessible.ts';
import { endPages, test } from '../support/browser/browser-test.ts';
import { expectProblem, openPageIn } from '../support/browser/open-page.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { documentOf, type Site, startSite } from './site.ts';

let site: Site;

beforeAll(async () => {
  site = await startSite({
    '/': documentOf('<form><label>Search <input></label></form><p id="said"></p><script src="/say.js"></script>'),
    '/say.js': "document.querySelector('#said').textContent = 'hello';",
    '/live': documentOf('<p id="said"></p><script src="/live.js"></script>'),
    '/live.js': `new EventSource('/locks.events').onmessage = ({ data }) => {
      document.querySelector('#said').textContent = data;
    };`,
    '/locks.events': 'data: a lock\n\n',
    '/console': documentOf('<script src="/console.js"></script>'),
    '/console.js': "console.error('a complaint');",
    '/script': documentOf('<script src="/script.js"></script>'),
    '/script.js': "setTimeout(() => { throw new Error('a mistake'); });",
    '/inline': documentOf('<p style="color: red">Red</p>'),
    '/markup': documentOf('<script src="/markup.js"></script>'),
    '/markup.js': "document.body.innerHTML = '<b>markup</b>';",
    '/image': documentOf('<img src="http://192.0.2.1/pixel.png" alt="">'),
    '/missing': documentOf('<img src="/missing.png" alt="">'),
    '/unlabelled': documentOf('<input name="path">'),
    '/faint-in-the-dark': documentOf('<p class="faint">Too dark to read.</p>'),
    '/small': documentOf('<ul><li><a href="/1">1</a><a href="/2">2</a><a href="/3">3</a></li></ul>'),
  });
});
afterAll(() => site.close());

/** Redirects the pictures of failed tests to a folder of this test. */
async function pictures(): Promise<() => readonly string[]> {
  const cwd = temporaryFolder();
  vi.stubEnv('TMPDIR', cwd);
  const told = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    told.mockRestore();
  });
  return () => globSync('workspace-failed-page-*/1.png', { cwd });
}

test.for([
  ['the page', '/console', /- Console: a complaint \(http:.*\/console\.js:1\)/],
  ['a window opened by it', '/console', /- Console: a complaint/],
  ['the page', '/script', /- Error of a script: Error: a mistake\n.*script\.js/],
  ['the page', '/inline', /- Content Security Policy: .*style-src 'self'/],
  ['the page', '/markup', /- Content Security Policy: .*TrustedHTML/],
  ['the page', '/image', /- Beyond this machine: GET http:\/\/192\.0\.2\.1\/pixel\.png was refused/],
  ['the page', '/missing', /- Console: .*status of 404.*missing\.png/],
] as const)('fails the test at its end for a problem in %s: %s', async ([where, path, reason], { browser }) => {
  const taken = await pictures();
  const opened = await openPageIn(browser);
  const page = where === 'the page' ? opened.page : await opened.page.context().newPage();
  await page.goto(site.origin + path);
  // The script fails in a later task.
  if (path === '/script') await page.evaluate('new Promise((resolve) => { setTimeout(resolve); })');
  await expect(endPages([opened], () => false)).rejects.toThrow(reason);
  expect(taken()).toHaveLength(1);
});

test('lets a page reach this machine by name, and no other machine', async ({ openPage }) => {
  const page = await openPage();
  await page.goto(site.origin.replace('127.0.0.1', 'localhost'));
  await page.getByText('hello').waitFor();
  for (const host of ['192.0.2.1', 'example.com', '[2001:db8::1]', '127.0.0.1.example.com']) {
    for (const scheme of ['http', 'https']) {
      const url = `${scheme}://${host}/`;
      expect(await page.evaluate(`fetch('${url}').then(() => 'an answer', () => 'none')`)).toBe('none');
      await expectProblem(page, /^Beyond this machine: GET .*ERR_NAME_NOT_RESOLVED/);
    }
  }
  await page.evaluate(`new Promise((resolve) => { new WebSocket('ws://192.0.2.1/').onerror = () => resolve(); })`);
  await expectProblem(page, /^Console: .*ws:\/\/192\.0\.2\.1\/.*ERR_NAME_NOT_RESOLVED/);
});

const unlabelled = /\(rule label, critical, in light colours\)\n\s+at input: <input name="path">\n.*Fix any of the/;

test.for([
  { path: '/unlabelled', reason: unlabelled },
  { path: '/unlabelled', reason: unlabelled, javaScript: false },
  // The contrast is too low only in the color scheme that the page does not use at the moment.
  { path: '/faint-in-the-dark', reason: /everyone:\n.*\(rule color-contrast, serious, in dark colours\)/ },
  { path: '/small', reason: /rule target-size/ },
  { path: '/', reason: undefined, javaScript: false },
])(
  'finds the accessibility problems of %o, and no others',
  async ({ path, reason, javaScript = true }, { openPage }) => {
    const page = await openPage({ javaScript });
    await page.goto(site.origin + path);
    if (reason === undefined) await expectAccessible(page);
    else await expect(expectAccessible(page)).rejects.toThrow(reason);
    expect(await page.evaluate(`matchMedia('(prefers-color-scheme: light)').matches`)).toBe(true);
  },
);
