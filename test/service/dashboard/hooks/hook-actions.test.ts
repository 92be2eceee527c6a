import { describe, expect, test } from 'vitest';
import { databaseKinds } from '../../../support/databases.ts';
import { nothing } from '../../../support/other-servers/responses.ts';
import { changeRows } from '../../../support/stored-rows.ts';
import { auditOf, hookedService, idOf, patient } from '../../webhooks/hooked-service.ts';
import { hookVisitor } from './hook-visitor.ts';
import { storeDelivery } from './stored-delivery.ts';

describe.each(databaseKinds)('the actions on the pages of a webhook on $name', (kind) => {
  const service = hookedService(kind);

  async function hooked() {
    const { id: workspace, register } = await service.hooks();
    const receiver = await service.receiver();
    const visitor = await hookVisitor(service);
    const { body } = await register({ url: receiver.url(), events: ['lock.acquired'] });
    const hook = String(body.id);
    const page = `/workspaces/${workspace}/hooks/${hook}`;
    const { storage } = service;
    return {
      ...{ receiver, visitor, hook, page },
      send: (path: string) => visitor.post(page + path),
      /** Performs an action, and returns the notice on the resulting page. */
      async act(path: string) {
        const { status, headers } = await visitor.post(page + path);
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

  test('pausing holds waiting deliveries, resuming sends them, and repeating either changes nothing', async () => {
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

  test('removing asks first, then removes the webhook with its waiting deliveries, and leads to the list', async () => {
    const { visitor, page, act, send, isActive, stored, deliveries, audited } = await hooked();
    await stored({ status: 'pending', finished_at: null });
    expect((await visitor.get(`${page}/remove`)).text).toContain('1 delivery is waiting and will never be sent.');
    expect(await isActive()).toBe(1);
    expect(await act('/remove')).toContain('The webhook and its waiting deliveries are removed.');
    expect(await audited()).toEqual(['hook.registered', 'hook.removed']);
    expect((await send('/remove')).status).toBe(404);
    expect((await visitor.get(page)).status).toBe(404);
    await expect.poll(async () => [await isActive(), await deliveries()], patient).toEqual([undefined, []]);
  });

  test('a test sends an example of a subscribed event in one attempt, and nothing while paused', async () => {
    const { act, receiver, audited, deliveries } = await hooked();
    receiver.behave(nothing(500));
    expect(await act('/test')).toContain('Test queued');
    const { body } = await receiver.nextDelivery();
    expect(JSON.parse(body)).toMatchObject({
      type: 'lock.acquired',
      data: { test: true, lock: { path: 'test/of-this-webhook.txt' } },
    });
    await expect.poll(async () => (await deliveries())[0]?.status, patient).toBe('failed');
    await act('/pause');
    expect(await act('/test')).toContain('No test was sent');
    expect(await deliveries()).toHaveLength(1);
    expect(await audited()).toEqual(['hook.registered', 'hook.tested', 'hook.paused']);
  });

  test('the list and the overview show since when the attempts for a webhook have been failing', async () => {
    const { act, receiver, page, hook, visitor, deliveries } = await hooked();
    const failingSince = async () =>
      (
        await service.storage.read
          .selectFrom('hooks')
          .select('failing_since')
          .where('id', '=', hook)
          .executeTakeFirstOrThrow()
      ).failing_since;
    const send = async (status: number, ended: string) => {
      receiver.behave(nothing(status));
      await act('/test');
      await receiver.nextDelivery();
      await expect.poll(async () => (await deliveries()).at(-1)?.status, patient).toBe(ended);
    };
    const shown = async () => {
      const pages = [page, page.replace(/\/[^/]*$/, ''), '/'].map((address) => visitor.get(address));
      return (await Promise.all(pages)).map(({ text }) => /failing<\/span> <span[^>]*>since /.test(text));
    };
    expect(await shown()).toEqual([false, false, false]);
    await send(500, 'failed');
    const first = await failingSince();
    expect(first).not.toBeNull();
    await send(503, 'failed');
    expect(await failingSince()).toBe(first);
    expect(await shown()).toEqual([true, true, true]);
    await send(204, 'delivered');
    expect(await failingSince()).toBeNull();
    expect(await shown()).toEqual([false, false, false]);
    await send(500, 'failed');
    await act('/pause');
    await act('/resume');
    expect(await failingSince()).toBeNull();
  });

  test('editing keeps a pause and the values left empty, and cannot change the URL', async () => {
    const { visitor, page, hook, audited, act } = await hooked();
    const row = () =>
      service.storage.read.selectFrom('hooks').selectAll().where('id', '=', hook).executeTakeFirstOrThrow();
    await changeRows(service.storage, 'hooks', { headers: '{"x-key":"header-s3cret","x-old":"o"}' }, { id: hook });
    await act('/pause');
    const before = await row();
    const { text } = await visitor.get(`${page}/edit`);
    expect(text).toMatch(/x-key: \nx-old: /);
    expect(text).not.toContain('header-s3cret');
    const fields = { event: ['sync.failed'], branches: 'main', format: 'standard', headers: 'x-key:\nx-new: n' };
    const elsewhere = { ...fields, url: 'https://evil.example/', secret: '' };
    const { status } = await visitor.post(`${page}/edit`, elsewhere);
    expect(status).toBe(303);
    expect(await row()).toMatchObject({
      url: before.url,
      secret: before.secret,
      events: '["sync.failed"]',
      branches: '["main"]',
      headers: '{"x-key":"header-s3cret","x-new":"n"}',
      active: 0,
    });
    const wrong = await visitor.post(`${page}/edit`, { ...fields, format: 'fax' });
    expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('Nothing was changed.')]);
    expect(await audited()).toEqual(['hook.registered', 'hook.paused', 'hook.replaced']);
  });

  test('a delivery is sent again under its id, also after an earlier one, or refused with a reason', async () => {
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
