import { afterAll, beforeAll, describe, expect } from 'vitest';
import { expectAccessible } from '../support/browser/accessible.ts';
import { test } from '../support/browser/browser-test.ts';
import { expectProblem, phone } from '../support/browser/open-page.ts';
import { documentOf, type Site, startSite } from './site.ts';

const form = '<form><label>Search <input name="search"></label> <button>Search</button></form>';
const script = (name: string): string => `<p id="said">nothing</p><script src="/${name}.js"></script>`;

let site: Site;

beforeAll(async () => {
  site = await startSite({
    '/': documentOf(`${form}${script('say')}`),
    '/say.js': "document.querySelector('#said').textContent = 'hello';",
    '/live': documentOf(`<p id="said">nothing</p><script src="/live.js"></script>`),
    '/live.js': `new EventSource('/locks.events').onmessage = ({ data }) => {
      document.querySelector('#said').textContent = data;
    };`,
    '/locks.events': 'data: a lock\n\n',
    '/unlabelled': documentOf('<input name="path">'),
    '/faint-in-the-dark': documentOf('<p class="faint">Too dark to read.</p>'),
    '/small': documentOf('<ul><li><a href="/1">1</a><a href="/2">2</a><a href="/3">3</a></li></ul>'),
  });
});
afterAll(() => site.close());

describe('a page', () => {
  test('is as the options say', async ({ openPage }) => {
    const dark = await openPage({ colorScheme: 'dark', viewport: phone });
    await dark.goto(site.origin);
    expect(await dark.evaluate(`[matchMedia('(prefers-color-scheme: dark)').matches, innerWidth]`)).toEqual([
      true,
      320,
    ]);
    const light = await openPage();
    await light.goto(site.origin);
    expect(await light.evaluate(`[matchMedia('(prefers-color-scheme: dark)').matches, innerWidth]`)).toEqual([
      false,
      1280,
    ]);
  });

  test.for([
    { javaScript: true, said: 'hello' },
    { javaScript: false, said: 'nothing' },
  ])('runs scripts, or not: $javaScript', async ({ javaScript, said }, { openPage }) => {
    const page = await openPage({ javaScript });
    await page.goto(site.origin);
    expect(await page.locator('#said').textContent()).toBe(said);
  });

  test('shares no cookie with another one', async ({ openPage }) => {
    const one = await openPage();
    await one.goto(site.origin);
    await one.evaluate(`document.cookie = 'session=1'`);
    const other = await openPage();
    await other.goto(site.origin);
    expect(await other.evaluate('document.cookie')).toBe('');
  });

  test('may leave a stream of events: that is no problem', async ({ openPage }) => {
    const page = await openPage();
    await page.goto(`${site.origin}/live`);
    await page.getByText('a lock').waitFor();
    await page.goto(site.origin);
  });

  test('may meet a problem that the test waits for', async ({ openPage }) => {
    const page = await openPage();
    await page.goto(`${site.origin}/forbidden`);
    await expectProblem(page, /^Console: .*status of 403/);
  });

  test('reaches nothing beyond this machine', async ({ openPage }) => {
    const page = await openPage();
    await page.goto(site.origin);
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

  test('reaches this machine by its name', async ({ openPage }) => {
    const page = await openPage();
    await page.goto(site.origin.replace('127.0.0.1', 'localhost'));
    await page.getByText('hello').waitFor();
  });
});

describe('accessibility', () => {
  test.for([{ javaScript: true }, { javaScript: false }])(
    'is found where it is there, under the strictest policy: %o',
    async (options, { openPage }) => {
      const page = await openPage(options);
      await page.goto(site.origin);
      await expectAccessible(page);
    },
  );

  test.for([{ javaScript: true }, { javaScript: false }])(
    'is missed in a field without a label, with the rule, the element and what to do: %o',
    async (options, { openPage }) => {
      const page = await openPage(options);
      await page.goto(`${site.origin}/unlabelled`);
      const checked = expectAccessible(page);
      await expect(checked).rejects.toThrow(/\(rule label, critical, in light colours\)/);
      await expect(checked).rejects.toThrow(/at input: <input name="path">\n.*Fix any of the following/);
    },
  );

  test('is missed in the colours that the page does not have at the moment, and the page keeps its own', async ({
    openPage,
  }) => {
    const page = await openPage();
    await page.goto(`${site.origin}/faint-in-the-dark`);
    const checked = expectAccessible(page);
    await expect(checked).rejects.toThrow(/\(rule color-contrast, serious, in dark colours\)/);
    await expect(checked).rejects.not.toThrow(/in light colours/);
    expect(await page.evaluate(`matchMedia('(prefers-color-scheme: light)').matches`)).toBe(true);
  });

  test('is missed in what is too small to hit', async ({ openPage }) => {
    const page = await openPage();
    await page.goto(`${site.origin}/small`);
    await expect(expectAccessible(page)).rejects.toThrow(/rule target-size/);
  });

  test('is not judged where nobody says what the background is', async ({ openPage }) => {
    const page = await openPage();
    await page.setContent('<!doctype html><html lang="en"><title>Bare</title><main><h1>Bare</h1></main>');
    await expect(expectAccessible(page)).rejects.toThrow(/give html or body a background colour/);
  });

  test('is checked while the clock of the page stands still', async ({ openPage }) => {
    const page = await openPage();
    await page.clock.install();
    await page.goto(site.origin);
    await page.clock.pauseAt(Date.now() + 60_000);
    await expectAccessible(page);
  });
});
