import { expectAccessible } from '../../../support/browser/accessible.ts';
import { test } from '../../../support/browser/browser-test.ts';
import { expectProblem, phone } from '../../../support/browser/open-page.ts';
import { serviceOfTests } from '../../../support/service-of-tests.ts';
import { expectNoSidewaysScrolling, signIn } from './signed-in.ts';

const service = serviceOfTests();

test('a trust rule is added and removed on a phone without JavaScript, by keyboard', async ({ openPage }) => {
  const { secret } = await service.token({ name: 'root', scopes: ['admin'] });
  const page = await openPage({ viewport: phone, javaScript: false });
  const expectReadable = async () => {
    await expectNoSidewaysScrolling(page);
    await expectAccessible(page);
  };
  await signIn(page, service, secret, '/');
  await page.getByRole('link', { name: 'Trust', exact: true }).press('Enter');
  await page.getByText('No workflow is trusted yet.').waitFor();
  await expectReadable();
  await page.getByRole('link', { name: 'Trust a workflow' }).press('Enter');
  await page.getByLabel('Repository', { exact: true }).fill('octo/game');
  await page.getByLabel('Repository id').fill('123');
  await page.getByLabel('Ref', { exact: true }).fill('main');
  await page.getByLabel('Owner of the locks').fill('release-bot');
  await page.getByLabel('locks:write', { exact: true }).check();
  const add = page.getByRole('button', { name: 'Trust these jobs' });
  await add.press('Enter');
  await expectProblem(page, /status of 422/);
  await page.getByText('Write refs/heads/main for a branch, or refs/tags/v1.0 for a tag.').waitFor();
  await expectReadable();
  await page.getByLabel('Ref', { exact: true }).fill('refs/heads/main');
  await add.press('Enter');
  await expectProblem(page, /status of 422/);
  await page.getByText('A rule for GitHub needs the ids of the repository and of its owner').waitFor();
  await page.getByLabel('Owner id').fill('45');
  await add.press('Enter');
  await page.getByText('Jobs of octo/game are trusted now.').waitFor();
  await page.getByRole('cell', { name: 'ref=refs/heads/main' }).waitFor();
  await expectReadable();
  await page.getByRole('link', { name: 'Remove the rule for octo/game' }).press('Enter');
  await page.getByRole('heading', { name: 'No longer trust jobs of octo/game?' }).waitFor();
  await expectReadable();
  await page.getByRole('button', { name: 'Remove rule' }).press('Enter');
  await page.getByText('Rule removed.').waitFor();
  await page.getByText('No workflow is trusted yet.').waitFor();
});
