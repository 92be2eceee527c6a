import { randomBytes, randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { expectAccessible } from '../../../support/browser/accessible.ts';
import { test } from '../../../support/browser/browser-test.ts';
import { expectProblem } from '../../../support/browser/open-page.ts';
import { sqlite } from '../../../support/databases.ts';
import { type GitHttpsOptions, startGitHttpsServer } from '../../../support/git-https-server.ts';
import { createRepository } from '../../../support/git-repository.ts';
import { startTestService } from '../../../support/running-service.ts';
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

test('the page of a sync follows it to its end without a reload', async ({ openPage }) => {
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
  const { body } = await service.ask('POST', `/v1/workspaces/${workspace}/sync`, {
    token: secret,
    json: { branch: 'main' },
  });
  await page.goto(`${service.baseUrl}/workspaces/${workspace}/syncs/${body.sync_id}`);
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
  expect(await bar.isVisible()).toBe(false);
  expect(await page.evaluate('globalThis.isSamePage')).toBe(true);
  await page.getByText('by ada').waitFor();
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
});

test('the page of a sync that was removed no longer updates', async ({ openPage }) => {
  const page = await openPage();
  await page.clock.install();
  const { remove } = await openRunningSync(page);
  await remove();
  const gone = page.getByText('This page no longer updates. Reload it.');
  await gone.waitFor(patience);
  await expectProblem(page, /status of 404/);
  await page.clock.fastForward(60_000);
  for (const _ of ['the stream', 'its status']) await expectProblem(page, /status of 404/);
  await gone.waitFor();
});
