import { describe, expect, test } from 'vitest';
import { realDatabaseKinds } from '../../../support/databases.ts';
import { auditOf } from '../../webhooks/audited.ts';
import { hookedService, idOf } from '../../webhooks/hooked-service.ts';
import { patient } from '../../webhooks/patience.ts';
import { hookVisitor } from './hook-visitor.ts';
import { storeDelivery } from './stored-delivery.ts';

describe.each(realDatabaseKinds)('what is done to a webhook in its pages on $name', (kind) => {
  const service = hookedService(kind);

  async function hooked() {
    const workspace = await service().hooks();
    const receiver = await service().receiver();
    const visitor = await hookVisitor(service());
    const { body } = await workspace.register({ url: receiver.url(), events: ['lock.acquired', 'lock.released'] });
    const hook = String(body.id);
    const page = `/workspaces/${workspace.id}/hooks/${hook}`;
    const { form_token = '' } = await visitor.newForm(workspace.id);
    /** Where an action leads, and what is said there. */
    async function act(path: string) {
      const { status, headers } = await visitor.post(path, { form_token });
      expect(status).toBe(303);
      const to = headers.get('location') ?? '';
      return /role="status">([^<]*)</.exec((await visitor.get(to)).text)?.[1];
    }
    async function refusalOf(delivery: string) {
      const { status, text } = await visitor.post(`${page}/deliveries/${delivery}/send-again`, { form_token });
      expect(status).toBe(409);
      return /role="alert">It was not sent again\. ([^<]*)</.exec(text)?.[1];
    }
    const stored = (given: Parameters<typeof storeDelivery>[2]) => storeDelivery(service().storage, hook, given);
    const audited = async () => (await auditOf(service().storage, hook)).map(({ action }) => action);
    const isActive = async () =>
      (await service().storage.read.selectFrom('hooks').select('active').where('id', '=', hook).executeTakeFirst())
        ?.active;
    return { ...workspace, receiver, visitor, hook, page, form_token, act, refusalOf, stored, audited, isActive };
  }
  const gone = (hook: string) =>
    service().storage.commit('global', (db) =>
      db.updateTable('hooks').set({ active: 0, inactive_why: 'gone' }).where('id', '=', hook).execute(),
    );

  test('pausing holds what waits, and resuming delivers it; what was so already stays so', async () => {
    const { page, act, isActive, lock, unlock, receiver, audited, hook } = await hooked();
    receiver.behave({ does: 'answer', status: 500 });
    await lock('a');
    await receiver.nextDelivery();
    const attempts = async () =>
      (
        await service().storage.read.selectFrom('deliveries').select('attempts').where('hook_id', '=', hook).execute()
      )[0]?.attempts;
    await expect.poll(attempts, patient).toBe(1);
    expect(await act(`${page}/pause`)).toContain('The webhook is paused.');
    expect(await act(`${page}/pause`)).toContain('Nothing was changed: the webhook was already paused.');
    expect(await isActive()).toBe(0);
    await unlock('a');
    receiver.behave({ does: 'answer', status: 204 });
    // Its next attempt is due, and would be made at once.
    await service().storage.commit('global', (db) =>
      db.updateTable('deliveries').set({ next_attempt_at: 1 }).where('hook_id', '=', hook).execute(),
    );
    expect(await act(`${page}/resume`)).toContain('The webhook is active again.');
    const { body } = await receiver.nextDelivery();
    expect(JSON.parse(body).type).toBe('lock.acquired');
    expect(await act(`${page}/resume`)).toContain('Nothing was changed: the webhook was already active.');
    await gone(hook);
    expect(await act(`${page}/pause`)).toContain('the receiver ended the webhook with 410');
    expect(await isActive()).toBe(0);
    expect(await act(`${page}/resume`)).toContain('Another 410 from its receiver');
    expect(await isActive()).toBe(1);
    expect(await audited()).toEqual(['hook.registered', 'hook.paused', 'hook.resumed', 'hook.resumed']);
  });

  test('removing asks first, then removes it with what waits, and leads to the list', async () => {
    const { visitor, page, act, isActive, stored, hook, audited, form_token } = await hooked();
    await stored({ status: 'pending', finished_at: null });
    const asked = await visitor.get(`${page}/remove`);
    expect(asked.text).toContain('1 delivery is waiting and will never be sent.');
    expect(await isActive()).toBe(1);
    expect(await act(`${page}/remove`)).toContain('The webhook and its waiting deliveries are removed.');
    expect(await isActive()).toBeUndefined();
    expect(
      await service().storage.read.selectFrom('deliveries').select('id').where('hook_id', '=', hook).execute(),
    ).toEqual([]);
    expect(await audited()).toEqual(['hook.registered', 'hook.removed']);
    expect((await visitor.post(`${page}/remove`, { form_token })).status).toBe(404);
    expect((await visitor.get(page)).status).toBe(404);
  });

  test('a delivery that was over is sent again under its id', async () => {
    const { page, act, receiver, stored, audited } = await hooked();
    const delivery = await stored({ status: 'failed', last_error: 'no' });
    expect(await act(`${page}/deliveries/${delivery}/send-again`)).toBe('It is being sent again.');
    expect(idOf(await receiver.nextDelivery())).toBe(delivery);
    const state = async () =>
      (
        await service()
          .storage.read.selectFrom('deliveries')
          .select('status')
          .where('id', '=', delivery)
          .executeTakeFirst()
      )?.status;
    await expect.poll(state, patient).toBe('delivered');
    expect(await audited()).toEqual(['hook.registered', 'delivery.sent-again']);
  });

  test('a delivery after an earlier one about the same is sent again when that is over', async () => {
    const { page, act, stored } = await hooked();
    const later = Date.now() + 3_600_000;
    await stored({ path: 'a', status: 'pending', finished_at: null, next_attempt_at: later });
    const delivery = await stored({ path: 'a', status: 'failed' });
    expect(await act(`${page}/deliveries/${delivery}/send-again`)).toContain(
      'after an earlier delivery about the same subject',
    );
  });

  test('a delivery that cannot be sent again says why, and nothing is changed', async () => {
    const { page, act, refusalOf, stored, hook, audited } = await hooked();
    const later = Date.now() + 3_600_000;
    const open = { status: 'pending', finished_at: null };
    const over = await stored({ path: 'a', status: 'failed' });
    const underWay = await stored({ ...open, path: 'a', next_attempt_at: 1, lease_owner: 'x', lease_until: later });
    const behind = await stored({ ...open, path: 'a', next_attempt_at: null });
    const before = await service()
      .storage.read.selectFrom('deliveries')
      .selectAll()
      .where('hook_id', '=', hook)
      .execute();
    expect(await refusalOf(underWay)).toContain('An attempt is in progress.');
    expect(await refusalOf(behind)).toContain('It waits for an earlier delivery about the same');
    expect(await refusalOf(over)).toContain('An attempt at a later delivery about the same subject is in progress.');
    await act(`${page}/pause`);
    expect(await refusalOf(over)).toContain('The webhook is paused: resume it first.');
    await gone(hook);
    expect(await refusalOf(over)).toContain('The receiver answered 410');
    const after = await service()
      .storage.read.selectFrom('deliveries')
      .selectAll()
      .where('hook_id', '=', hook)
      .execute();
    expect(after).toEqual(before);
    expect(await audited()).toEqual(['hook.registered', 'hook.paused']);
  });
});
