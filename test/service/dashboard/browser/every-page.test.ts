import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { expectProblem, phone } from '../../../support/browser/open-page.ts';
import { serviceOfTests } from '../../../support/service-of-tests.ts';
import { expectedPages } from '../expected-pages.ts';
import { hostilePages } from '../hostile-pages.ts';
import { expectAccessible } from './accessible.ts';
import { test } from './browser-test.ts';
import { expectNoSidewaysScrolling, signIn } from './signed-in.ts';

const service = serviceOfTests();

async function expectReadable(page: Page): Promise<void> {
  await expectNoSidewaysScrolling(page);
  await expectAccessible(page);
}

test('every page and form response is readable on a phone without JavaScript', async ({ openPage }) => {
  const { admin, pages } = await hostilePages(service);
  const page = await openPage({ viewport: phone, javaScript: false });
  const { baseUrl } = service;
  await signIn(page, service, admin.secret);
  const ofEachPath = expectedPages.flatMap(({ path, method }) => {
    const pattern = new URLPattern({ pathname: path });
    const address = [...pages.keys()].find((known) => pattern.test(known, baseUrl));
    return method === 'GET' && address !== undefined && !/\.(csv|jsonl)$/.test(path) ? [address] : [];
  });
  expect(ofEachPath.length).toBeGreaterThan(12);
  for (const address of ofEachPath) {
    await page.goto(baseUrl + address);
    // An open element may cover the next one.
    for (const details of await page.locator('main summary').all()) await details.press('Enter');
    await expectReadable(page);
  }

  const forms = [['/tokens/new', 'Create token', 'Name', ['hidden\u202e', 'n'.repeat(100)], ['sync']]] as const;
  for (const [address, button, field, [wrong, right], choices] of forms) {
    await page.goto(baseUrl + address);
    await page.getByLabel(field, { exact: true }).fill(wrong);
    await page.getByRole('button', { name: button }).click();
    await expectProblem(page, /status of 422/);
    await expectReadable(page);
    await page.getByLabel(field, { exact: true }).fill(right);
    for (const choice of choices) await page.getByLabel(choice, { exact: true }).check();
    await page.getByRole('button', { name: button }).click();
    await page.locator('#secret').waitFor();
    await expectReadable(page);
  }
});
