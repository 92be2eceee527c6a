import type { Browser, BrowserContext, Page } from 'playwright-core';
import { collectProblems, type Problems } from './problems.ts';

export interface PageOptions {
  /** Default: light. */
  readonly colorScheme?: 'light' | 'dark';
  /** Default: the viewport of a desktop. */
  readonly viewport?: { readonly width: number; readonly height: number };
  /** Default: UTC. */
  readonly timeZone?: string;
  /** Default: on. */
  readonly javaScript?: boolean;
}

/** The width at which pages must be usable by WCAG 2.2 (success criterion 1.4.10). */
export const phone = { width: 320, height: 640 };

export interface OpenedPage {
  readonly page: Page;
  readonly problems: Problems;
  /** Resolves when all earlier reports of the pages have arrived. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** A page that is busy for longer than this is considered unresponsive. */
const timeoutMs = 5_000;

const problemsOf = new WeakMap<BrowserContext, Problems>();

/** Waits for an expected problem, so that it does not fail the test. */
export async function expectProblem(page: Page, pattern: RegExp): Promise<void> {
  const problems = problemsOf.get(page.context());
  if (problems === undefined) throw new Error('Nobody collects the problems of this page: open it with openPage.');
  await problems.expect(pattern);
}

/** An empty page that shares no cookies, storage or cache with other pages. */
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
    // Only this machine can be reached, and tests of https use self-signed certificates.
    ignoreHTTPSErrors: true,
  });
  const problems = collectProblems(context);
  problemsOf.set(context, problems);
  return {
    page: await context.newPage(),
    problems,
    settle: async () => {
      // The answer arrives after all earlier reports of the page.
      const answers = Promise.all(context.pages().map((page) => page.evaluate('0').catch(() => undefined)));
      await Promise.race([answers, new Promise((resolve) => setTimeout(resolve, timeoutMs).unref())]);
    },
    close: () => context.close(),
  };
}
