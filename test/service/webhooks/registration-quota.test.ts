import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { databaseKinds } from '../../support/databases.ts';
import { hookedService } from './hooked-service.ts';

const urlOf = (name: string) => `https://ci.example.com/${name}?key=of-the-receiver`;

describe.each(databaseKinds)('the quotas of webhooks on $name', (kind) => {
  const service = hookedService(kind);

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
});
