import { describe, expect, test } from 'vitest';
import { changeBacklogs } from '../../../../src/service/outbox/backlog.ts';
import { databaseKinds } from '../../../support/databases.ts';
import { changeRows } from '../../../support/stored-rows.ts';
import { hookedService } from '../../webhooks/hooked-service.ts';
import { succeeded, sync } from '../../webhooks/samples.ts';
import { signedIn, urlIn } from '../browser-like.ts';
import { type HookVisitor, hookVisitor } from './hook-visitor.ts';
import { storeDelivery } from './stored-delivery.ts';

const url = 'https://ci.example.com/hooks?key=query-s3cret';

describe.each(databaseKinds)('the pages of webhooks on $name', (kind) => {
  const service = hookedService(kind);

  /** A workspace with one webhook, and a visitor who may see it. */
  async function hooked(more: Readonly<Record<string, unknown>> = {}) {
    const { id: workspace, register } = await service.hooks();
    const visitor = await hookVisitor(service);
    const { body } = await register({ url, events: ['lock.acquired'], headers: { 'x-key': 'header-s3cret' }, ...more });
    const list = `/workspaces/${workspace}/hooks`;
    const page = `${list}/${body.id}`;
    const stored = (given: Parameters<typeof storeDelivery>[2]) => storeDelivery(service.storage, body.id, given);
    const show = async (path: string) => (await visitor.get(path)).text;
    return { workspace, register, visitor, hook: String(body.id), list, page, stored, show };
  }
  test('list each webhook with its URL without the query, its events, its state and its deliveries', async () => {
    const { id: other } = await service.hooks();
    const { text: empty } = await (await hookVisitor(service)).get(`/workspaces/${other}/hooks`);
    expect(empty).toContain('This workspace has no webhooks yet.');
    expect(empty).toContain(`<a href="/workspaces/${other}/hooks/new">Add one</a>`);
    const { register, hook, list, stored, show } = await hooked();
    const syncs = { events: ['sync.failed', 'sync.succeeded'], branches: ['main', 'dev'], format: 'buildkite' };
    const { body } = await register({ ...syncs, url: 'https://b.example.com/' });
    const { body: gone } = await register({ url: 'https://c.example.com/' });
    await changeRows(service.storage, 'hooks', { active: 0, inactive_why: 'paused' }, { id: body.id });
    await changeRows(service.storage, 'hooks', { active: 0, inactive_why: 'gone' }, { id: gone.id });
    for (const path of ['a', 'b']) await stored({ path, status: 'failed', last_error: `It failed for ${path}.` });
    for (const path of ['c', 'd', 'e']) await stored({ path, status: 'pending', finished_at: null });
    const [first = '', second = '', third = ''] = (await show(list)).split('<tr>').slice(2);
    expect(first).toContain(
      `<a href="${list}/${hook}"><code><bdi>https://ci.example.com/<wbr>hooks?…</bdi></code></a>`,
    );
    expect(first).toMatch(
      /Standard Webhooks.*active.*lock\.acquired.*none \(locks only\).*<strong>3<.*<strong>2<.*for b\./s,
    );
    expect(second).toMatch(/Buildkite.*paused.*sync\.succeeded.*sync\.failed.*main.*dev.*>0<.*>0<.*none/s);
    expect(third).toMatch(
      /ended by the receiver.*The receiver responded with 410.*Resume the webhook.*sync\.succeeded.*>all</s,
    );
  });

  test('list deliveries page by page, newest first, also those of a single state', async () => {
    const { page, stored, show } = await hooked();
    expect(await show(`${page}?state=dropped`)).toContain('No delivery is in this state.');
    const paths = Array.from({ length: 57 }, (_, index) => `file-${index}`);
    const others: Readonly<Record<string, 'failed' | 'dropped'>> = { 'file-7': 'failed', 'file-8': 'dropped' };
    for (const path of paths) await stored({ path, status: others[path] ?? 'delivered' });
    await stored({ path: 'open', status: 'pending', finished_at: null, next_attempt_at: null });
    // It was delivered and is now sent again, so it is still open.
    await stored({ path: 'open2', status: 'again', finished_at: null });
    const pathsOn = (text: string) =>
      [...text.matchAll(/<code><bdi>((?:file-|open)\d*)<\/bdi>/g)].map(([, path]) => path);
    const twoPages = async (address: string) => {
      const first = await show(address);
      const second = await show(urlIn(first, /<a href="([^"]+)" rel="next">Older/));
      expect(pathsOn(first)).toHaveLength(50);
      expect(second).not.toContain('rel="next"');
      expect(second).toContain(`<a href="${address}">Newest</a>`);
      return [...pathsOn(first), ...pathsOn(second)];
    };
    expect(await twoPages(page)).toEqual(['open2', 'open', ...paths.toReversed()]);
    const delivered = paths.filter((path) => others[path] === undefined).toReversed();
    expect(await twoPages(`${page}?state=delivered`)).toEqual(delivered);
    expect(pathsOn(await show(`${page}?state=failed`))).toEqual(['file-7']);
    expect(pathsOn(await show(`${page}?state=open`))).toEqual(['open2', 'open']);
    expect(pathsOn(await show(`${page}?state=dropped`))).toEqual(['file-8']);
    expect(await show(`${page}?before=1&state=failed`)).toContain('There are no older entries.');
    for (const before of ['x', '-1', '1e3', '9'.repeat(16)])
      expect(await show(`${page}?before=${before}`)).toContain('Unknown page');
  });

  test('show the progress of each delivery, and when it is tried next', async () => {
    const { workspace, hook, page, stored, show } = await hooked();
    const open = { status: 'pending', finished_at: null, attempts: 3 } as const;
    const { storage } = service;
    const now = Date.now();
    const later = await stored({ ...open, path: 'later', next_attempt_at: now + 3_600_000 * 5 });
    const behind = await stored({ ...open, path: 'behind', next_attempt_at: null, attempts: 0 });
    const sending = await stored({ ...open, path: 'sending', lease_until: now + 3_600_000, lease_owner: 'x' });
    const again = await stored({ ...open, status: 'again', next_attempt_at: now + 3_600_000, path: 'again' });
    const of = (id: string) => show(`${page}/deliveries/${id}`);
    const list = await show(page);
    const rowOf = (id: string) => list.split('<tr>').find((row) => row.includes(id)) ?? '';
    expect(rowOf(later)).toMatch(/pending.*>3<.*>in 5 h</s);
    expect(rowOf(behind)).toMatch(/pending.*>0<.*none yet.*after an earlier one for the same path/s);
    expect(rowOf(sending)).toMatch(/sending.*in progress/s);
    expect(await of(later)).toMatch(/3 of at most 10.*>in 5 h</s);
    expect(await of(later)).toContain('<button class="primary">Send again</button>');
    expect(await of(again)).toContain('3, plus one sent again by hand');
    expect(await of(behind)).toContain('No attempt yet.');
    expect(await of(behind)).toContain('It waits for an earlier delivery for the same path');
    expect(await of(sending)).toContain('It is being sent now.');
    await changeRows(service.storage, 'hooks', { active: 0, inactive_why: 'paused' }, { id: hook });
    expect(await of(later)).toContain('when the webhook is resumed');
    for (const id of [later, behind, sending, again])
      expect(await of(id)).not.toContain('<form method="post" action="/workspaces');
    expect(await show(page)).toContain('New events are not queued for it');
    expect(await show(`/workspaces/${workspace}/hooks/${hook}/remove`)).toContain('4 deliveries are waiting');
    await storage.commit('global', (db) =>
      changeBacklogs(db, service.storage.now, [{ hookId: hook, added: -4, dropped: 0 }]),
    );
    expect(await show(`${page}/remove`)).toContain('its list of deliveries is removed');
  });

  test('show the request as it is sent, without its secrets', async () => {
    const { page, stored, show, register } = await hooked();
    const id = await stored({ path: 'Content/Hero.uasset' });
    const text = await show(`${page}/deliveries/${id}`);
    expect(text).toContain('<code><bdi>POST https://ci.example.com/hooks?…</bdi></code>');
    const header = (name: string) => new RegExp(`<bdi>${name}</bdi></code></dt><dd>(.*?)</dd>`).exec(text)?.[1];
    expect(['x-key', 'webhook-signature', 'webhook-timestamp', 'webhook-id'].map(header)).toEqual([
      expect.stringContaining('not shown'),
      expect.stringContaining('not shown'),
      expect.stringContaining('the time of the attempt'),
      expect.stringContaining(id),
    ]);
    expect(text).toContain('    &quot;lock&quot;: {\n');
    expect(text).toContain('{&quot;type&quot;:&quot;lock.acquired&quot;,');
    await register({ url, events: ['sync.failed'], format: 'buildkite' });
    expect(await show(`${page}/deliveries/${id}`)).toContain('There is none: The buildkite format');
  });

  test('link the event of a sync to the page of the sync if the token may see it', async () => {
    const { page, stored, visitor } = await hooked();
    const event = JSON.stringify({ ...succeeded, workspace: 'game', data: { sync: { ...sync, branch: 'main' } } });
    const path = `${page}/deliveries/${await stored({ event })}`;
    const { text } = await (await signedIn(service)).get(path);
    expect(text).toContain(`<a href="/workspaces/game/syncs/${sync.sync_id}">`);
    expect(text).toMatch(/<dt>Branch<\/dt><dd><code><bdi>main</);
    expect((await visitor.get(path)).text).not.toContain('/syncs/');
  });

  test('show the response, or why it is unknown', async () => {
    const { page, stored, show } = await hooked();
    const answered = async (response: unknown, more = {}) => {
      const last_answer = response === null ? null : JSON.stringify(response);
      const last = { last_attempt_at: 1, last_duration_ms: 1_234, last_answer };
      return show(`${page}/deliveries/${await stored({ status: 'failed', ...last, ...more })}`);
    };
    const whole = { kept: 'whole', status: 502, headers: { server: 'nginx' }, body: 'Bad gateway', bodyIsCut: false };
    const cut = 'Only the beginning of the response is stored.';
    const text = await answered(whole);
    expect(text).toMatch(/<bdi>502<\/bdi><\/code>, after 1,234 ms\..*server.*nginx.*<pre>Bad gateway<\/pre>/s);
    expect(text).not.toContain(cut);
    expect(await answered({ ...whole, bodyIsCut: true })).toContain(cut);
    expect(await answered({ ...whole, body: '' })).toContain('It had no body.');
    expect(await answered({ kept: 'status', status: 500 })).toContain('Only the status is kept: the receiver is in a');
    expect(await answered(null, { last_error: 'Nobody listens.' })).toContain(
      'No response: <bdi>Nobody listens.</bdi>',
    );
  });

  test('return 404 for other workspaces, other webhooks and invalid ids, whatever the action', async () => {
    const [one, other] = [await hooked(), await hooked()];
    const second = await one.register({ url: 'https://second.example.com/' });
    const delivery = await one.stored({});
    const hooks = [`${other.list}/${one.hook}`, ...['hook_x', 'hook_%00', delivery].map((id) => `${one.list}/${id}`)];
    const deliveries = [
      `${one.list}/${second.body.id}/deliveries/${delivery}`,
      `${other.list}/${one.hook}/deliveries/${delivery}`,
      `${other.page}/deliveries/${delivery}`,
      `${one.page}/deliveries/msg_x`,
      `${one.page}/deliveries/msg_%00`,
    ];
    async function expectNothing(visitor: HookVisitor, hooks: string[], deliveries: string[]) {
      const shown = [...hooks, ...hooks.map((path) => `${path}/remove`), ...deliveries];
      const sent = [
        ...hooks.flatMap((path) => ['pause', 'resume', 'remove'].map((action) => `${path}/${action}`)),
        ...deliveries.map((path) => `${path}/send-again`),
      ];
      for (const path of shown) expect([path, (await visitor.get(path)).status]).toEqual([path, 404]);
      for (const path of sent) expect([path, (await visitor.post(path)).status]).toEqual([path, 404]);
    }
    await expectNothing(one.visitor, hooks, deliveries);
    // A visitor who cannot see the workspace gets the same response for webhooks that exist.
    const stranger = await hookVisitor(service, [other.workspace]);
    await expectNothing(stranger, [one.page], [`${one.page}/deliveries/${delivery}`]);
    const { read } = service.storage;
    const active = await read.selectFrom('hooks').select('active').where('id', 'in', [one.hook, other.hook]).execute();
    expect(active).toEqual([{ active: 1 }, { active: 1 }]);
  });
});
