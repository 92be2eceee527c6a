import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { expectAccessible } from '../../../support/browser/accessible.ts';
import { test } from '../../../support/browser/browser-test.ts';
import { expectProblem } from '../../../support/browser/open-page.ts';
import { sqlite } from '../../../support/databases.ts';
import { type GitHttpsOptions, startGitHttpsServer } from '../../../support/git-https-server.ts';
import { createRepository } from '../../../support/git-repository.ts';
import { type RunningService, startTestService } from '../../../support/running-service.ts';
import { changeRows, storeSyncs } from '../../../support/stored-rows.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { signIn } from './signed-in.ts';

const patience = { timeout: 30_000 };

/** A service, a git server with this behavior, and a repository on the server. */
async function startAll(behaviour: Omit<GitHttpsOptions, 'folder'> = {}) {
  const folder = temporaryFolder();
  const remote = createRepository(folder, 'assets.git');
  const server = await startGitHttpsServer({ folder, ...behaviour });
  const service = await startTestService(sqlite, {
    environment: { ...process.env, GIT_SSL_CAINFO: server.certificate },
  });
  onTestFinished(() => service.stop());
  const workspace = await service.workspace(server.address('assets.git'));
  return { service, remote, workspace, secret: (await service.token()).secret };
}

const storeSynced = (
  { storage }: RunningService,
  branch: { readonly workspace_id: string; readonly head: string; readonly synced_at: number },
) =>
  storage.commit('global', (db) =>
    db
      .insertInto('synced_branches')
      .values({ name: 'main', received_objects: 1, ...branch })
      .execute(),
  );

test('a sync is started from the page of its workspace, and followed to its end without a reload', async ({
  openPage,
}) => {
  const going = Promise.withResolvers<void>();
  onTestFinished(() => going.resolve());
  const { service, remote, workspace, secret } = await startAll({
    // Sends a part of the pack, and the rest once the test has seen it.
    beforeSending: (sent) => (sent > 400_000 ? going.promise : Promise.resolve()),
  });
  const asset = (index: number) => [`Content/${index}.uasset`, randomBytes(6_000)] as const;
  const files = Object.fromEntries(Array.from({ length: 200 }, (_, index) => asset(index)));
  const hostile = '"><b>x</b>\u202e\'main';
  remote.commit({ branch: 'main', files }, { branch: hostile, from: 'main', files: { a: '1' } });

  const page = await openPage();
  await signIn(page, service, secret, '/');
  const row = page.getByRole('row', { name: workspace });
  await row.getByText('never synced').waitFor(patience);
  expect(await row.textContent()).toContain('2 branches');
  await expectAccessible(page);

  await page.getByRole('link', { name: workspace }).first().click();
  await page.getByRole('heading', { name: 'Locks' }).waitFor();
  await page.getByRole('link', { name: 'Branches' }).click();
  const names = page.locator('tbody th');
  await expect.poll(() => names.count(), patience).toBe(2);
  expect(await names.first().textContent()).toContain('main default');
  expect(await names.last().textContent()).toContain('"><b>x</b>\\u{202e}\'main');
  expect(await page.locator('main b').count()).toBe(0);
  await expectAccessible(page);

  await page.getByRole('button', { name: 'Sync main', exact: true }).click();
  await page.waitForURL(/\/syncs\/sync_/);
  await page.evaluate('globalThis.isSamePage = true');
  const state = page.locator('[data-part="state"]');
  await expect.poll(() => state.textContent(), patience).toBe('running');
  const bar = page.getByRole('progressbar', { name: 'Objects received' });
  await bar.waitFor(patience);
  await expect
    .poll(() => bar.evaluate((element) => Number(element.getAttribute('value'))), patience)
    .toBeGreaterThan(0);
  await expectAccessible(page);
  going.resolve();
  await expect.poll(() => state.textContent(), patience).toBe('succeeded');
  const facts = page.locator('[data-part="facts"]');
  await facts.getByText(remote.head('main')).waitFor();
  expect(await facts.innerText()).toMatch(/Objects received\s+\d+\s/);
  await page.locator('#live').waitFor({ state: 'detached' });
  expect(await bar.isVisible()).toBe(false);
  expect(await page.evaluate('globalThis.isSamePage')).toBe(true);
  await page.getByText('by ada').waitFor();

  // A later push is shown once the remote has been asked.
  remote.commit({ branch: 'main', files: { b: '2' } });
  await page.goto(`${service.baseUrl}/workspaces/${workspace}/branches`);
  await page.getByRole('row', { name: /^main/ }).getByText('behind').waitFor(patience);
});

/** Opens the page of a sync that another instance seems to run, and returns functions that change and remove the sync. */
async function openRunningSync(page: Page) {
  const { service, workspace, secret } = await startAll();
  const id = `sync_${randomUUID()}`;
  const lease = { lease_owner: 'another', lease_until: Date.now() + 3_600_000 };
  const bytes = { received_bytes: 0, total_bytes: 1_000_000_000 };
  await storeSyncs(service.storage, {
    ...{ id, workspace_id: workspace, status: 'running', finished_at: null },
    ...{ ...lease, ...bytes },
  });
  const reloaded = page.waitForResponse((response) => response.request().resourceType() === 'xhr', patience);
  await signIn(page, service, secret, `/workspaces/${workspace}/syncs/${id}`);
  await (await reloaded).finished();
  return {
    change: (columns: { received_bytes: number } | { status: string; finished_at: number }) =>
      changeRows(service.storage, 'syncs', columns, { id }),
    remove: () => service.storage.commit('global', (db) => db.deleteFrom('syncs').where('id', '=', id).execute()),
  };
}

test('the page of a running sync shows its speed and the time left', async ({ openPage }) => {
  const page = await openPage();
  const { change } = await openRunningSync(page);
  let bytes = 0;
  const note = async () => {
    bytes += 1_000_000;
    await change({ received_bytes: bytes });
    return page.locator('[data-note]').textContent();
  };
  await expect.poll(note, { timeout: 10_000, interval: 200 }).toMatch(/ MB\/s, .+ left$/);
});

test('the page of a sync repeats a failed reload, and shows the end of the sync', async ({ openPage }) => {
  const page = await openPage();
  await page.clock.install();
  const { change } = await openRunningSync(page);
  await page.clock.pauseAt(Date.now() + 10_000);
  let loads = 0;
  await page.route(page.url(), (route) => {
    loads += 1;
    const status = loads === 1 ? 503 : 404;
    // As a gateway responds while the service restarts.
    return loads > 2 ? route.fallback() : route.fulfill({ status, contentType: 'text/html', body: 'Not here.' });
  });
  await change({ status: 'succeeded', finished_at: Date.now() });
  await expectProblem(page, /status of 503/);
  /** Time on the clock of the page until its next load. */
  async function pauseMs() {
    const before = loads;
    let passedMs = 0;
    for (; loads === before; passedMs += 1_000) {
      await page.clock.fastForward(1_000);
      // A load that has begun is counted now.
      await page.evaluate("fetch('/healthz')");
    }
    return passedMs;
  }
  expect(await pauseMs()).toBeGreaterThanOrEqual(2_000);
  await expectProblem(page, /status of 404/);
  expect(await pauseMs()).toBeGreaterThanOrEqual(4_000);
  await page.locator('[data-part="state"]').getByText('succeeded').waitFor(patience);
  await page.clock.resume();
  await page.locator('#live').waitFor({ state: 'detached' });
});

test('the page of a sync that was removed no longer updates', async ({ openPage }) => {
  const page = await openPage();
  await page.clock.install();
  const { remove } = await openRunningSync(page);
  let requests = 0;
  page.on('request', (request) => {
    requests += request.url().endsWith('/events') ? 1 : 0;
  });
  await remove();
  const gone = page.getByText('This page no longer updates. Reload it.');
  await gone.waitFor(patience);
  for (const _ of ['the stream', 'its status']) await expectProblem(page, /status of 404/);
  await page.clock.fastForward(60_000);
  await page.evaluate("fetch('/healthz')");
  expect(requests).toBe(2);
  await gone.waitFor();
});

test('a remote error ends a sync with its message, and the history shows the failures', async ({ openPage }) => {
  const { service, workspace, secret } = await startAll({
    answer: (_request, response) => {
      response.writeHead(500).end('no');
      return true;
    },
  });
  const page = await openPage();
  await signIn(page, service, secret, `/workspaces/${workspace}/branches`);
  await page.getByText('The remote did not answer').waitFor(patience);

  for (let round = 0; round < 2; round += 1) {
    await page.goto(`${service.baseUrl}/workspaces/${workspace}/branches`);
    await page.getByLabel('Sync a branch by name').fill('main');
    await page.getByRole('button', { name: 'Sync', exact: true }).click();
    await page.waitForURL(/\/syncs\/sync_/);
    await expect.poll(() => page.locator('[data-part="state"]').textContent(), patience).toBe('failed');
    expect(await page.locator('[data-part="result"]').textContent()).toContain('500');
  }
  await page.getByRole('button', { name: 'Sync again' }).waitFor();

  await page.getByRole('link', { name: 'All syncs of this branch' }).click();
  await expect.poll(() => page.getByRole('row', { name: /failed/ }).count(), patience).toBe(2);
});

test('a slow remote does not delay the page, which shows the synced branches first, and then all', async ({
  openPage,
}) => {
  const answering = Promise.withResolvers<void>();
  onTestFinished(() => answering.resolve());
  const { service, remote, workspace, secret } = await startAll({
    answer: async () => {
      await answering.promise;
      return false;
    },
  });
  remote.commit({ branch: 'main', files: { a: '1' } }, { branch: 'new', from: 'main', files: { a: '2' } });
  await storeSynced(service, { workspace_id: workspace, head: '1'.repeat(40), synced_at: 1 });
  const page = await openPage();
  const plain = await openPage({ javaScript: false });
  await signIn(page, service, secret, `/workspaces/${workspace}/branches`);
  await signIn(plain, service, secret, `/workspaces/${workspace}/branches`);
  for (const each of [page, plain]) {
    await each.getByText('The remote has not answered yet.').waitFor();
    expect(await each.locator('tbody tr').count()).toBe(1);
  }
  const entry = page.getByLabel('Sync a branch by name');
  await entry.fill('release');
  const answered = page.waitForResponse(/summary/, patience);
  answering.resolve();
  await (await answered).finished();
  await page.getByText('The remote has answered.').waitFor();
  expect(await entry.inputValue(), 'the page is not refreshed during the input').toBe('release');
  await entry.blur();
  await page.getByRole('row', { name: /^new/ }).waitFor(patience);
  expect(await page.getByRole('row', { name: /^main/ }).textContent()).toContain('behind');
  await plain.getByRole('link', { name: 'Refresh' }).click();
  await plain.getByRole('row', { name: /^new/ }).waitFor(patience);
});

test('a slow remote is asked again if a sync ends meanwhile', async ({ openPage }) => {
  const answering = Promise.withResolvers<void>();
  onTestFinished(() => answering.resolve());
  const { service, remote, workspace, secret } = await startAll({
    answer: async () => {
      await answering.promise;
      // Longer than the page waits.
      await sleep(1_200);
      return false;
    },
  });
  remote.commit({ branch: 'main', files: { a: '1' } });
  const page = await openPage();
  const asked = page.waitForRequest(/summary/, patience);
  await signIn(page, service, secret, `/workspaces/${workspace}/branches`);
  await asked;
  await storeSynced(service, { workspace_id: workspace, head: '1'.repeat(40), synced_at: Date.now() });
  const list = await openPage();
  const listAsked = list.waitForRequest(/summary/, patience);
  await signIn(list, service, secret, '/');
  await listAsked;
  answering.resolve();
  await list.getByText('1 of 1 behind').waitFor(patience);
  await page.getByRole('row', { name: /^main/ }).getByText('behind').waitFor(patience);
  await page.getByText('The remote has not answered yet.').waitFor({ state: 'detached', ...patience });
});

test('the state of a remote is unknown if ten answers were older than a sync', async ({ openPage }) => {
  const { service, workspace, secret } = await startAll({ answer: () => new Promise(() => {}) });
  const page = await openPage();
  await page.clock.install();
  let asked = 0;
  await page.route(/summary/, (route) => {
    asked += 1;
    return route.fulfill({ json: { state: 'current', text: '', more: '' } });
  });
  await signIn(page, service, secret, `/workspaces/${workspace}/branches`);
  const notice = page.locator('[data-awaits] span');
  await notice.waitFor();
  const body = await page.content();
  await page.route(page.url(), (route) => route.fulfill({ body, contentType: 'text/html' }));
  const askedLater = async () => {
    await page.clock.fastForward(1_000);
    return asked;
  };
  await expect.poll(askedLater, patience).toBe(10);
  await page.waitForLoadState('networkidle');
  await page.clock.fastForward(1_000);
  await notice.getByText('The state of the remote is unknown.').waitFor();
  expect(asked).toBe(10);
});

test('the list of workspaces keeps answers that another instance gave, and says whose state is unknown', async ({
  openPage,
}) => {
  const { service, workspace, secret } = await startAll({ answer: () => new Promise(() => {}) });
  const lost = await service.workspace('https://127.0.0.1:1/assets.git');
  const page = await openPage();
  const json = { state: 'current', text: 'all 3 up to date', more: '' };
  await page.route(`**/workspaces/${workspace}/summary`, (route) => route.fulfill({ json }));
  await page.route(`**/workspaces/${lost}/summary`, (route) => route.abort());
  const refreshed = page.waitForResponse((response) => response.request().resourceType() === 'xhr', patience);
  await signIn(page, service, secret, '/');
  await (await refreshed).finished();
  const row = (id: string) => page.getByRole('row', { name: id });
  await row(lost).getByText('unknown').waitFor();
  await row(workspace).getByText('all 3 up to date').waitFor();
  await expectProblem(page, /ERR_FAILED/);
});
