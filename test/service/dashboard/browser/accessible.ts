import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

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

const run = `axe.run(document, ${JSON.stringify({
  runOnly: tags,
  resultTypes: ['violations'],
  iframes: false,
  preload: false,
})}).then(({ violations }) => JSON.stringify(violations))`;

/** Checks the current state of the page against WCAG 2.2 AA, in light and in dark colors. */
export async function expectAccessible(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send('Page.getFrameTree');
  const world = { frameId: frameTree.frame.id, worldName: 'axe' };
  const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', world);
  const evaluate = async (expression: string): Promise<string> => {
    const asked = { contextId, expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', asked);
    if (exceptionDetails === undefined) return String(result.value);
    throw new Error(`axe could not be run: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
  };
  await evaluate(`${withoutTimers}\n${axe.source}\n''`);
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const violations: AxeResults['violations'] = JSON.parse(await evaluate(run));
    for (const { id, help, nodes } of violations) {
      for (const { target, html, failureSummary = '' } of nodes) {
        found.push(`${help} (rule ${id}, in ${colorScheme} colors) at ${target.join(' ')}: ${html}\n${failureSummary}`);
      }
    }
  }
  await page.emulateMedia({ colorScheme: null });
  await session.detach();
  if (found.length > 0) throw new Error(`${page.url()} is not accessible to everyone:\n${found.join('\n')}`);
}
