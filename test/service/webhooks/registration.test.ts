import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { hookEvents } from '../../../src/interface/resources.ts';
import { newSecret, parseSecret } from '../../../src/service/webhooks/signature.ts';
import { realDatabaseKinds } from '../../support/databases.ts';
import { nowhere } from './delivering.ts';
import { hookedService } from './hooked-service.ts';

const url = 'https://93.184.216.34/hooks?key=the-key-of-the-url';
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe.each(realDatabaseKinds)('registering a hook on $name', (kind) => {
  const service = hookedService(kind, { resolve: nowhere });

  const storedSecret = (id: string) =>
    service().storage.read.selectFrom('hooks').select('secret').where('id', '=', id).executeTakeFirstOrThrow();

  test('with an address alone: it is told of syncs that succeeded, and the answer has a secret made for it', async () => {
    const { register } = await service().hooks();
    const { status, body } = await register({ url });
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
  });

  test('each hook gets a secret of its own', async () => {
    const { register } = await service().hooks();
    const [one, other] = [await register({ url }), await register({ url: `${url}2` })];
    expect(one.body.secret).not.toBe(other.body.secret);
  });

  test('a secret that was given is not shown; of headers only the names are', async () => {
    const { register } = await service().hooks();
    const { status, body } = await register({
      url,
      secret: newSecret(),
      headers: { Authorization: 'Bearer a-credential', 'X-Pipeline': 'the-nightly-build' },
    });
    expect(status).toBe(201);
    expect(body.secret).toBeUndefined();
    expect(body.header_names.toSorted()).toEqual(['authorization', 'x-pipeline']);
  });

  test('the audit tells who registered and who replaced it, once however often the request is repeated, and no secret', async () => {
    const { id: workspace, register } = await service().hooks();
    const key = randomUUID();
    const given = { url, headers: { Authorization: 'Bearer a-credential' } };
    const { id } = (await register(given, key)).body;
    await register(given, key);
    await register({ ...given, events: ['lock.released'], secret: newSecret() });
    const entries = await service().storage.read.selectFrom('audit').selectAll().orderBy('sequence').execute();
    const ofHook = entries.filter(({ detail }) => detail.includes(id));
    const origin = 'https://93.184.216.34';
    const registered = { workspace, hook: id, origin, branches: null, format: 'standard' };
    expect(ofHook.map(({ action, detail }) => [action, JSON.parse(detail)])).toEqual([
      ['hook.registered', { ...registered, events: ['sync.succeeded'], header_names: ['authorization'] }],
      [
        'hook.replaced',
        {
          ...registered,
          events: ['lock.released'],
          header_names: ['authorization'],
          new_secret: true,
          was_inactive: null,
        },
      ],
    ]);
    for (const entry of ofHook) {
      expect(entry).toMatchObject({ actor: 'ada', token_id: expect.stringMatching(/^tok_/) });
      expect(entry.address).toContain('127.0.0.1');
      expect(JSON.stringify(entry)).not.toMatch(/the-key-of-the-url|a-credential|whsec_|\/hooks/);
    }
  });

  test('unknown fields are ignored, and an event that is named twice counts once', async () => {
    const { register } = await service().hooks();
    const { status, body } = await register({ url, colour: 'blue', events: ['sync.failed', 'sync.failed'] });
    expect([status, body.events]).toEqual([201, ['sync.failed']]);
  });

  test('the same address again replaces everything but the id and the secret, and shows no secret', async () => {
    const { register } = await service().hooks();
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
    expect(await storedSecret(first.id)).toEqual({ secret });
  });

  test('the same address again with a secret replaces the secret', async () => {
    const { register } = await service().hooks();
    const { body: first } = await register({ url });
    const secret = newSecret();
    const { status, body } = await register({ url, secret });
    expect([status, body.id, body.secret]).toEqual([200, first.id, undefined]);
    expect(await storedSecret(first.id)).toEqual({ secret });
  });

  test('another spelling of an address is the same address', async () => {
    const { register } = await service().hooks();
    const { body: first } = await register({ url: 'https://93.184.216.34/a/../hooks' });
    const { status, body } = await register({ url: 'HTTPS://93.184.216.34:443/hooks' });
    expect([status, body.id, body.url]).toEqual([200, first.id, 'https://93.184.216.34/hooks']);
  });

  test('the same address in another workspace is another hook', async () => {
    const [one, other] = [await service().hooks(), await service().hooks()];
    const [{ body: first }, { status, body }] = [await one.register({ url }), await other.register({ url })];
    expect(status).toBe(201);
    expect(body.id).not.toBe(first.id);
  });

  test('registering again wakes up a hook that sleeps', async () => {
    const { register } = await service().hooks();
    const { body: first } = await register({ url });
    const { storage } = service();
    await storage.commit('global', (db) =>
      db.updateTable('hooks').set({ active: 0 }).where('id', '=', first.id).execute(),
    );
    const { status, body } = await register({ url });
    expect([status, body.id, body.active]).toEqual([200, first.id, true]);
  });

  test.each<[string, string, Record<string, unknown>]>([
    ['no address', '#/url', { url: undefined }],
    ['an address that is a number', '#/url', { url: 7 }],
    ['an empty address', '#/url', { url: '' }],
    ['a path instead of an address', '#/url', { url: '/hooks' }],
    ['another protocol', '#/url', { url: 'ftp://93.184.216.34/' }],
    ['a password in the address', '#/url', { url: 'https://ada:a-password@93.184.216.34/' }],
    ['a fragment', '#/url', { url: 'https://93.184.216.34/#part' }],
    ['a control character', '#/url', { url: 'https://93.184.216.34/\u0000' }],
    ['an address without end', '#/url', { url: `https://93.184.216.34/${'a'.repeat(2_048)}` }],
    ['no event', '#/events', { events: [] }],
    ['an unknown event', '#/events/1', { events: ['sync.failed', 'sync.begun'] }],
    ['events that are not a list', '#/events', { events: 'sync.failed' }],
    ['no branch', '#/branches', { branches: [] }],
    ['a branch that cannot be one', '#/branches/1', { branches: ['main', '-x'] }],
    ['a full reference', '#/branches/0', { branches: ['refs/heads/main'] }],
    ['too many branches', '#/branches', { branches: Array.from({ length: 101 }, (_, index) => `b${index}`) }],
    ['a secret of another form', '#/secret', { secret: 'correct horse battery staple' }],
    ['a secret that is too short', '#/secret', { secret: 'whsec_c2hvcnQtc2VjcmV0' }],
    ['no secret at all', '#/secret', { secret: null }],
    ['an unknown format', '#/format', { format: 'xml' }],
    ['lock events for buildkite', '#/format', { format: 'buildkite', events: ['lock.acquired'] }],
    ['headers that are a list', '#/headers', { headers: ['authorization'] }],
    ['a header that is a number', '#/headers/x-number', { headers: { 'x-number': 7 } }],
    ['a header that a delivery sets', '#/headers', { headers: { 'Webhook-Signature': 'v1,a-signature' } }],
    ['a name that is none', '#/headers', { headers: { 'two words': 'some-value' } }],
    ['a line break in a header', '#/headers', { headers: { 'x-evil': 'a-value\r\nhost: example.com' } }],
    ['a header named __proto__', '#/headers', JSON.parse('{"headers":{"__proto__":"some-value"}}')],
    ['an empty header', '#/headers', { headers: { authorization: '' } }],
    ['the same header twice', '#/headers', { headers: { 'X-Key': 'one-value', 'x-key': 'other-value' } }],
  ])('refuses %s, and says where', async (_, pointer, fields) => {
    const { id, register } = await service().hooks();
    const { status, body } = await register({ url, ...fields });
    expect(status).toBe(422);
    expect(body.errors).toEqual([{ pointer, detail: expect.stringMatching(/^[A-Z].*[.?]$/) }]);
    expect(body.type).toBe('urn:workspace-automation:problem:invalid-request');
    const { rows } = await hooksIn(id);
    expect(rows).toBe(0);
  });

  const hooksIn = (workspace: string) =>
    service()
      .storage.read.selectFrom('hooks')
      .select(({ fn }) => fn.countAll<number>().as('rows'))
      .where('workspace_id', '=', workspace)
      .executeTakeFirstOrThrow();

  test('tells of everything that is wrong at once', async () => {
    const { register } = await service().hooks();
    const { body } = await register({ url: 7, format: 'xml', events: [] });
    expect(body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(['#/url', '#/events', '#/format']);
  });

  test('the same request with the same Idempotency-Key gets the same 201, with the same secret', async () => {
    const { id, register } = await service().hooks();
    const key = randomUUID();
    const first = await register({ url }, key);
    const again = await register({ url }, key);
    expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
    expect([first, again].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true']);
    expect((await hooksIn(id)).rows).toBe(1);
  });

  test('another request with the same Idempotency-Key is refused, and one that was refused leaves it free', async () => {
    const { register } = await service().hooks();
    const key = randomUUID();
    expect((await register({ url: 'https://10.0.0.1/' }, key)).status).toBe(422);
    expect((await register({ url }, key)).status).toBe(201);
    const { status, body } = await register({ url, format: 'github' }, key);
    expect([status, body.type]).toEqual([422, 'urn:workspace-automation:problem:idempotency-key-reused']);
  });

  test('two registrations of one address at the same moment are one hook', async () => {
    const { id, register } = await service().hooks();
    const replies = await Promise.all(Array.from({ length: 8 }, () => register({ url })));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 200, 200, 200, 201]);
    expect(new Set(replies.map(({ body }) => body.id)).size).toBe(1);
    expect((await hooksIn(id)).rows).toBe(1);
  });
});
