import { EventEmitter, once } from 'node:events';
import type { Browser, BrowserContext, Page } from 'playwright-core';

export interface PageOptions {
  /** Default: the viewport of a desktop. */
  readonly viewport?: { readonly width: number; readonly height: number };
  /** Default: UTC. */
  readonly timeZone?: string;
  /** Default: on. */
  readonly javaScript?: boolean;
}

/** The width at which pages must be usable by WCAG 2.2 (success criterion 1.4.10). */
export const phone = { width: 320, height: 640 };

interface Problems {
  /** The unexpected problems, as lines for a person. */
  readonly unexpected: readonly string[];
  /** Waits for a problem, and removes it from the unexpected ones. */
  expect(pattern: RegExp): Promise<void>;
}

export interface OpenedPage {
  readonly page: Page;
  readonly problems: Problems;
  /** Resolves when all earlier reports of the pages have arrived. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** A page that is busy for longer than this is considered unresponsive. */
const busyMs = 5_000;

/** The maximum wait for an expected problem. */
const problemMs = 20_000;

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
  { viewport = { width: 1280, height: 800 }, javaScript = true, timeZone = 'UTC' }: PageOptions = {},
): Promise<OpenedPage> {
  const context = await browser.newContext({
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
      await Promise.race([answers, new Promise((resolve) => setTimeout(resolve, busyMs).unref())]);
    },
    close: () => context.close(),
  };
}

/** Collects the problems in all pages of a context from now on. */
function collectProblems(context: BrowserContext): Problems {
  const unexpected: string[] = [];
  const events = new EventEmitter();
  const add = (line: string): void => {
    unexpected.push(line);
    events.emit('problem');
  };
  context.on('console', (message) => {
    // The failed request reports the same problem, with its URL.
    if (message.type() !== 'error' || message.text().startsWith('Failed to load resource: net::')) return;
    add(`Console: ${message.text()} (${message.location().url})`);
  });
  context.on('weberror', (failed) => add(`Error of a script: ${failed.error().stack ?? failed.error().message}`));
  context.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? 'no reason given';
    // Aborted by leaving the page, or refused by its policy, which the console reports with the directive.
    if (reason === 'net::ERR_ABORTED' || reason === 'csp') return;
    add(`Request failed: ${request.method()} ${request.url()} (${reason})`);
  });
  context.on('page', (page) => page.on('crash', () => add(`The page crashed: ${page.url()}`)));

  return {
    unexpected,
    async expect(pattern) {
      const signal = AbortSignal.timeout(problemMs);
      const find = () => unexpected.findIndex((line) => pattern.test(line));
      while (find() === -1) {
        await once(events, 'problem', { signal }).catch(() => {
          throw new Error(`There was no problem like ${pattern}, but: ${unexpected.join('\n') || 'none at all.'}`);
        });
      }
      unexpected.splice(find(), 1);
    },
  };
}
