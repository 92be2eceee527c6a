import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { hookEvents } from '../../../src/interface/resources.ts';
import type { Resolve } from '../../../src/service/outbound/target.ts';
import { newWebhookSecret, parseSecret } from '../../../src/service/webhooks/signature.ts';
import { databaseKinds } from '../../support/databases.ts';
import { findRows } from '../../support/stored-rows.ts';
import { nowhere } from './delivering.ts';
import { auditOf, hookedService } from './hooked-service.ts';

const url = 'https://93.184.216.34/hooks?key=the-key-of-the-url';
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

const resolve: Resolve = async (name) =>
  name === 'both.example.com' ? ['93.184.216.34', '192.168.1.1'] : nowhere(name);

describe.each(databaseKinds)('registering a hook on $name', (kind) => {
  const service = hookedService(kind, { resolve });

  const hooksIn = (workspace: string) => findRows(service.storage, 'hooks', { workspace_id: workspace });

  test('subscribes to succeeded syncs by default, and returns a generated secret', async () => {
    const { register } = await service.hooks();
    const { status, body } = await register({ url, colour: 'an unknown field' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^hook_/),
      url,
      events: ['sync.succeeded'],
      branches: null,
      format: 'standard',
      header_names: [],
      active: true,
      created_at: timestamp,
      updated_at: body.created_at,
      secret: expect.stringMatching(/^whsec_/),
    });
    expect(parseSecret(body.secret).ok).toBe(true);
    expect((await register({ url: `${url}2` })).body.secret).not.toBe(body.secret);
  });

  test('never returns a given secret, returns only header names, and removes duplicate events', async () => {
    const { register } = await service.hooks();
    const { status, body } = await register({
      url,
      secret: newWebhookSecret(),
      events: ['sync.failed', 'sync.failed'],
      headers: { Authorization: 'Bearer a-credential', 'X-Pipeline': 'the-nightly-build' },
    });
    expect([status, body.secret, body.events]).toEqual([201, undefined, ['sync.failed']]);
    expect(body.header_names.toSorted()).toEqual(['authorization', 'x-pipeline']);
  });

  test('is audited once with its actor, however often the request is repeated with the same response', async () => {
    const { id: workspace, register } = await service.hooks();
    const key = randomUUID();
    const given = { url, headers: { Authorization: 'Bearer a-credential' } };
    const first = await register(given, key);
    const again = await register(given, key);
    expect([again.status, again.text]).toEqual([201, first.text]);
    const { id } = first.body;
    const changed = { ...given, events: ['lock.released'], secret: newWebhookSecret() };
    // Nothing changes if the same is registered again, even without a key.
    for (const same of [given, changed, changed]) expect((await register(same)).status).toBe(200);
    const acts = await auditOf(service.storage, id);
    const registered = {
      workspace,
      hook: id,
      origin: 'https://93.184.216.34',
      branches: null,
      format: 'standard',
      header_names: ['authorization'],
    };
    expect(acts.map(({ action, detail }) => [action, detail])).toEqual([
      ['hook.registered', { ...registered, events: ['sync.succeeded'] }],
      ['hook.replaced', { ...registered, events: ['lock.released'], new_secret: true }],
    ]);
    for (const act of acts) {
      expect(act).toMatchObject({ actor: 'ada', token_id: expect.stringMatching(/^tok_/) });
      expect(JSON.stringify(act)).not.toMatch(/the-key-of-the-url|a-credential|whsec_|\/hooks/);
    }
    const audited = service.storage.read.selectFrom('audit').where('action', 'like', 'hook.%');
    const addresses = await audited.select('address').distinct().execute();
    expect(addresses).toEqual([{ address: '127.0.0.1' }]);
  });

  test('replaces a hook with the same URL except for its id and its secret, and returns no secret', async () => {
    const { id, register } = await service.hooks();
    const { body: first } = await register({
      url,
      events: [...hookEvents],
      branches: ['main'],
      format: 'github',
      headers: { 'x-api-key': 'the-first-api-key' },
    });
    const { status, body } = await register({ url, branches: ['release/1', 'art/änderung'] });
    expect(status).toBe(200);
    const { secret, ...rest } = first;
    expect(body).toEqual({
      ...rest,
      events: ['sync.succeeded'],
      branches: ['release/1', 'art/änderung'],
      format: 'standard',
      header_names: [],
      updated_at: timestamp,
    });
    expect(await hooksIn(id)).toMatchObject([{ secret }]);

    const given = newWebhookSecret();
    const { status: again, body: replaced } = await register({ url, secret: given });
    expect([again, replaced.id, replaced.secret]).toEqual([200, first.id, undefined]);
    expect(await hooksIn(id)).toMatchObject([{ secret: given }]);
  });

  test('treats other spellings of a URL as the same hook, and other workspaces separately', async () => {
    const [one, other] = [await service.hooks(), await service.hooks()];
    const { body: first } = await one.register({ url: 'https://93.184.216.34/a/../hooks' });
    const { status, body } = await one.register({ url: 'HTTPS://93.184.216.34:443/hooks' });
    expect([status, body.id, body.url]).toEqual([200, first.id, 'https://93.184.216.34/hooks']);
    const elsewhere = await other.register({ url: body.url });
    expect(elsewhere.status).toBe(201);
    expect(elsewhere.body.id).not.toBe(first.id);
  });

  test.each<[string, string, Record<string, unknown>]>([
    ['a missing URL', '#/url', { url: undefined }],
    ['a private IP address', '#/url', { url: 'https://10.0.0.1/?key=the-key-of-the-url' }],
    ['a name with a private IP address', '#/url', { url: 'https://both.example.com/?key=the-key-of-the-url' }],
    ['no event', '#/events', { events: [] }],
    ['an unknown event', '#/events/1', { events: ['sync.failed', 'sync.begun'] }],
    ['an invalid branch', '#/branches/1', { branches: ['main', '-x'] }],
    ['an invalid secret', '#/secret', { secret: 'correct horse battery staple' }],
    ['an unknown format', '#/format', { format: 'xml' }],
    ['a header that a delivery sets', '#/headers', { headers: { 'Webhook-Signature': 'v1,a-signature' } }],
  ])('rejects %s, and reports the field', async (_, pointer, fields) => {
    const { id, register } = await service.hooks();
    const { status, body } = await register({ url, ...fields });
    expect(status).toBe(422);
    expect(body.errors).toEqual([{ pointer, detail: expect.stringMatching(/^([A-Z]|https?:).*[.?]$/) }]);
    expect(body.type).toBe('urn:workspace-automation:problem:invalid-request');
    expect(await hooksIn(id)).toEqual([]);
  });

  test('creates one hook for parallel requests with the same URL', async () => {
    const { id, register } = await service.hooks();
    const replies = await Promise.all(Array.from({ length: 8 }, () => register({ url })));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 200, 200, 200, 201]);
    expect(new Set(replies.map(({ body }) => body.id)).size).toBe(1);
    expect(await hooksIn(id)).toHaveLength(1);
  });

  test('refuses a hook beyond the quota with 422 and advice', async () => {
    const { id, register } = await service.hooks();
    await register({ url: url });
    await service.storage.commit('global', (db) =>
      sql`insert into hooks (id, url, workspace_id, events, format, secret, headers, active, created_at, updated_at)
        with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 99)
        select 'hook_' || n, 'https://example.com/' || n, workspace_id, '[]', format, '', headers, 0, 0, 0
          from hooks, numbers where workspace_id = ${id}`.execute(db),
    );
    const { status, body, headers } = await register({ url: `${url}2` });
    expect(status).toBe(422);
    expect(headers.get('retry-after')).toBeNull();
    expect(body).toMatchObject({
      type: 'urn:workspace-automation:problem:quota-exceeded',
      detail: expect.stringMatching(/^The workspace has its maximum of 100 webhooks.*Remove one/),
      errors: [{ pointer: '#/url' }],
    });
    expect((await register({ url: url })).status).toBe(200);

    const { register: inAnother } = await service.hooks();
    expect((await inAnother({ url: `${url}2` })).status).toBe(201);
  });
});
