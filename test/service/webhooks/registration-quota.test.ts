import { describe, expect, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { signedIn } from '../dashboard/browser-like.ts';
import { hookedService, patient } from './hooked-service.ts';

const urls = ['a', 'b', 'c'].map((name) => `https://ci.example.com/${name}?key=of-the-receiver`);
const [first = '', second = '', third = ''] = urls;

describe.each(databaseKinds)('a service with small quotas of webhooks on $name', (kind) => {
  const service = hookedService(kind, { hookQuotas: { maxHooks: 2, maxWaitingDeliveries: 3 } });

  const metric = async (name: string): Promise<number> => {
    const { text } = await service.call('GET', '/metrics');
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  };

  test('refuses a hook beyond the quota with 422 and advice', async () => {
    const { register } = await service.hooks();
    for (const url of [first, second]) expect((await register({ url })).status).toBe(201);
    const { status, body, headers } = await register({ url: third });
    expect(status).toBe(422);
    expect(headers.get('retry-after')).toBeNull();
    expect(body).toMatchObject({
      type: 'urn:workspace-automation:problem:quota-exceeded',
      detail: expect.stringMatching(/^The workspace has its maximum of 2 webhooks.*Remove one.*--max-hooks/),
      errors: [{ pointer: '#/url' }],
    });
    expect((await register({ url: first })).status).toBe(200);

    const { register: inAnother } = await service.hooks();
    expect((await inAnother({ url: third })).status).toBe(201);
    await expect.poll(() => metric('workspace_webhooks_max'), patient).toBe(2);
  });

  test('reports dropped events on the page, in metrics and in the log, and still grants locks', async () => {
    const { id, register, lock } = await service.hooks();
    // Nothing is delivered, because the name in the URL does not resolve.
    const { body: hook } = await register({ url: first, events: ['lock.acquired'] });
    await service.storage.commit('global', (db) =>
      db.insertInto('hook_backlogs').values({ hook_id: hook.id, waiting: 2, dropped: 0 }).execute(),
    );
    for (const path of ['a', 'b', 'c']) expect((await lock(path)).status).toBe(201);
    const visitor = await signedIn(service, { scopes: ['hooks:write'] });
    const { text: list } = await visitor.get(`/workspaces/${id}/hooks`);
    expect(list).toContain('2 events were dropped: its queue is full.');
    await expect.poll(() => metric('workspace_webhook_events_dropped'), patient).toBe(2);
    await expect.poll(() => metric('workspace_webhook_deliveries_waiting_max'), patient).toBe(3);
    expect(service.log()).toContain('webhook queue full: events dropped');
  });
});
