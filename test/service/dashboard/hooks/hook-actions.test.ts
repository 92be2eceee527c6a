import { describe, expect, test } from 'vitest';
import { realDatabaseKinds } from '../../../support/databases.ts';
import { changeRows } from '../../../support/stored-rows.ts';
import { auditOf, hookedService, idOf, patient } from '../../webhooks/hooked-service.ts';
import { hookVisitor } from './hook-visitor.ts';
import { storeDelivery } from './stored-delivery.ts';

describe.each(realDatabaseKinds)('what is done to a webhook in its pages on $name', (kind) => {
  const service = hookedService(kind);

  async function hooked() {
    const { id: workspace, register } = await service.hooks();
    const receiver = await service.receiver();
    const visitor = await hookVisitor(service);
    const { body } = await register({ url: receiver.url(), events: ['lock.acquired'] });
    const hook = String(body.id);
    const page = `/workspaces/${workspace}/hooks/${hook}`;
    const { form_token = '' } = await visitor.newForm(workspace);
    const { storage } = service;
    return {
      ...{ receiver, visitor, hook, page },
      send: (path: string) => visitor.post(page + path, { form_token }),
      /** What is said where an action leads. */
      async act(path: string) {
        const { status, headers } = await visitor.post(page + path, { form_token });
        expect(status).toBe(303);
        return /role="status">([^<]*)</.exec((await visitor.get(headers.get('location') ?? '')).text)?.[1];
      },
      stored: (given: Parameters<typeof storeDelivery>[2]) => storeDelivery(storage, hook, given),
      audited: async () => (await auditOf(storage, hook)).map(({ action }) => action),
      deliveries: () => storage.read.selectFrom('deliveries').selectAll().where('hook_id', '=', hook).execute(),
      isActive: async () =>
        (await storage.read.selectFrom('hooks').select('active').where('id', '=', hook).executeTakeFirst())?.active,
    };
  }

  test('pausing holds what waits, and resuming delivers it; what was so already stays so', async () => {
    const { act, isActive, stored, receiver, audited, hook } = await hooked();
    expect(await act('/pause')).toContain('The webhook is paused.');
    expect(await act('/pause')).toContain('Nothing was changed: the webhook was already paused.');
    expect(await isActive()).toBe(0);
    const waiting = await stored({ status: 'pending', finished_at: null, next_attempt_at: 1 });
    expect(await act('/resume')).toContain('The webhook is active again.');
    expect(idOf(await receiver.nextDelivery())).toBe(waiting);
    expect(await act('/resume')).toContain('Nothing was changed: the webhook was already active.');
    await changeRows(service.storage, 'hooks', { active: 0, inactive_why: 'gone' }, { id: hook });
    expect(await act('/pause')).toContain('the receiver ended the webhook with 410');
    expect(await isActive()).toBe(0);
    expect(await act('/resume')).toContain('Another 410 from its receiver');
    expect(await isActive()).toBe(1);
    expect(await audited()).toEqual(['hook.registered', 'hook.paused', 'hook.resumed', 'hook.resumed']);
  });

  test('removing asks first, then removes it with what waits, and leads to the list', async () => {
    const { visitor, page, act, send, isActive, stored, deliveries, audited } = await hooked();
    await stored({ status: 'pending', finished_at: null });
    expect((await visitor.get(`${page}/remove`)).text).toContain('1 delivery is waiting and will never be sent.');
    expect(await isActive()).toBe(1);
    expect(await act('/remove')).toContain('The webhook and its waiting deliveries are removed.');
    expect([await isActive(), await deliveries()]).toEqual([undefined, []]);
    expect(await audited()).toEqual(['hook.registered', 'hook.removed']);
    expect((await send('/remove')).status).toBe(404);
    expect((await visitor.get(page)).status).toBe(404);
  });

  test('a delivery is sent again under its id, or when an earlier one is over, or not at all and says why', async () => {
    const { act, send, receiver, stored, deliveries, audited } = await hooked();
    const delivery = await stored({ path: 'b', status: 'failed', last_error: 'no' });
    expect(await act(`/deliveries/${delivery}/send-again`)).toBe('It is being sent again.');
    expect(idOf(await receiver.nextDelivery())).toBe(delivery);
    await expect.poll(async () => (await deliveries())[0]?.status, patient).toBe('delivered');
    await stored({ status: 'pending', finished_at: null, next_attempt_at: Date.now() + 3_600_000 });
    const second = await stored({ status: 'failed' });
    const notice = 'after an earlier delivery about the same subject';
    expect(await act(`/deliveries/${second}/send-again`)).toContain(notice);
    await act('/pause');
    const before = await deliveries();
    const { status, text } = await send(`/deliveries/${second}/send-again`);
    expect(status).toBe(409);
    expect(text).toContain('role="alert">It was not sent again. The webhook is paused: resume it first.');
    expect(await deliveries()).toEqual(before);
    const audit = ['hook.registered', 'delivery.sent-again', 'delivery.sent-again', 'hook.paused'];
    expect(await audited()).toEqual(audit);
  });
});
