import type { Browser, BrowserContext, Page } from 'playwright-core';
import { collectProblems, type Problems } from './problems.ts';

export interface PageOptions {
  /** Light without it. */
  readonly colorScheme?: 'light' | 'dark';
  /** A desktop's without it. */
  readonly viewport?: { readonly width: number; readonly height: number };
  /** UTC without it. */
  readonly timeZone?: string;
  /** On without it. */
  readonly javaScript?: boolean;
}

/** The width that WCAG 2.2 wants pages to be usable at (success criterion 1.4.10). */
export const phone = { width: 320, height: 640 };

export interface OpenedPage {
  readonly page: Page;
  readonly problems: Problems;
  /** Returns when everything has been told that the pages reported before. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** A page that is busy for longer than that will not answer. */
const timeoutMs = 5_000;

const problemsOf = new WeakMap<BrowserContext, Problems>();

/** Waits for something that goes wrong and is meant to, so that the test does not fail of it. */
export async function expectProblem(page: Page, pattern: RegExp): Promise<void> {
  const problems = problemsOf.get(page.context());
  if (problems === undefined) throw new Error('Nobody collects the problems of this page: open it with openPage.');
  await problems.expect(pattern);
}

/** An empty page that shares no cookie, storage or cache with another one. */
export async function openPageIn(
  browser: Browser,
  {
    colorScheme = 'light',
    viewport = { width: 1280, height: 800 },
    javaScript = true,
    timeZone = 'UTC',
  }: PageOptions = {},
): Promise<OpenedPage> {
  const context = await browser.newContext({
    colorScheme,
    viewport,
    javaScriptEnabled: javaScript,
    reducedMotion: 'reduce',
    locale: 'en-GB',
    timezoneId: timeZone,
    // Nothing but this machine can be reached, and a test that needs https makes its own certificate.
    ignoreHTTPSErrors: true,
  });
  const problems = collectProblems(context);
  problemsOf.set(context, problems);
  return {
    page: await context.newPage(),
    problems,
    settle: async () => {
      // The answer comes after all that the page has reported before it was asked.
      const answers = Promise.all(context.pages().map((page) => page.evaluate('0').catch(() => undefined)));
      await Promise.race([answers, new Promise((resolve) => setTimeout(resolve, timeoutMs).unref())]);
    },
    close: () => context.close(),
  };
}
