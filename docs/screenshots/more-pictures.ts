import type { Page } from 'playwright-core';
import { furnishHooks } from './hooks.ts';
import { hold, nowOf } from './locks.ts';
import type { Picture } from './pictured-service.ts';
import { withPicturedService } from './pictured-service.ts';
import { furnishSyncs, remotes } from './syncs.ts';

/** Pages that no document shows, for whoever changes one of them. */

interface Pictured {
  readonly page: Page;
  /** Of the webhook. */
  readonly hook: string;
  go(path: string): Promise<void>;
}

const picture = (name: string, show: (pictured: Pictured) => Promise<void>): Picture => ({
  name,
  show: (page) =>
    withPicturedService(remotes, async ({ storage, open }) => {
      await furnishSyncs(storage);
      await storage.commit('global', (db) => db.deleteFrom('locks').execute());
      const hook = await furnishHooks(storage);
      await open(page, '/tokens');
      await hold(storage, await nowOf(page));
      const go = async (path: string) => void (await page.goto(new URL(path, page.url()).href));
      await show({ page, hook, go });
      await page.evaluate(`dispatchEvent(new Event('pagehide'))`);
    }),
});

const locks = '/workspaces/game/locks';

export const morePictures: readonly Picture[] = [
  picture('overview', async ({ page, go }) => {
    await go('/');
    await page.getByText('release/1.5').waitFor();
  }),
  picture('locks-selected', async ({ page, go }) => {
    await go(locks);
    await page.locator('#live').getByText('Live').waitFor();
    await page.getByLabel('Select Content/Maps/Town.umap').check();
    await page.getByLabel('Select Movies/Trailer.mov').check();
    await page.getByText('Actions').click();
    await page.locator('.lock .owner').first().hover();
  }),
  picture('release-selected', async ({ page, go }) => {
    await go(locks);
    await page.locator('#live').getByText('Live').waitFor();
    await page.getByText('Actions').click();
    await page.getByRole('button', { name: 'Select all shown' }).click();
    await page.getByRole('button', { name: 'Release selected' }).click();
    await page.getByRole('heading', { name: 'Release locks' }).waitFor();
  }),
  picture('lock-menu', async ({ page, go }) => {
    await go(locks);
    await page.locator('#live').getByText('Live').waitFor();
    await page.locator('.lock .menu').first().click();
  }),
  picture('lock-path', ({ go }) => go('/workspaces/game/paths/Content%2FMaps%2FTown.umap')),
  picture('my-locks', ({ go }) => go('/my-locks')),
  picture('hooks', ({ go }) => go('/workspaces/game/hooks')),
  picture('hook', ({ go, hook }) => go(hook)),
  picture('hook-edit', ({ go, hook }) => go(`${hook}/edit`)),
  picture('new-workspace', ({ go }) => go('/new-workspace')),
  picture('workspace-settings', ({ go }) => go('/workspaces/game/settings')),
  picture('workspace-remove', ({ go }) => go('/workspaces/game/remove')),
  picture('workspace-remove-film', ({ go }) => go('/workspaces/film/remove')),
  picture('sign-in', async ({ page, go }) => {
    await page.context().clearCookies();
    await go('/sign-in');
  }),
];
