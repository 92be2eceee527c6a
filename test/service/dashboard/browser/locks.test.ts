import type { Page, Route } from 'playwright-core';
import { describe, expect } from 'vitest';
import { expectProblem } from '../../../support/browser/open-page.ts';
import { serviceOfTests } from '../../../support/service-of-tests.ts';
import { changeRows, findRows, revoke } from '../../../support/stored-rows.ts';
import { locksOf as locksAsApi } from '../../http/shared-service.ts';
import { seedManyLocks, takeLock } from '../locked-service.ts';
import { expectAccessible } from './accessible.ts';
import { test } from './browser-test.ts';
import { signIn } from './signed-in.ts';

const service = serviceOfTests();

const live = (page: Page) => page.locator('#live').getByText('Live').waitFor();
const rows = (page: Page) => page.locator('[data-part="locks"] tr:has(.path)');
const rowOf = (page: Page, path: string) =>
  rows(page).filter({ has: page.getByRole('link', { name: path, exact: true }) });
const gone = (page: Page, path: string) => rowOf(page, path).waitFor({ state: 'detached' });

const locksOf = (workspace: string, search = '') => `/workspaces/${workspace}/locks${search}`;

describe('the locks page', () => {
  test('shows changes to locks immediately, and keeps their times up to date', async ({ openPage }) => {
    const workspace = await service.workspace();
    const bot = await service.token({ name: 'release-bot' });
    const page = await openPage();
    await signIn(page, service, (await service.token({ scopes: ['locks:read'] })).secret, locksOf(workspace));
    await live(page);
    await page.getByText('Nothing is locked.').waitFor();
    await expectAccessible(page);

    await takeLock(service, workspace, bot.secret, 'Content/Hero.uasset', {
      ttl: '4m',
      note: 'Baking the light',
    });
    const row = rowOf(page, 'Content/Hero.uasset');
    await row.getByText('release-bot').waitFor();
    await row.getByText('Baking the light').waitFor();
    await expectAccessible(page);
    expect(await row.getByRole('link', { name: 'ci.example.com' }).getAttribute('href')).toBe(
      'https://ci.example.com/game/runs/7/attempts/1',
    );
    const since = row.getByRole('cell').locator('time').first();
    const before = await since.textContent();
    expect(before).toMatch(/^(?:now|\d+ s ago)$/);
    await since.filter({ hasNotText: before ?? '' }).waitFor();
    expect(await row.locator('time').last().textContent()).toBe('in 4 min');

    await takeLock(service, workspace, bot.secret, 'short');
    await rowOf(page, 'short').waitFor();
    await changeRows(service.storage, 'locks', { expires_at: 1 }, { path: 'short' });
    await gone(page, 'short');
    const renewed = await takeLock(service, workspace, bot.secret, 'renewed', { ttl: '1m' });
    await rowOf(page, 'renewed').waitFor();
    const { take, release } = locksAsApi(service, workspace, bot.secret);
    const response = await take('renewed', { ttl: '3h', 'if-match': `"${renewed.id}"` });
    expect(response.status).toBe(200);
    await rowOf(page, 'renewed').getByText('in 3 h').waitFor();
    await release('Content/Hero.uasset');
    await gone(page, 'Content/Hero.uasset');
    expect(await page.locator('tbody tr').count()).toBe(1);
  });

  test('says when it is not connected, asks less often then, and reconnects', async ({ openPage }) => {
    const workspace = await service.workspace();
    const bot = await service.token();
    const page = await openPage();
    await page.clock.install();
    await signIn(page, service, bot.secret, locksOf(workspace));
    await live(page);
    let loads = 0;
    // As a gateway responds while the service restarts.
    const down = (route: Route) => {
      loads += 1;
      return route.fulfill({ status: loads === 1 ? 503 : 404, contentType: 'text/html', body: 'Not here.' });
    };
    await page.route(page.url(), down);
    await page.clock.fastForward(4_000);
    await page.getByText(/^Not connected, as of \d{4}(?:-\d\d){2} \d\d:\d\d:\d\d UTC\.$/).waitFor();
    await expectProblem(page, /status of 503/);
    await page.clock.fastForward(4_000);
    // A load that has begun is counted now.
    await page.evaluate("fetch('/healthz')");
    expect(loads).toBe(1);
    await page.clock.fastForward(8_000);
    await expectProblem(page, /status of 404/);
    await page.unroute(page.url(), down);
    await takeLock(service, workspace, bot.secret, 'a');
    await page.clock.fastForward(60_000);
    await rowOf(page, 'a').waitFor();
    await live(page);
  });

  test('locks a file, and extends and releases the lock', async ({ openPage }) => {
    const workspace = await service.workspace();
    const mira = await service.token({ name: 'laptop', owner: 'mira', scopes: ['locks:write'] });
    const page = await openPage();
    await signIn(page, service, mira.secret, locksOf(workspace));
    await live(page);
    await page.getByRole('link', { name: 'Lock a file' }).click();
    const path = page.getByLabel('Path');
    await path.fill('Content/../Hero.uasset');
    await page.getByLabel('For how long').fill('1h');
    await path.press('Enter');
    await page.getByRole('alert').getByText('segment').waitFor();
    await expectProblem(page, /status of 422/);
    await expectAccessible(page);
    await path.fill('Content/Hero.uasset');
    await path.press('Enter');
    await page.getByText('You hold the lock on Content/Hero.uasset.').waitFor();
    await live(page);
    await page.getByLabel('For how long').fill('3d');
    await page.getByRole('button', { name: 'Extend' }).press('Enter');
    await page.getByText('The lock on Content/Hero.uasset was extended.').waitFor();

    await page.getByRole('link', { name: 'My locks' }).click();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Release Content/Hero.uasset' }).click();
    await page.getByRole('button', { name: 'Release' }).press('Enter');
    await page.getByText('The selected locks were released.').waitFor();
    await page.getByText('Nothing is locked.').waitFor();
  });

  test('keeps the focus, the checked boxes and the scroll position when locks come and go', async ({ openPage }) => {
    const workspace = await service.workspace();
    await seedManyLocks(service, workspace, 90);
    const bot = await service.token();
    const page = await openPage();
    await signIn(page, service, bot.secret, locksOf(workspace));
    await live(page);
    const path = 'Content/Level00/Asset00060.uasset';
    const box = page.getByLabel(`Select ${path}`);
    await box.check();
    const link = rowOf(page, path).locator('.path');
    await link.focus();
    const place = async () => (await link.boundingBox())?.y;
    const before = await place();
    await takeLock(service, workspace, bot.secret, 'Z/last');
    await rowOf(page, 'Z/last').waitFor();
    expect(await place()).toBeCloseTo(before ?? Number.NaN, 0);
    expect(await page.evaluate('document.activeElement.textContent')).toBe(path);
    expect(await box.isChecked()).toBe(true);
    await link.focus();
    await changeRows(service.storage, 'locks', { expires_at: 1 }, { path });
    await gone(page, path);
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    expect(await page.locator(':checked:not(option)').count()).toBe(0);
  });

  test.for([true, false])(
    'releases selected locks together, with one reason (with JavaScript: %s)',
    async (javaScript, { openPage }) => {
      const workspace = await service.workspace();
      const bot = await service.token({ name: 'release-bot' });
      const own = await service.token({ name: `grace-${javaScript}`, scopes: ['locks:admin'] });
      for (const path of ['a', 'b', 'c']) await takeLock(service, workspace, bot.secret, path);
      await takeLock(service, workspace, own.secret, 'own');
      const page = await openPage({ javaScript });
      await signIn(page, service, own.secret, locksOf(workspace));
      if (javaScript) await live(page);
      else expect(await rowOf(page, 'a').getByRole('link', { name: 'Force release a' }).isVisible()).toBe(true);
      for (const path of ['a', 'b', 'own']) await page.getByLabel(`Select ${path}`, { exact: true }).check();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Release selected' }).press('Enter');
      await page.getByRole('heading', { name: 'Release locks' }).waitFor();
      await expectAccessible(page);
      await page.getByText('Someone else holds 2 of these locks').waitFor();
      const { release } = locksAsApi(service, workspace, bot.secret);
      await release('a');
      await takeLock(service, workspace, bot.secret, 'a');
      await page.getByLabel('Reason').fill('The runner is gone.');
      await page.getByRole('button', { name: 'Force release 3 locks' }).press('Enter');
      await page.getByText('Some had already ended.').waitFor();
      if (javaScript) await live(page);
      expect(await rows(page).locator('.path').allTextContents()).toEqual(['a', 'c']);
      const byGrace = { actor: `grace-${javaScript}`, action: 'lock.force-released' };
      const released = await findRows(service.storage, 'audit', byGrace);
      expect(released.map(({ detail }) => [JSON.parse(detail).path, JSON.parse(detail).reason])).toEqual([
        ['b', 'The runner is gone.'],
      ]);
    },
  );

  test('shows times in the zone of the reader, and in UTC on hover or without JavaScript', async ({ openPage }) => {
    const workspace = await service.workspace();
    const { secret } = await service.token();
    await takeLock(service, workspace, secret, 'a');
    await changeRows(
      service.storage,
      'locks',
      { acquired_at: Date.parse('2026-01-02T23:04:05Z') },
      { path: 'a', workspace_id: workspace },
    );
    const address = `/workspaces/${workspace}/paths/a`;
    const page = await openPage({ timeZone: 'Asia/Tokyo' });
    await signIn(page, service, secret, address);
    await page.getByText('2026-01-03 08:04:05 GMT+9').waitFor();
    const since = page.locator('dd time').first();
    expect(await since.getAttribute('title')).toBe('2026-01-03 08:04:05 GMT+9\n2026-01-02 23:04:05 UTC');
    const plain = await openPage({ timeZone: 'Asia/Tokyo', javaScript: false });
    await signIn(plain, service, secret, address);
    await plain.getByText('2026-01-02 23:04:05 UTC').waitFor();
  });

  test('says when its session has ended', async ({ openPage }) => {
    const workspace = await service.workspace();
    const { id, secret } = await service.token();
    const page = await openPage();
    await signIn(page, service, secret, locksOf(workspace));
    await live(page);
    await revoke(service.storage, id);
    await takeLock(service, workspace, (await service.token()).secret, 'not/for/them');
    await page.getByText('This page no longer updates. Reload it.').waitFor();
    expect(await rowOf(page, 'not/for/them').count()).toBe(0);
  });
});
