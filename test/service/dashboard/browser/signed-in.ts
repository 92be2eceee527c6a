import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { RunningService } from '../../../support/running-service.ts';

/** Signs in through the form, as a person does. */
export async function signIn(page: Page, { baseUrl }: RunningService, secret: string, to = '/'): Promise<void> {
  await page.goto(`${baseUrl}/sign-in?to=${encodeURIComponent(to)}`);
  await page.getByLabel('API token').fill(secret);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL((url) => !url.pathname.startsWith('/sign-in'));
}

export async function expectNoSidewaysScrolling(page: Page): Promise<void> {
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
}
