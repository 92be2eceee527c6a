import { describe, expect, test } from 'vitest';
import { newWebhookSecret } from '../../../../src/service/webhooks/signature.ts';
import { databaseKinds } from '../../../support/databases.ts';
import { auditOf, hookedService, patient } from '../../webhooks/hooked-service.ts';
import { type HookForm, hookVisitor, problemBeside, secretIn } from './hook-visitor.ts';

const url = 'https://ci.example.com/hook';
const header = 'authorization: Bearer t0ken-of-the-receiver';
const value = 't0ken-of-the-receiver';

/** Mistakes in the form, and the same as API requests. The schema of the API checks both. */
const mistakes: readonly (readonly [name: string, field: string, form: HookForm, body?: Record<string, unknown>])[] = [
  ['a URL with a trailing space', 'url', { url: `${url} ` }],
  ['an invalid URL', 'url', { url: 'ci.example.com' }],
  ['a password in the URL', 'url', { url: 'https://a:pa55word@b.example/' }],
  ['a URL inside the network', 'url', { url: 'https://10.0.0.1/' }],
  ['an unknown event', 'events', { url, event: ['x'] }, { url, events: ['x'] }],
  ['an invalid branch', 'branches', { url, branches: 'a b' }, { url, branches: ['a b'] }],
  ['an unknown format', 'format', { url, format: '<b>' }],
  ['a secret that is too short', 'secret', { url, secret: 'whsec_c2hvcnQ=' }],
  ['a header without a value', 'headers', { url, headers: 'x-key:' }, { url, headers: { 'x-key': '' } }],
  ['a repeated header', 'headers', { url, headers: 'x: 1\nX: 2' }, { url, headers: { x: '1', X: '2' } }],
];

describe.each(databaseKinds)('the form of a new webhook on $name', (kind) => {
  const service = hookedService(kind);
  const stored = async (workspace: string) =>
    service.storage.read.selectFrom('hooks').selectAll().where('workspace_id', '=', workspace).execute();
  const started = async () => ({ ...(await service.hooks()), visitor: await hookVisitor(service) });

  test.for(mistakes)(
    'shows the error of the API at the field with %s',
    async ([_name, field, form, body = { ...form }]) => {
      const { id, register, visitor } = await started();
      const page = await visitor.register(id, form);
      const response = await register(body);
      expect([page.status, response.status]).toEqual([422, 422]);
      const entry = field === 'branches' ? 'Branch 1: ' : '';
      expect(problemBeside(field, page.text)).toBe(`${entry}${response.body.errors[0].detail}`);
      expect(page.text).toContain(`No webhook was registered. Check <a href="#${field}">`);
      expect(page.text).toMatch(/aria-invalid="true"|aria-describedby="format-problem"/);
      expect(await stored(id)).toEqual([]);
    },
  );

  test('reports mistakes that only a form can have', async () => {
    const { id, visitor } = await started();
    const wrong = async (form: Partial<HookForm>, field: string) =>
      problemBeside(field, (await visitor.register(id, { url, ...form })).text);
    expect(await wrong({ event: [] }, 'events')).toBe('Choose at least one event.');
    expect(await wrong({ headers: 'x: 1\n\nno colon' }, 'headers')).toContain('Header 2 has no colon');
    expect(await wrong({ headers: 'x: 1\nx: 2' }, 'headers')).toContain('same name');
    const form = { ...(await visitor.newForm(id)), form_id: 'x', url, event: 'sync.failed', format: 'standard' };
    expect((await visitor.post(`/workspaces/${id}/hooks`, form)).status).toBe(400);
    expect(await stored(id)).toEqual([]);
  });

  test('reports all of several mistakes, and keeps the entered values except secrets', async () => {
    const { id, visitor } = await started();
    const secret = newWebhookSecret();
    const hostile = '"><img src=x onerror=alert(1)>\u202e';
    const { status, text } = await visitor.register(id, {
      url: 'https://me:pa55word@ci.example.com/',
      event: ['sync.failed', 'lock.expired'],
      branches: `</textarea>${hostile}\nmain`,
      format: 'buildkite',
      secret,
      headers: `${header}\n${hostile}: ${value}`,
    });
    expect(status).toBe(422);
    const fields = ['url', 'events', 'branches', 'format', 'secret', 'headers'];
    expect(fields.filter((field) => problemBeside(field, text))).toEqual(['url', 'branches', 'headers']);
    expect(text).toContain('value="https://ci.example.com/"');
    expect([...text.matchAll(/value="([^"]*)" checked/g)].map(([, chosen]) => chosen)).toEqual([
      'sync.failed',
      'lock.expired',
      'buildkite',
    ]);
    expect(text).toContain('&lt;/textarea&gt;');
    expect(text).toMatch(/>\n?authorization: \n/);
    expect(text).not.toContain('<img src=x');
    for (const typed of [secret, value, 'pa55word']) expect(text).not.toContain(typed);
    expect(text).toContain('Enter the secret and the values of headers again');
  });

  test('registers a webhook as entered, and shows the generated secret only once', async () => {
    const { id, visitor } = await started();
    const address = `${url}?key=query-s3cret`;
    const made = await visitor.register(id, {
      url: address,
      event: ['lock.released', 'sync.failed'],
      branches: 'main\n\n release/1.0 \n',
      format: 'github',
      headers: `${header}\nX-Other:  two words`,
    });
    expect(made.status).toBe(200);
    const secret = secretIn(made.text);
    const [hook] = await stored(id);
    expect(hook).toMatchObject({
      url: address,
      events: '["sync.failed","lock.released"]',
      branches: '["main","release/1.0"]',
      format: 'github',
      secret,
      headers: JSON.stringify({ authorization: `Bearer ${value}`, 'x-other': 'two words' }),
      active: 1,
    });
    expect(await auditOf(service.storage, hook?.id ?? '')).toMatchObject([{ action: 'hook.registered', actor: 'ada' }]);
    const { read } = service.storage;
    const remembered = await read.selectFrom('remembered_answers').selectAll().execute();
    const audit = await read.selectFrom('audit').selectAll().execute();
    const page = (await visitor.get(`/workspaces/${id}/hooks/${hook?.id}`)).text;
    const later = [page, service.log(), JSON.stringify([remembered, audit])].join('\n');
    expect(later).toContain('authorization');
    for (const hidden of [secret, value, 'two words', 'query-s3cret']) expect(later).not.toContain(hidden);
    for (const hidden of [value, 'query-s3cret']) expect(made.text).not.toContain(hidden);
  });

  test('registers one webhook and shows one secret even if sent several times, at once or later', async () => {
    const { id, visitor } = await started();
    const form = { ...(await visitor.newForm(id)), url, event: 'sync.failed', format: 'standard' };
    const send = () => visitor.post(`/workspaces/${id}/hooks`, form);
    const answers = await Promise.all([send(), send(), send()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 303, 303]);
    const [secret = '', ...secrets] = answers.map(({ text }) => secretIn(text)).filter((text) => text !== '');
    const [hook, ...more] = await stored(id);
    expect([secrets, more]).toEqual([[], []]);
    expect(await auditOf(service.storage, hook?.id ?? '')).toHaveLength(1);
    const page = `/workspaces/${id}/hooks/${hook?.id}`;
    await visitor.post(`${page}/pause`);
    const again = await send();
    expect([again.status, again.headers.get('location')]).toEqual([303, `${page}?notice=sent-twice`]);
    expect((await visitor.get(`${page}?notice=sent-twice`)).text).toContain('The second time changed nothing.');
    expect(await stored(id)).toMatchObject([{ active: 0, secret }]);
    await visitor.post(`${page}/remove`);
    expect((await send()).status).toBe(303);
    await expect.poll(() => stored(id), patient).toEqual([]);
    // The same form with other content is another registration.
    const other = await visitor.post(`/workspaces/${id}/hooks`, { ...form, event: 'lock.expired' });
    expect(secretIn(other.text)).not.toBe('');
    expect(secretIn(other.text)).not.toBe(secret);
  });

  test('replaces and resumes the existing webhook with the same URL, and says so', async () => {
    const { id, visitor } = await started();
    const secret = secretIn((await visitor.register(id, { url, headers: header })).text);
    const [hook] = await stored(id);
    const page = `/workspaces/${id}/hooks/${hook?.id}`;
    await visitor.post(`${page}/pause`);
    const replaced = await visitor.register(id, { url, event: ['lock.acquired'] });
    expect([replaced.status, replaced.headers.get('location')]).toEqual([303, `${page}?notice=replaced`]);
    expect(await stored(id)).toMatchObject([
      { id: hook?.id, secret, events: '["lock.acquired"]', headers: '{}', active: 1 },
    ]);
    expect((await visitor.get(`${page}?notice=replaced`)).text).toContain('was already registered');
    // A secret that was entered is never shown.
    const given = newWebhookSecret();
    const again = await visitor.register(id, { url, secret: given });
    expect([again.status, again.text]).toEqual([303, '']);
    expect(await stored(id)).toMatchObject([{ secret: given }]);
    expect(service.log()).not.toContain(given);
    const first = await visitor.register(id, { url: `${url}/2`, secret: given });
    expect(first.headers.get('location')).toMatch(/\?notice=registered$/);
    expect(await auditOf(service.storage, hook?.id ?? '')).toMatchObject([
      { action: 'hook.registered' },
      { action: 'hook.paused' },
      { action: 'hook.replaced', detail: { new_secret: false, was_inactive: 'paused' } },
      { action: 'hook.replaced', detail: { new_secret: true, was_inactive: null } },
    ]);
  });
});
