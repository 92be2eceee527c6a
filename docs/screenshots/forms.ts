import type { Page } from 'playwright-core';
import { expectProblem } from '../../test/support/browser/open-page.ts';
import { type Furnished, furnished } from './furnished.ts';
import type { Picture } from './pictured-service.ts';

/** Each form when it opens, and its result. Forms with fields also with an error in each field. */

const locks = '/workspaces/game/locks';
const town = 'path=Content%2FMaps%2FTown.umap&lock=lock_3';
const arena = 'path=Content%2FMaps%2FArena.umap&lock=lock_2';

const forms: Readonly<Record<string, string>> = {
  'new-lock': `${locks}/new`,
  'extend-lock': `${locks}/extend?${town}`,
  'force-release': `${locks}/release?${arena}`,
  'new-hook': '/workspaces/game/hooks/new',
  'new-token': '/tokens/new',
  'new-workspace': '/new-workspace',
  'workspace-settings': '/workspaces/game/settings',
};

/** All fields refuse invisible characters, except a reason, which must not be empty. */
const sendAllWrong = async (page: Page): Promise<void> => {
  await page.evaluate(`{
    const form = document.querySelector('main form[method="post"]:has(.field)');
    form.noValidate = true;
    for (const field of form.elements) {
      if (['radio', 'checkbox'].includes(field.type)) field.checked = false;
      else if (!['hidden', 'submit'].includes(field.type)) field.value = field.id === 'reason' ? '' : 'wrong\\u200b';
    }
    form.requestSubmit();
  }`);
  await expectProblem(page, /status of 422/);
  await page.locator('.problem').first().waitFor();
};

const confirmations: Readonly<Record<string, (hook: string) => string>> = {
  'hook-edit': (hook) => `${hook}/edit`,
  'hook-remove': (hook) => `${hook}/remove`,
  'release-own': () => `${locks}/release?${town}`,
  'workspace-remove': () => '/workspaces/game/remove',
  'workspace-remove-film': () => '/workspaces/film/remove',
  'token-rotate': () => '/tokens/tok_00000000-0000-4000-8000-0000000ada00/rotate',
  'token-revoke': () => '/tokens/tok_00000000-0000-4000-8000-0000000ada00/revoke',
};

async function releaseAll({ page, go }: Furnished): Promise<void> {
  await go(locks);
  await page.locator('#live').getByText('Live').waitFor();
  await page.getByRole('button', { name: 'Select all shown' }).click();
  await page.getByRole('button', { name: 'Release selected' }).click();
  await page.getByRole('heading', { name: 'Release locks' }).waitFor();
}

export const formPictures: readonly Picture[] = [
  ...Object.entries(forms).flatMap(([name, path]) => [
    furnished(name, ({ go }) => go(path)),
    furnished(`${name}-wrong`, async ({ page, go }) => {
      await go(path);
      await sendAllWrong(page);
    }),
  ]),
  ...Object.entries(confirmations).map(([name, pathOf]) => furnished(name, ({ go, hook }) => go(pathOf(hook)))),
  furnished('release-selected', releaseAll),
  furnished('locked-by-another', async ({ page, go }) => {
    await go(`${locks}/new?${arena}`);
    await page.getByRole('button', { name: 'Lock' }).click();
    await expectProblem(page, /status of 409/);
    await page.getByText('Nothing was locked.').waitFor();
  }),
  furnished('made-token', async ({ page, go }) => {
    await go('/tokens/new');
    await page.getByLabel('Name').fill('release pipeline');
    await page.getByLabel('locks:write').check();
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByText('wsa_').first().waitFor();
  }),
  furnished('made-hook', async ({ page, go }) => {
    await go('/workspaces/game/hooks/new');
    await page.getByLabel('URL').fill('https://chat.example.com/hooks/locks');
    await page.getByRole('button', { name: 'Register webhook' }).click();
    await page.getByText('whsec_').first().waitFor();
  }),
];
