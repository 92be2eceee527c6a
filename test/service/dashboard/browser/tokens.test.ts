import { expect } from 'vitest';
import { makeSignInLink } from '../../../../src/service/sessions/sessions.ts';
import { startJob } from '../../../support/runner/start-job.ts';
import { serviceOfTests } from '../../../support/service-of-tests.ts';
import { expectAccessible } from './accessible.ts';
import { test } from './browser-test.ts';

const service = serviceOfTests();

test('an administrator creates a token, a workflow uses it, and it is revoked', async ({ openPage }) => {
  const { baseUrl, storage } = service;
  const workspace = await service.workspace();
  const page = await openPage();
  await page.goto(`${baseUrl}/sign-in?link=${await makeSignInLink(storage)}`);
  await page.getByRole('button', { name: 'Sign in as administrator' }).click();

  await page.getByRole('link', { name: 'Tokens' }).click();
  await page.getByText('signed in with it').waitFor();
  await page.getByRole('link', { name: 'New token' }).click();
  await page.getByLabel('Name').fill('ci of dragon');
  await page.getByLabel('locks:write').check();
  await page.getByLabel('Expires').fill('30d');
  await page.getByLabel('Workspaces').fill(workspace);
  await page.getByRole('button', { name: 'Create token' }).click();

  await page.locator('#secret').click();
  const secret = String(await page.evaluate('getSelection().toString()'));
  expect(secret).toMatch(/^wsa_[\w-]{43}$/);
  await expectAccessible(page);

  const job = await startJob({
    env: { WORKSPACE_BASE_URL: `${baseUrl}/v1`, WORKSPACE_ID: workspace, WORKSPACE_TOKEN: secret },
    secrets: [secret],
  });
  const path = 'Content/Hero.uasset';
  const locked = await job.run({ with: { operation: 'lock', path, 'auto-release': 'false' } });
  expect(locked.outputs, locked.log).toMatchObject({ status: 'acquired' });

  const row = page.getByRole('row', { name: 'ci of dragon' });
  await page.goto(`${baseUrl}/tokens`);
  await row.getByRole('link', { name: 'ci of dragon' }).click();
  await page.getByRole('heading', { name: 'The token ci of dragon' }).waitFor();
  const unlocked = await job.run({ with: { operation: 'unlock', path } });
  expect(unlocked.outputs, unlocked.log).toMatchObject({ status: 'released' });
  // The service stores a use some seconds later.
  const lastUse = async () => {
    await page.goto(`${baseUrl}/tokens`);
    return row.getByRole('cell').nth(6).innerText();
  };
  await expect.poll(lastUse, { timeout: 30_000, interval: 500 }).toMatch(/^(?:now|\d+ s ago)$/);

  await row.getByRole('link', { name: 'ci of dragon' }).click();
  await page.getByRole('button', { name: 'Revoke token' }).click();
  await page.getByText('revoked', { exact: true }).waitFor();
  const refused = await job.run({ with: { operation: 'list-locks' } });
  expect(refused.conclusion).toBe('failure');
  expect(refused.log).toContain('has been revoked');

  expect(await page.content()).not.toContain(secret);
});
