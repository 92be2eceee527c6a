import { errorPictures } from './errors.ts';
import { formPictures } from './forms.ts';
import { bare, furnished } from './furnished.ts';
import type { Picture } from './pictured-service.ts';

/** Pages that no document shows, to look at after a change. */

const locks = '/workspaces/game/locks';
const town = '/workspaces/game/paths/Content%2FMaps%2FTown.umap';

/** Empty pages of a workspace and of the service. */
const emptyPages = {
  workspaces: '/',
  'my-locks': '/my-locks',
  locks,
  'lock-path': town,
  'lock-history': `${locks}/history`,
  branches: '/workspaces/game/branches',
  syncs: '/workspaces/game/syncs',
  hooks: '/workspaces/game/hooks',
};

/** The first two are also taken at the width of a large screen. */
export const morePictures: readonly Picture[] = [
  furnished('overview', async ({ page, go }) => {
    await go('/');
    await page.getByText('release/1.5').waitFor();
  }),
  furnished('locks-selected', async ({ page, go }) => {
    await go(locks);
    await page.locator('#live').getByText('Live').waitFor();
    await page.getByLabel('Select Content/Maps/Town.umap').check();
    await page.getByLabel('Select Movies/Trailer.mov').check();
  }),
  furnished('locks-grouped', async ({ page, go }) => {
    await go(`${locks}?group=folder`);
    await page.locator('#live').getByText('Live').waitFor();
  }),
  furnished('lock-path', async ({ page, go }) => {
    const again = page.waitForResponse((response) => response.request().resourceType() === 'xhr');
    await go(town);
    await again;
  }),
  furnished('my-locks', ({ go }) => go('/my-locks')),
  furnished('hooks', ({ go }) => go('/workspaces/game/hooks')),
  furnished('hook', ({ go, hook }) => go(hook)),
  furnished('delivery', async ({ page, go, hook }) => {
    await go(hook);
    await page.getByRole('link', { name: 'Truck' }).click();
    await page.getByRole('heading', { name: 'Delivery' }).waitFor();
  }),
  furnished('sync', async ({ page, go }) => {
    await go('/workspaces/game/syncs');
    await page.getByRole('link', { name: 'failed' }).first().click();
    await page.getByText('closed the connection').waitFor();
  }),
  ...Object.entries(emptyPages).map(([name, path]) =>
    bare(`empty-${name}`, path, path.startsWith('/workspaces/') ? 'game' : undefined),
  ),
  ...formPictures,
  ...errorPictures,
];
