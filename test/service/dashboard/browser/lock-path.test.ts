import { expect } from 'vitest';
import { urls } from '../../../../src/service/dashboard/elements/lock.ts';
import { serviceOfTests } from '../../../support/service-of-tests.ts';
import { changeRows } from '../../../support/stored-rows.ts';
import { locksOf } from '../../http/shared-service.ts';
import { takeLock } from '../locked-service.ts';
import { expectAccessible } from './accessible.ts';
import { test } from './browser-test.ts';
import { signIn } from './signed-in.ts';

const service = serviceOfTests();

test('the page of a path shows changes as they happen, and leads to its history', async ({ openPage }) => {
  const workspace = await service.workspace();
  const bob = await service.token({ name: 'bob', scopes: ['locks:write'] });
  const ada = await service.token({ name: 'ada', scopes: ['locks:write'] });
  const path = 'Content/Hero #1?.uasset';
  await takeLock(service, workspace, bob.secret, path);
  await locksOf(service, workspace, bob.secret).release(path);
  await takeLock(service, workspace, bob.secret, path, { note: 'Rigging' });
  const page = await openPage();
  await signIn(page, service, ada.secret, `/workspaces/${workspace}/locks`);
  await page.getByRole('link', { name: path, exact: true }).click();
  await page.waitForURL(service.baseUrl + urls.path(workspace, path));
  await page.getByRole('heading', { name: path, level: 1 }).waitFor();
  await page.locator('#live').getByText('Live').waitFor();
  await page.evaluate('globalThis.isSamePage = true');

  // The keyboard focus must stay where it is during updates.
  const runs = page.locator('[data-part="history"] a');
  await runs.first().focus();
  const facts = page.locator('[data-part="lock"]');
  expect(await facts.innerText()).toContain('Rigging');
  const waiting = page.locator('[data-part="waiting"]');
  const asAda = locksOf(service, workspace, ada.secret);
  const asked = asAda.take(path, { referer: 'https://ci.example.com/runs/8', prefer: 'wait=30' });
  await waiting.getByRole('link', { name: 'ci.example.com/runs/8' }).waitFor();
  await expectAccessible(page);

  await locksOf(service, workspace, bob.secret).release(path);
  const { status, headers } = await asked;
  expect(status).toBe(201);
  await waiting.getByText('No one is waiting.').waitFor();
  await asAda.release(path, { 'if-match': headers.get('etag') ?? '' });
  await facts.getByText('Nobody holds a lock on this path.').waitFor();
  await page.getByRole('link', { name: 'Lock it' }).waitFor();
  expect((await asAda.take(path)).status).toBe(201);
  await page.getByRole('link', { name: 'Release', exact: true }).waitFor();
  await expect.poll(() => page.locator('[data-part="history"] tbody tr').count()).toBe(3);
  expect(await page.evaluate('document.activeElement.closest("[data-part]").dataset.part')).toBe('history');
  await changeRows(service.storage, 'locks', { expires_at: 1 }, { path });
  await facts.getByText('Nobody holds a lock on this path.').waitFor();
  await page.getByRole('cell', { name: 'expired' }).waitFor();
  expect(await page.evaluate('globalThis.isSamePage')).toBe(true);

  await page.getByRole('link', { name: 'All history' }).click();
  await expect.poll(() => page.locator('tbody tr').count()).toBe(4);
  await expectAccessible(page);
});

test('a holder is notified of waiting clients, and they of their turn, on any page', async ({ openPage }) => {
  const workspace = await service.workspace();
  const [bob, eve] = [await service.token({ name: 'bob' }), await service.token({ name: 'eve' })];
  await takeLock(service, workspace, bob.secret, 'a');
  const [own, other] = [await openPage(), await openPage()];
  for (const page of [own, other]) {
    await page.addInitScript(`globalThis.notified = [];
      globalThis.Notification = class { static permission = 'granted'; constructor(text) { notified.push(text); } };`);
  }
  await signIn(own, service, bob.secret, '/my-locks');
  await signIn(other, service, eve.secret, '/my-locks');
  for (const page of [own, other]) await page.locator('#live').getByText('Live').waitFor();
  const { ask } = service;
  const wait = { token: eve.secret, json: { path: 'a' } };
  expect((await ask('POST', `/v1/workspaces/${workspace}/queue`, wait)).status).toBeLessThan(300);
  await expect.poll(() => own.evaluate('notified')).toEqual(['eve waits for a']);
  await other.getByRole('button', { name: 'Withdraw' }).waitFor();
  await expectAccessible(other);
  await locksOf(service, workspace, bob.secret).release('a');
  await expect.poll(() => other.evaluate('notified'), { timeout: 10_000 }).toEqual(['a is kept for you']);
  await other.getByRole('link', { name: 'Lock it' }).waitFor();
});
