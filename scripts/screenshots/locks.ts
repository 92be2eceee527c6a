import type { Page } from 'playwright-core';
import type { Storage } from '../../src/service/storage/storage.ts';
import { addWorkspace } from '../../src/service/workspaces/workspaces.ts';
import { operator } from '../../test/support/operator.ts';
import type { Picture } from './pictured-service.ts';
import { withPicturedService } from './pictured-service.ts';

const minute = 60_000;

interface HeldFor {
  readonly path: string;
  readonly owner: string;
  readonly run: string;
  readonly note?: string;
  readonly minutesAgo: number;
  readonly secondsLeft: number;
}

const locks: readonly HeldFor[] = [
  {
    path: 'Content/Characters/Hero/SK_Hero.uasset',
    owner: 'release pipeline',
    run: '4821',
    minutesAgo: 56,
    secondsLeft: 221,
  },
  {
    path: 'Content/Characters/Hero/T_Hero_Cape.uasset',
    owner: 'release pipeline',
    run: '4821',
    minutesAgo: 56,
    secondsLeft: 221,
  },
  { path: 'Content/Maps/Arena.umap', owner: 'nightly build', run: '4807', minutesAgo: 184, secondsLeft: 3_960 },
  {
    path: 'Content/Maps/Town.umap',
    owner: 'ada',
    run: '4819',
    note: 'New harbour, done by noon',
    minutesAgo: 72,
    secondsLeft: 2_868,
  },
  {
    path: 'Content/Vehicles/Kart/SM_Kart.uasset',
    owner: 'nightly build',
    run: '4807',
    minutesAgo: 184,
    secondsLeft: 3_960,
  },
  { path: 'Movies/Trailer.mov', owner: 'film pipeline', run: '1266', minutesAgo: 1_500, secondsLeft: 173_520 },
];

/** The current time of the page. Its clock stands still, so that relative times look the same in each picture. */
export const nowOf = async (page: Page): Promise<number> => Number(await page.locator('html').getAttribute('data-now'));

export async function hold({ commit }: Storage, at: number): Promise<void> {
  await commit('global', async (db) => {
    for (const [index, { path, owner, run, note = null, minutesAgo, secondsLeft }] of locks.entries()) {
      await db
        .insertInto('locks')
        .values({
          workspace_id: 'game',
          path,
          id: `lock_${index}`,
          owner,
          origin: `https://ci.example.com/studio/game/runs/${run}/attempts/1`,
          acquired_at: at - minutesAgo * minute,
          expires_at: at + secondsLeft * 1_000,
          note,
          fence: index + 1,
        })
        .execute();
    }
  });
}

export const lockPictures: readonly Picture[] = [
  {
    name: 'locks',
    show: (page, take) =>
      withPicturedService({}, async ({ storage, open }) => {
        await storage.commit('global', (db) =>
          addWorkspace(db, operator, { id: 'game', remote: 'https://git.example.com/studio/game.git' }),
        );
        await open(page, '/workspaces/game/locks');
        await page.locator('#live').getByText('Live').waitFor();
        await hold(storage, await nowOf(page));
        await page
          .locator('tbody tr')
          .nth(locks.length - 1)
          .waitFor();
        await take();
      }),
  },
];
