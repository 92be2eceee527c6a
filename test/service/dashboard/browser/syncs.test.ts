import { randomBytes } from 'node:crypto';
import { expect, onTestFinished } from 'vitest';
import { sqlite } from '../../../support/databases.ts';
import { startGitHttpsServer } from '../../../support/git-https-server.ts';
import { createRepository } from '../../../support/git-repository.ts';
import { startTestService } from '../../../support/running-service.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { expectAccessible } from './accessible.ts';
import { test } from './browser-test.ts';
import { signIn } from './signed-in.ts';

const patience = { timeout: 30_000 };

test('the page of syncs follows one to its end without a reload', async ({ openPage }) => {
  const going = Promise.withResolvers<void>();
  onTestFinished(() => going.resolve());
  const folder = temporaryFolder();
  const remote = createRepository(folder, 'assets.git');
  const server = await startGitHttpsServer({
    folder,
    // Sends a part of the pack, and the rest once the test has seen it.
    beforeSending: (sent) => (sent > 400_000 ? going.promise : Promise.resolve()),
  });
  const service = await startTestService(sqlite, {
    environment: { ...process.env, GIT_SSL_CAINFO: server.certificate },
  });
  onTestFinished(() => service.stop());
  const workspace = await service.workspace(server.address('assets.git'));
  const { secret } = await service.token();
  const asset = (index: number) => [`Content/${index}.uasset`, randomBytes(6_000)] as const;
  remote.commit({ branch: 'main', files: Object.fromEntries(Array.from({ length: 200 }, (_, index) => asset(index))) });

  const page = await openPage();
  await service.ask('POST', `/v1/workspaces/${workspace}/sync`, { token: secret, json: { branch: 'main' } });
  await signIn(page, service, secret, `/workspaces/${workspace}/syncs`);
  await page.evaluate('globalThis.isSamePage = true');
  const row = page.locator('[data-part="syncs"] tbody tr');
  await row.getByText(/[1-9]\d* of about \d+/).waitFor(patience);
  await expectAccessible(page);
  going.resolve();
  await row.getByText('succeeded').waitFor(patience);
  await row.getByText(remote.head('main').slice(0, 10)).waitFor();
  expect(await page.evaluate('globalThis.isSamePage')).toBe(true);
  await row.getByText('ada').waitFor();
});
