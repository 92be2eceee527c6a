import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { expectProblem } from '../../test/support/browser/open-page.ts';
import { furnished } from './furnished.ts';
import type { Picture } from './pictured-service.ts';

/** Pages without permission or session, and errors. */

const locks = '/workspaces/game/locks';

const signIn = (page: Page) => page.getByRole('button', { name: 'Sign in' }).click();

const signedOut = (name: string, path: string) =>
  furnished(name, async ({ page, go }) => {
    await page.context().clearCookies();
    await go(path);
  });

export const errorPictures: readonly Picture[] = [
  signedOut('sign-in', '/sign-in'),
  signedOut('sign-in-ended', '/sign-in?notice=session-ended'),
  signedOut('sign-in-link', `/sign-in?link=wsl_${'A'.repeat(43)}`),
  furnished('sign-in-refused', async ({ page, go }) => {
    await page.context().clearCookies();
    await go('/sign-in');
    await page.getByLabel('API token').fill('not a token');
    await signIn(page);
    await expectProblem(page, /status of 403/);
    await page.getByText('This is not a token.').waitFor();
  }),
  furnished('error-too-many', async ({ page, go }) => {
    await page.context().clearCookies();
    await go('/sign-in');
    const { origin } = new URL(page.url());
    for (let count = 0; count < 10; count += 1) {
      await page.request.post(`${origin}/sign-in`, { headers: { origin }, form: { token: 'wrong' } });
    }
    await page.getByLabel('API token').fill('not a token');
    await signIn(page);
    await expectProblem(page, /status of 429/);
  }),
  furnished('error-not-found', async ({ page, go }) => {
    await go('/workspaces/dragon/locks');
    await expectProblem(page, /status of 404/);
  }),
  furnished('error-broken', async ({ page, storage, go }) => {
    await storage.commit('global', (db) => sql`DROP TABLE audit`.execute(db));
    await go('/audit');
    await expectProblem(page, /status of 500/);
  }),
  furnished(
    'error-forbidden',
    async ({ page, go }) => {
      await go('/tokens');
      await expectProblem(page, /status of 403/);
    },
    ['locks:read'],
  ),
  furnished(
    'read-only',
    async ({ page, go }) => {
      await go(locks);
      await page.locator('#live').getByText('Live').waitFor();
    },
    ['locks:read'],
  ),
  furnished('read-only-overview', ({ go }) => go('/'), ['locks:read']),
  furnished('no-rights', ({ go }) => go('/'), ['contents:read']),
];
