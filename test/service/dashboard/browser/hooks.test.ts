import { afterAll, beforeAll, expect } from 'vitest';
import { completeResponse } from '../../../../src/service/webhooks/receiver-response.ts';
import { expectAccessible } from '../../../support/browser/accessible.ts';
import { test } from '../../../support/browser/browser-test.ts';
import { expectProblem } from '../../../support/browser/open-page.ts';
import { nothing, raw } from '../../../support/other-servers/responses.ts';
import { serviceOfTests } from '../../../support/service-of-tests.ts';
import { changeRows } from '../../../support/stored-rows.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../../support/webhook-receiver.ts';
import { idOf, patient, verified } from '../../webhooks/hooked-service.ts';
import { takeLock } from '../locked-service.ts';
import { copySecret, signIn } from './signed-in.ts';

const script = '<script>document.title = "taken over"</script>';

const service = serviceOfTests({ allowedNetworks: ['127.0.0.0/8'] });
let receiver: WebhookReceiver;
let token: string;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  token = (await service.token()).secret;
});
afterAll(() => receiver.close());

const lock = (workspace: string, path: string) => takeLock(service, workspace, token, path);

const attemptsAt = async (id: string): Promise<number | undefined> =>
  (await service.storage.read.selectFrom('deliveries').select('attempts').where('id', '=', id).executeTakeFirst())
    ?.attempts;

/**
 * Waits for the first attempt, and delays the next one by an hour, so that it does not disturb the test. Stores a
 * complete response, as for a public receiver: for a receiver on this machine, the service keeps only the status.
 */
async function firstAttemptAt(id: string): Promise<void> {
  await expect.poll(() => attemptsAt(id), patient).toBe(1);
  const headers = { 'content-type': 'text/html', server: script };
  const response = completeResponse({ status: 500, headers, body: Buffer.from(script), isCut: false }, []);
  const changes = { next_attempt_at: Date.now() + 3_600_000, last_answer: JSON.stringify(response) };
  await changeRows(service.storage, 'deliveries', changes, { id });
}

test('a webhook is added, fails, is inspected, sent again, tested, edited, paused, resumed and removed', async ({
  openPage,
}) => {
  const workspace = await service.workspace();
  const page = await openPage();
  await signIn(page, service, token, `/workspaces/${workspace}/hooks`);
  await page.getByText('This workspace has no webhooks yet.').waitFor();
  await page.getByRole('link', { name: 'Add one' }).click();
  await page.getByLabel('URL').fill('not a URL');
  await page.getByRole('button', { name: 'Register webhook' }).click();
  await expectProblem(page, /status of 422/);
  await page.getByText('This is not a URL.').waitFor();
  await page.getByLabel('URL').fill(receiver.url('/hook?key=query-s3cret'));
  await page.getByLabel('sync.succeeded').uncheck();
  await page.getByLabel('lock.acquired').check();
  await page.getByLabel('Extra headers').fill('x-key: header-s3cret');
  await page.getByRole('button', { name: 'Register webhook' }).click();

  const secret = await copySecret(page, service);
  await page.reload();
  await page.getByText('The form was sent twice. The second time changed nothing.').waitFor();
  await page.getByText('Nothing has been delivered yet.').waitFor();
  expect(await page.content()).not.toContain(secret);

  receiver.behave(raw(500, script));
  await lock(workspace, `Content/${script.replaceAll('/', '_')}.uasset`);
  const failed = await receiver.nextDelivery();
  const id = idOf(failed);
  await firstAttemptAt(id);
  await page.getByRole('link', { name: 'Refresh' }).click();
  await page
    .getByRole('row', { name: /pending/ })
    .getByText('responded with the status 500')
    .waitFor();
  await page.getByRole('link', { name: /^lock\.acquired/ }).click();
  await page.getByText('1 of at most 10').waitFor();
  await page.locator('pre', { hasText: script }).waitFor();
  expect(await page.locator('main script').count()).toBe(0);
  expect(await page.title()).toContain('Delivery of lock.acquired');
  expect(await page.content()).not.toMatch(/header-s3cret|query-s3cret/);

  receiver.behave(nothing(204));
  await page.getByRole('button', { name: 'Send again' }).click();
  await page.getByText('It is being sent again.').waitFor();
  const again = await receiver.nextDelivery();
  expect(idOf(again)).toBe(id);
  expect([again.url, again.headers['x-key']]).toEqual(['/hook?key=query-s3cret', 'header-s3cret']);
  expect(verified(secret, again)).toEqual(JSON.parse(failed.body));
  await expect.poll(() => attemptsAt(id), patient).toBe(2);
  await page.getByRole('link', { name: 'Refresh' }).click();
  await page.locator('.state', { hasText: 'delivered' }).waitFor();
  expect(await page.getByRole('main').innerText()).toContain('204');

  await page.getByRole('link', { name: '/hook?…' }).click();
  await page.getByRole('button', { name: 'Send a test' }).click();
  await page.getByText('Test queued').waitFor();
  const test = await receiver.nextDelivery();
  expect(verified(secret, test)).toMatchObject({ type: 'lock.acquired', data: { test: true, workspace } });
  await expectAccessible(page);
  await page.getByRole('link', { name: 'Edit' }).click();
  await expectAccessible(page);
  expect(await page.content()).not.toMatch(/header-s3cret|query-s3cret/);
  await page.getByLabel('lock.acquired').uncheck();
  await page.getByRole('button', { name: 'Save' }).click();
  await expectProblem(page, /status of 422/);
  await page.getByText('Choose at least one event.').waitFor();
  await page.getByLabel('lock.acquired').check();
  await page.getByLabel('lock.expired').check();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Webhook updated.').waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('The webhook is paused.').waitFor();
  await lock(workspace, 'while-paused');
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('The webhook is active again.').waitFor();
  await lock(workspace, 'after-it');
  expect(JSON.parse((await receiver.nextDelivery()).body).data.lock.path).toBe('after-it');

  await page.getByRole('link', { name: 'Remove…' }).click();
  await page.getByRole('button', { name: 'Remove webhook' }).click();
  await page.getByText('The webhook and its waiting deliveries are removed.').waitFor();
  await page.getByText('This workspace has no webhooks yet.').waitFor();
});
