import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { maxWaitingDeliveries } from '../../../src/service/outbox/outbox.ts';
import { databaseKinds } from '../../support/databases.ts';
import { signedIn } from '../dashboard/browser-like.ts';
import { hookedService, patient } from './hooked-service.ts';

const urlOf = (name: string) => `https://ci.example.com/${name}?key=of-the-receiver`;

describe.each(databaseKinds)('the quotas of webhooks on $name', (kind) => {
  const service = hookedService(kind);

  const metric = async (name: string): Promise<number> => {
    const { text } = await service.call('GET', '/metrics');
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  };

  test('refuses a hook beyond the quota with 422 and advice', async () => {
    const { id, register } = await service.hooks();
    await register({ url: urlOf('first') });
    await service.storage.commit('global', (db) =>
      sql`insert into hooks (id, url, workspace_id, events, format, secret, headers, active, created_at, updated_at)
        with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 99)
        select 'hook_' || n, 'https://example.com/' || n, workspace_id, '[]', format, '', headers, 0, 0, 0
          from hooks, numbers where workspace_id = ${id}`.execute(db),
    );
    const { status, body, headers } = await register({ url: urlOf('another') });
    expect(status).toBe(422);
    expect(headers.get('retry-after')).toBeNull();
    expect(body).toMatchObject({
      type: 'urn:workspace-automation:problem:quota-exceeded',
      detail: expect.stringMatching(/^The workspace has its maximum of 100 webhooks.*Remove one/),
      errors: [{ pointer: '#/url' }],
    });
    expect((await register({ url: urlOf('first') })).status).toBe(200);

    const { register: inAnother } = await service.hooks();
    expect((await inAnother({ url: urlOf('another') })).status).toBe(201);
  });

  test('reports dropped events on the page, in metrics and in the log, and still grants locks', async () => {
    const { id, register, lock } = await service.hooks();
    // Nothing is delivered, because the name in the URL does not resolve.
    const { body: hook } = await register({ url: urlOf('first'), events: ['lock.acquired'] });
    await service.storage.commit('global', (db) =>
      db
        .insertInto('hook_backlogs')
        .values({ hook_id: hook.id, waiting: maxWaitingDeliveries - 1, dropped: 0 })
        .execute(),
    );
    await expect.poll(() => metric('workspace_webhook_deliveries_waiting_max'), patient).toBe(maxWaitingDeliveries - 1);
    for (const path of ['a', 'b', 'c']) expect((await lock(path)).status).toBe(201);
    const visitor = await signedIn(service, { scopes: ['hooks:write'] });
    const { text: list } = await visitor.get(`/workspaces/${id}/hooks`);
    expect(list).toContain('2 events were dropped, because its queue was full.');
    await expect.poll(() => metric('workspace_webhook_events_dropped'), patient).toBe(2);
    await expect.poll(() => metric('workspace_webhook_deliveries_waiting_max'), patient).toBe(maxWaitingDeliveries);
    expect(service.log()).toContain('webhook queue full: events dropped');
  });
});
