import { describe, expect, test } from 'vitest';
import { recountBacklogs } from '../../../../src/service/webhooks/backlog.ts';
import { wholeAnswer } from '../../../../src/service/webhooks/receiver-answer.ts';
import { realDatabaseKinds } from '../../../support/databases.ts';
import { hookedService } from '../../webhooks/hooked-service.ts';
import { succeeded, sync } from '../../webhooks/samples.ts';
import { visit } from '../browser-like.ts';
import { expectHarmless, hostileTexts } from '../hostile.ts';
import { hookVisitor, secretIn } from './hook-visitor.ts';
import { storeDelivery } from './stored-delivery.ts';

const url = 'https://ci.example.com/hooks?key=query-s3cret';

describe.each(realDatabaseKinds)('the pages of webhooks on $name', (kind) => {
  const service = hookedService(kind);

  /** A workspace with one webhook, and somebody who looks at it. */
  async function hooked(more: Readonly<Record<string, unknown>> = {}) {
    const { id: workspace, register } = await service().hooks();
    const visitor = await hookVisitor(service());
    const { body } = await register({ url, events: ['lock.acquired'], headers: { 'x-key': 'header-s3cret' }, ...more });
    const list = `/workspaces/${workspace}/hooks`;
    const page = `${list}/${body.id}`;
    const stored = (given: Parameters<typeof storeDelivery>[2]) => storeDelivery(service().storage, body.id, given);
    const show = async (path: string) => (await visitor.get(path)).text;
    return {
      workspace,
      register,
      visitor,
      hook: String(body.id),
      secret: String(body.secret),
      list,
      page,
      stored,
      show,
    };
  }
  const change = (hook: string, columns: Readonly<Record<string, string | number | null>>) =>
    service().storage.commit('global', (db) => db.updateTable('hooks').set(columns).where('id', '=', hook).execute());

  test('without a webhook say what one is for, and how to add it', async () => {
    const { id } = await service().hooks();
    const { text } = await (await hookVisitor(service())).get(`/workspaces/${id}/hooks`);
    expect(text).toContain('This workspace has no webhooks yet.');
    expect(text).toContain(`<a href="/workspaces/${id}/hooks/new">Add one</a>`);
    expect(text).not.toContain('<table');
  });

  test('list each with its address but for the query, what it is told, its state and how its deliveries fare', async () => {
    const { register, hook, list, stored, show } = await hooked();
    const syncs = { events: ['sync.failed', 'sync.succeeded'], branches: ['main', 'dev'], format: 'buildkite' };
    const { body } = await register({ ...syncs, url: 'https://b.example.com/' });
    const { body: gone } = await register({ url: 'https://c.example.com/' });
    await change(body.id, { active: 0, inactive_why: 'paused' });
    await change(gone.id, { active: 0, inactive_why: 'gone' });
    for (const path of ['a', 'b']) await stored({ path, status: 'failed', last_error: `It failed for ${path}.` });
    for (const path of ['c', 'd', 'e']) await stored({ path, status: 'pending', finished_at: null });
    const [first = '', second = '', third = ''] = (await show(list)).split('<tr>').slice(2);
    expect(first).toContain(`<a href="${list}/${hook}"><code><bdi>https://ci.example.com/hooks?…</bdi></code></a>`);
    expect(first).toMatch(
      /Standard Webhooks.*active.*lock\.acquired.*none: only locks.*<strong>3<.*<strong>2<.*for b\./s,
    );
    expect(second).toMatch(/Buildkite.*paused.*sync\.succeeded.*sync\.failed.*main.*dev.*>0<.*>0<.*none/s);
    expect(third).toMatch(
      /ended by the receiver.*The receiver answered 410.*Resume the webhook.*sync\.succeeded.*>all</s,
    );
  });

  test('show nothing that is secret', async () => {
    const { visitor, secret, list, page, stored } = await hooked();
    const delivery = `${page}/deliveries/${await stored({})}`;
    for (const path of [list, page, `${page}/remove`, delivery]) {
      const { status, text } = await visitor.get(path);
      expect(status).toBe(200);
      expect(text).toContain('https://ci.example.com/hooks?…');
      for (const hidden of [secret, 'query-s3cret', 'header-s3cret']) expect(text).not.toContain(hidden);
      expect(secretIn(text)).toBe('');
    }
  });

  test('show hostile names, errors and answers as text', async () => {
    const [script = ''] = hostileTexts;
    const { list, page, stored, show } = await hooked({ branches: [script], events: ['sync.failed', 'lock.acquired'] });
    const deliveries: string[] = [];
    for (const text of hostileTexts) {
      const headers = { 'content-type': text, location: text, server: text };
      const answer = wholeAnswer({ status: 500, headers, body: Buffer.from(`${text}\n\t${text}`), isCut: true }, []);
      const last = { last_attempt_at: 1, last_duration_ms: 7, last_answer: JSON.stringify(answer) };
      deliveries.push(await stored({ path: text, status: 'failed', last_error: text, ...last }));
    }
    for (const path of [list, page, ...deliveries.map((id) => `${page}/deliveries/${id}`)]) {
      expectHarmless(await show(path));
    }
    const delivery = await show(`${page}/deliveries/${deliveries[0]}`);
    expect(delivery).toContain('<pre>&lt;script&gt;alert(1)&lt;/script&gt;\n\t&lt;script&gt;');
    expect(await show(`${page}/deliveries/${deliveries[2]}`)).toContain('exe\\u{202e}fdp.reward');
  });

  test('list deliveries page by page, the newest first, and those of one state alone', async () => {
    const { page, stored, show } = await hooked();
    const paths = Array.from({ length: 56 }, (_, index) => `file-${index}`);
    for (const [index, path] of paths.entries())
      await stored({ path, status: index % 25 === 0 ? 'failed' : 'delivered' });
    await stored({ path: 'open', status: 'pending', finished_at: null, next_attempt_at: null });
    const pathsOn = (text: string) =>
      [...text.matchAll(/<code><bdi>((?:file-|open)\d*)<\/bdi>/g)].map(([, path]) => path);
    const olderOn = (text: string) => /<a href="([^"]+)" rel="next">Older/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    const first = await show(page);
    const second = await show(olderOn(first) ?? '');
    expect([...pathsOn(first), ...pathsOn(second)]).toEqual(['open', ...paths.toReversed()]);
    expect(pathsOn(first)).toHaveLength(50);
    expect(olderOn(second)).toBeUndefined();
    expect(second).toContain(`<a href="${page}">Newest</a>`);
    expect(pathsOn(await show(`${page}?state=failed`))).toEqual(['file-50', 'file-25', 'file-0']);
    expect(pathsOn(await show(`${page}?state=open`))).toEqual(['open']);
    const delivered = await show(`${page}?state=delivered`);
    const olderDelivered = await show(olderOn(delivered) ?? '');
    const expected = paths.filter((_, index) => index % 25 !== 0).toReversed();
    expect([...pathsOn(delivered), ...pathsOn(olderDelivered)]).toEqual(expected);
    expect(olderOn(olderDelivered)).toBeUndefined();
    expect(olderDelivered).toContain(`<a href="${page}?state=delivered">Newest</a>`);
    expect(await show(`${page}?state=dropped`)).toContain('No delivery is in this state.');
    expect(await show(`${page}?before=1&state=failed`)).toContain('There are no older deliveries.');
    for (const before of ['x', '-1', '1e3', '9'.repeat(16)])
      expect(await show(`${page}?before=${before}`)).toContain('There is no such page');
  });

  test('say how far each delivery is, and when it is tried next', async () => {
    const { workspace, hook, page, stored, show } = await hooked();
    const open = { status: 'pending', finished_at: null, attempts: 3 };
    const { storage } = service();
    const now = Date.now();
    const later = await stored({ ...open, path: 'later', next_attempt_at: now + 3_600_000 * 5 });
    const behind = await stored({ ...open, path: 'behind', next_attempt_at: null, attempts: 0 });
    const underWay = await stored({ ...open, path: 'under way', lease_until: now + 3_600_000, lease_owner: 'x' });
    const again = await stored({ ...open, status: 'again', next_attempt_at: now + 3_600_000, path: 'again' });
    const of = (id: string) => show(`${page}/deliveries/${id}`);
    const list = await show(page);
    const rowOf = (id: string) => list.split('<tr>').find((row) => row.includes(id)) ?? '';
    expect(rowOf(later)).toMatch(/waiting.*>3<.*>in 5 h</s);
    expect(rowOf(behind)).toMatch(/waiting.*>0<.*none yet.*after an earlier one for the same path/s);
    expect(rowOf(underWay)).toMatch(/sending.*in progress/s);
    expect(await of(later)).toMatch(/3 of at most 10.*>in 5 h</s);
    expect(await of(later)).toContain('<button class="primary">Send again</button>');
    expect(await of(again)).toContain('3, plus one sent again by hand');
    expect(await of(behind)).toContain('No attempt yet.');
    expect(await of(behind)).toContain('It waits for an earlier delivery for the same path');
    expect(await of(underWay)).toContain('It is being sent now.');
    await change(hook, { active: 0, inactive_why: 'paused' });
    expect(await of(later)).toContain('when the webhook is resumed');
    for (const id of [later, behind, underWay, again])
      expect(await of(id)).not.toContain('<form method="post" action="/workspaces');
    expect(await show(page)).toContain('It is paused. New events are not queued for it');
    expect(await show(`/workspaces/${workspace}/hooks/${hook}/remove`)).toContain('4 deliveries are waiting');
    await storage.commit('global', (db) => db.deleteFrom('deliveries').where('id', '!=', later).execute());
    await recountBacklogs(storage);
    expect(await show(`${page}/remove`)).toContain('1 delivery is waiting');
    await storage.commit('global', (db) => db.deleteFrom('deliveries').execute());
    await recountBacklogs(storage);
    expect(await show(`${page}/remove`)).toContain('No deliveries are waiting.');
  });

  test('show the request as it is sent, but for what is secret', async () => {
    const { page, stored, show, register } = await hooked();
    const id = await stored({ path: 'Content/Hero.uasset' });
    const text = await show(`${page}/deliveries/${id}`);
    expect(text).toContain('<code><bdi>POST https://ci.example.com/hooks?…</bdi></code>');
    const header = (name: string) => new RegExp(`<bdi>${name}</bdi></code></dt><dd>(.*?)</dd>`).exec(text)?.[1];
    expect(header('x-key')).toContain('not shown');
    expect(header('webhook-signature')).toContain('not shown');
    expect(header('webhook-timestamp')).toContain('the time of the attempt');
    expect(header('webhook-id')).toContain(id);
    expect(header('content-type')).toContain('application/json');
    expect(text).toContain('    &quot;lock&quot;: {\n');
    expect(text).toContain('{&quot;type&quot;:&quot;lock.acquired&quot;,');
    await register({ url, events: ['sync.failed'], format: 'buildkite' });
    expect(await show(`${page}/deliveries/${id}`)).toContain('There is none: The buildkite format');
  });

  test('lead from a sync to its page, where the token may see that', async () => {
    const { page, stored, visitor } = await hooked();
    const event = JSON.stringify({ ...succeeded, workspace: 'game', data: { sync: { ...sync, branch: 'main' } } });
    const path = `${page}/deliveries/${await stored({ event })}`;
    const may = visit(service());
    await may.signIn((await service().token()).secret);
    const text = (await may.get(path)).text;
    expect(text).toContain(`<a href="/workspaces/game/syncs/${sync.sync_id}">`);
    expect(text).toMatch(/<dt>Branch<\/dt><dd><code><bdi>main</);
    expect((await visitor.get(path)).text).not.toContain('/syncs/');
  });

  test('show what was answered, or why it is not known', async () => {
    const { page, stored, show } = await hooked();
    const answered = async (answer: unknown, more = {}) => {
      const last = {
        last_attempt_at: 1,
        last_duration_ms: 1_234,
        last_answer: answer === null ? null : JSON.stringify(answer),
      };
      return show(`${page}/deliveries/${await stored({ status: 'failed', ...last, ...more })}`);
    };
    const whole = { kept: 'whole', status: 502, headers: { server: 'nginx' }, body: 'Bad gateway', bodyIsCut: false };
    const text = await answered(whole);
    expect(text).toMatch(
      /Status <code><bdi>502<\/bdi><\/code>, after 1,234 ms\..*server.*nginx.*<pre>Bad gateway<\/pre>/s,
    );
    expect(text).not.toContain('Only the beginning of the answer is kept.');
    expect(await answered({ ...whole, bodyIsCut: true })).toContain('Only the beginning of the answer is kept.');
    expect(await answered({ ...whole, body: '' })).toContain('It had no body.');
    const inside = await answered({ kept: 'status', status: 500 });
    expect(inside).toContain('Nothing else is kept: the receiver is in a network');
    expect(await answered(null, { last_error: 'Nobody listens.' })).toContain(
      'There was none: <bdi>Nobody listens.</bdi>',
    );
    expect(await answered(null, { last_attempt_at: null })).toContain('Attempts by an earlier version of the service');
  });

  test('of other workspaces, other webhooks and ids that are none are not there, whatever is asked', async () => {
    const one = await hooked();
    const other = await hooked();
    const second = await one.register({ url: 'https://second.example.com/' });
    const delivery = await one.stored({});
    const form_token = (await one.visitor.newForm(one.workspace))['form_token'] ?? '';
    const hooks = [
      `${other.list}/${one.hook}`,
      `${one.list}/hook_x`,
      `${one.list}/hook_%00`,
      `${one.list}/${delivery}`,
    ];
    const deliveries = [
      `${one.list}/${second.body.id}/deliveries/${delivery}`,
      `${other.list}/${one.hook}/deliveries/${delivery}`,
      `${other.page}/deliveries/${delivery}`,
      `${one.page}/deliveries/msg_x`,
      `${one.page}/deliveries/msg_%00`,
    ];
    const shown = [...hooks, ...hooks.map((path) => `${path}/remove`), ...deliveries];
    const sent = [
      ...hooks.flatMap((path) => ['pause', 'resume', 'remove'].map((action) => `${path}/${action}`)),
      ...deliveries.map((path) => `${path}/send-again`),
    ];
    for (const path of shown) expect([path, (await one.visitor.get(path)).status]).toEqual([path, 404]);
    for (const path of sent) expect([path, (await one.visitor.post(path, { form_token })).status]).toEqual([path, 404]);
    // Whoever does not see the workspace is told the same of what is there.
    const stranger = await hookVisitor(service(), [other.workspace]);
    const strangers = { form_token: (await stranger.newForm(other.workspace))['form_token'] ?? '' };
    for (const path of [
      one.list,
      `${one.list}/new`,
      one.page,
      `${one.page}/remove`,
      `${one.page}/deliveries/${delivery}`,
    ]) {
      expect([path, (await stranger.get(path)).status]).toEqual([path, 404]);
    }
    for (const action of ['pause', 'resume', 'remove', `deliveries/${delivery}/send-again`]) {
      expect([action, (await stranger.post(`${one.page}/${action}`, strangers)).status]).toEqual([action, 404]);
    }
    const active = await service()
      .storage.read.selectFrom('hooks')
      .select('active')
      .where('id', 'in', [one.hook, other.hook])
      .execute();
    expect(active).toEqual([{ active: 1 }, { active: 1 }]);
  });
});
