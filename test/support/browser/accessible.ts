import axe, { type AxeResults } from 'axe-core';
import type { CDPSession, Page } from 'playwright-core';

/** WCAG 2.2 AA includes all earlier criteria; the best practices are those of axe. */
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * An isolated world sees the same document, but neither the policy of the page (script-src, Trusted Types) nor its
 * clock applies to it. With JavaScript off, timers never fire there either; axe uses them only to yield.
 */
const withoutTimers = `globalThis.setTimeout = (work, _ms, ...given) => {
  queueMicrotask(() => work(...given));
  return 0;
};`;

/** axe assumes white for elements without a background color, whatever the browser paints in a dark scheme. */
const hasBackground = `[document.documentElement, document.body].some(
  (element) => getComputedStyle(element).backgroundColor !== 'rgba(0, 0, 0, 0)')`;

const run = `axe.run(document, ${JSON.stringify({
  runOnly: tags,
  resultTypes: ['violations'],
  iframes: false,
  preload: false,
})}).then(({ violations }) => JSON.stringify(violations))`;

async function evaluate(session: CDPSession, contextId: number, expression: string): Promise<string> {
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    contextId,
    expression,
    awaitPromise: true,
    returnByValue: true,
  });
  if (exceptionDetails !== undefined) {
    throw new Error(`axe could not be run: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
  }
  return String(result.value);
}

/** Loads axe into an isolated world of the page. */
async function startAxe(page: Page) {
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send('Page.getFrameTree');
  const world = { frameId: frameTree.frame.id, worldName: 'axe' };
  const { executionContextId } = await session.send('Page.createIsolatedWorld', world);
  await evaluate(session, executionContextId, `${withoutTimers}\n${axe.source}\n''`);
  return {
    async violations(): Promise<AxeResults['violations']> {
      if ((await evaluate(session, executionContextId, hasBackground)) !== 'true') {
        throw new Error('Contrast cannot be judged: give html or body a background colour in both colour schemes.');
      }
      return JSON.parse(await evaluate(session, executionContextId, run));
    },
    end: () => session.detach(),
  };
}

const indented = (text: string): string => text.replaceAll(/^/gm, '    ');

const toText = (found: AxeResults['violations'], colours: string): string[] =>
  found.flatMap(({ id, impact, help, nodes }) =>
    nodes.map(({ target, html, failureSummary = '' }) =>
      [
        `${help} (rule ${id}, ${impact ?? 'of no stated impact'}, in ${colours} colours)`,
        indented(`at ${target.join(' ')}: ${html}\n${failureSummary}`),
      ].join('\n'),
    ),
  );

/** Checks the current state of the page against WCAG 2.2 AA, in light and in dark colors. */
export async function expectAccessible(page: Page): Promise<void> {
  const found: string[] = [];
  const { violations, end } = await startAxe(page);
  try {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      found.push(...toText(await violations(), colorScheme));
    }
  } finally {
    await page.emulateMedia({ colorScheme: null });
    await end();
  }
  if (found.length > 0) throw new Error(`${page.url()} is not accessible to everyone:\n${found.join('\n')}`);
}
