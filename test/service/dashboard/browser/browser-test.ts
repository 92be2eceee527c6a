import type { Browser, Page } from 'playwright-core';
import { test as plain } from 'vitest';
import { findBrowser, launchBrowser, noBrowser } from '../../../support/browser/launch.ts';
import { type OpenedPage, openPageIn, type PageOptions } from '../../../support/browser/open-page.ts';
import { leaveOut } from '../../../support/left-out.ts';

/** Opens a page for this test only. Problems in it fail the test at its end. */
type OpenPage = (options?: PageOptions) => Promise<Page>;

/** Closes the pages of a test, and fails it if they had problems. */
async function endPages(pages: readonly OpenedPage[]): Promise<void> {
  for (const page of pages) await page.settle();
  const problems = pages.flatMap((page) => page.problems.unexpected);
  for (const page of pages) await page.close();
  if (problems.length === 0) return;
  throw new Error(
    `In the page went wrong what the test does not expect:\n${problems.map((line) => `- ${line}`).join('\n')}`,
  );
}

/**
 * `test` for browser tests: `test('…', async ({ openPage }) => { … })`. One browser serves all tests of a worker
 * process. Without a browser, tests that use it or `openPage` are skipped with a reason.
 */
export const test = plain
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the required fixtures from the pattern: none.
  .extend('browserHere', { scope: 'worker' }, async ({}, { onCleanup }): Promise<Browser | undefined> => {
    const program = findBrowser();
    if (program === undefined) return undefined;
    const { browser, close } = await launchBrowser(program);
    onCleanup(close);
    return browser;
  })
  .extend('browser', async ({ browserHere, skip, task }): Promise<Browser> => {
    return browserHere ?? leaveOut({ skip, task }, noBrowser);
  })
  .extend('openPage', async ({ browser }, { onCleanup }): Promise<OpenPage> => {
    const pages: OpenedPage[] = [];
    onCleanup(() => endPages(pages));
    return async (options) => {
      const opened = await openPageIn(browser, options);
      pages.push(opened);
      return opened.page;
    };
  });
