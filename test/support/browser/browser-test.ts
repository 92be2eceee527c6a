import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { test as plain } from 'vitest';
import { leaveOut } from '../left-out.ts';
import { findBrowser, launchBrowser } from './launch.ts';
import { type OpenedPage, openPageIn, type PageOptions } from './open-page.ts';

/** Opens a page for this test only. Problems in it fail the test at its end. */
type OpenPage = (options?: PageOptions) => Promise<Page>;

/** Keeps screenshots of a failed test in a folder that is not removed. */
async function keepPictures(pages: readonly OpenedPage[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'workspace-failed-page-'));
  for (const [index, { page }] of pages.entries()) {
    const path = join(folder, `${index + 1}.png`);
    await page.screenshot({ path, timeout: 5_000 }).then(
      () => process.stderr.write(`The page as the failed test left it: ${path}\n`),
      () => process.stderr.write('There is no picture of the page that the failed test left: it does not answer.\n'),
    );
  }
}

/** Closes the pages of a test, and fails it if they had problems. */
async function endPages(pages: readonly OpenedPage[], hasFailed: () => boolean): Promise<void> {
  for (const page of pages) await page.settle();
  const problems = pages.flatMap((page) => page.problems.unexpected);
  if (pages.length > 0 && (hasFailed() || problems.length > 0)) await keepPictures(pages);
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
  .extend('browserHere', { scope: 'worker' }, async ({}, { onCleanup }): Promise<Browser | string> => {
    const found = findBrowser();
    if (found.kind === 'missing') return found.reason;
    const { browser, close } = await launchBrowser(found.program);
    onCleanup(close);
    return browser;
  })
  .extend('browser', async ({ browserHere, skip, task }): Promise<Browser> => {
    return typeof browserHere === 'string' ? leaveOut({ skip, task }, browserHere) : browserHere;
  })
  .extend('openPage', async ({ browser, task }, { onCleanup }): Promise<OpenPage> => {
    const pages: OpenedPage[] = [];
    onCleanup(() => endPages(pages, () => task.result?.state === 'fail'));
    return async (options) => {
      const opened = await openPageIn(browser, options);
      pages.push(opened);
      return opened.page;
    };
  });
