import fc from 'fast-check';
import { html } from 'hono/html';
import { expect, test } from 'vitest';
import { maxLockPathBytes, parseLockPath } from '../../../src/interface/lock-path.ts';
import { safeText } from '../../../src/interface/safe-text.ts';
import { urls } from '../../../src/service/dashboard/elements/lock.ts';
import { lockPaths } from '../../interface/texts.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { findRows } from '../../support/stored-rows.ts';
import { valueIn } from '../../support/value-in.ts';
import { locksOf, untilWaiting } from '../http/shared-service.ts';
import { rowsIn, signedIn, urlIn, type Visitor } from './browser-like.ts';
import { type TakenLock, takeLock } from './locked-service.ts';

const service = serviceOfTests();
const path = 'Maps/Arena.umap';

async function heldPath() {
  const workspace = await service.workspace(undefined, { desk_ttl: '3d' });
  const holder = await signedIn(service, { name: 'ada', scopes: ['locks:write'] });
  const lock = await takeLock(service, workspace, holder.secret, path, { note: 'Rigging' });
  const bo = await signedIn(service, { name: 'bo', scopes: ['locks:write'] });
  const page = async (visitor: Visitor = bo) => (await visitor.get(urls.path(workspace, path))).text;
  const ask = (fields: Readonly<Record<string, string>>) =>
    bo.post(`/workspaces/${workspace}/locks/ask`, { path, note: '', ...fields });
  const extend = (visitor: Visitor, { path, id: lock }: TakenLock, duration: string) =>
    visitor.post(`/workspaces/${workspace}/locks/extend`, { path, lock, duration });
  return { workspace, holder, lock, bo, page, ask, extend };
}

/** The lifetime of a lock in full seconds, since it was acquired. */
async function lastsOf({ id }: TakenLock): Promise<number> {
  const lock = (await findRows(service.storage, 'locks', { id }))[0] ?? expect.fail('The lock is gone.');
  return Math.floor((lock.expires_at - lock.acquired_at) / 1_000);
}

test('the page of a path shows its lock, and offers what the token may do', async () => {
  const { workspace, holder, lock, page } = await heldPath();
  const reader = await signedIn(service, { name: 'reader', scopes: ['locks:read'] });
  const admin = await signedIn(service, { name: 'root', scopes: ['locks:admin'] });
  const seen = await page(reader);
  const facts = [...seen.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/gs)].map(
    ([, name, text = '']) => `${name}: ${text.replaceAll(/<[^>]*>/g, '')}`,
  );
  const run = 'https://ci.example.com/game/runs/7/attempts/1';
  for (const fact of [`Path: ${path}`, 'Holder: ada', 'Note: Rigging', `From run: ${run.slice('https://'.length)}`])
    expect(facts).toContain(fact);
  expect(rowsIn(seen)).toEqual([]);
  const offers = async (visitor: Visitor) =>
    [...(await page(visitor)).matchAll(/>(Extend|Release|Force release|Keep it [^<]*|Lock it)</g)].map(([, it]) => it);
  expect(await offers(reader)).toEqual([]);
  expect(await offers(holder)).toEqual(['Extend', 'Release']);
  expect(await offers(admin)).toEqual(['Keep it for me when it is free', 'Force release']);
  expect(urlIn(await page(admin), /href="([^"]+)">Force release/)).toContain(lock.id);
  await locksOf(service, workspace, holder.secret).release(path);
  const after = await page(reader);
  expect(after).toContain('Nobody holds a lock on this path.');
  expect(rowsIn(after)).toEqual([expect.stringMatching(/^ada from ci\..*Rigging \| .* \| released$/)]);
  expect(await offers(reader)).toEqual([]);
  expect(await offers(holder)).toEqual(['Lock it']);
});

test('the page of a path is found at the URL of any valid path, with its slashes encoded or not', async () => {
  const workspace = await service.workspace();
  const reader = await signedIn(service, { scopes: ['locks:read'] });
  await fc.assert(
    fc.asyncProperty(lockPaths, async (asked) => {
      for (const address of [urls.path(workspace, asked), urls.path(workspace, asked).replaceAll('%2F', '/')]) {
        const { status, text } = await reader.get(address);
        expect([asked, status]).toEqual([asked, 200]);
        expect(text).toContain(String(html`<h1><bdi>${safeText(asked)}</bdi></h1>`));
      }
    }),
    {
      numRuns: 40,
      examples: ['é'.repeat(maxLockPathBytes / 2), 'release', 'a/b#?%2F%2e'].map((text) => [
        valueIn(parseLockPath(text)),
      ]),
    },
  );
  for (const wrong of ['a//b', 'a/../b', 'x'.repeat(maxLockPathBytes + 1), 'a\\b']) {
    expect([wrong, (await reader.get(urls.path(workspace, wrong))).status]).toEqual([wrong, 422]);
  }
  expect((await reader.get(`/workspaces/${workspace}/paths/%ff`)).status).toBe(422);
});

test('the page of a path shows the clients in line, except for the one that has acquired the lock', async () => {
  const { workspace, holder, page } = await heldPath();
  const eve = await service.token({ name: 'eve' });
  const asEve = locksOf(service, workspace, eve.secret);
  const wait = (number: number) =>
    asEve.take(path, { prefer: 'wait=30', referer: `https://ci.example.com/runs/${number}` });
  const first = wait(1);
  await untilWaiting(service, eve.secret, 1);
  const second = wait(2);
  await untilWaiting(service, eve.secret, 2);
  const seen = async () => {
    const part = /data-part="waiting">(.*?)<\/section>/s.exec(await page())?.[1] ?? '';
    return [...part.matchAll(/data-label="Who">.*?<a [^>]*>(.*?)<\/a>/gs)].map(([, cell = '']) =>
      cell.replaceAll(/<[^>]*>/g, ''),
    );
  };
  expect(await seen()).toEqual(['ci.example.com/runs/1', 'ci.example.com/runs/2']);
  await locksOf(service, workspace, holder.secret).release(path);
  expect((await first).status).toBe(201);
  expect(await seen()).toEqual(['ci.example.com/runs/2']);
  await asEve.release(path);
  expect((await second).status).toBe(201);
  expect(await seen()).toEqual([]);
});

test('someone who asks for a held lock is in line with a note, and has the path kept when it is free', async () => {
  const { workspace, holder, bo, page, ask } = await heldPath();
  const { status, headers } = await ask({ note: 'Lights' });
  expect([status, headers.get('location')]).toEqual([303, urls.path(workspace, path)]);
  const asked = await page();
  for (const part of ['Lights', 'Withdraw']) expect(asked).toContain(part);
  expect(asked).not.toContain('Keep it for me');
  expect(await page(holder)).toContain('Lights');
  expect((await holder.get('/my-locks')).text).toContain('>1 waiting</a>');
  const list = async () => (await bo.get(`/workspaces/${workspace}/locks`)).text;
  expect(await list()).toContain(`<a class="waiting" href="${urls.path(workspace, path)}">1 waiting</a>`);
  expect(await page(holder)).not.toContain('Withdraw');
  await locksOf(service, workspace, holder.secret).release(path);
  await expect.poll(() => page(), { timeout: 10_000 }).toContain('Kept until');
  expect((await locksOf(service, workspace, holder.secret).take(path)).status).toBe(409);
  expect((await locksOf(service, workspace, bo.secret).take(path)).status).toBe(201);
  expect(await page()).not.toContain('Kept until');
  expect(await list()).not.toContain('waiting</a>');
});

test('a request with mistakes, or for a lock that needs no asking, is refused with the reason', async () => {
  const { workspace, holder, ask } = await heldPath();
  const note = 'n'.repeat(201);
  const wrong = await ask({ note });
  expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining(`value="${note}"`)]);
  await locksOf(service, workspace, holder.secret).release(path);
  const free = await ask({});
  expect([free.status, free.text]).toEqual([422, expect.stringContaining('and not kept for anyone else. Lock it.')]);
});

test('any token of the owner can extend a lock to a chosen time, but not shorten it', async () => {
  const { workspace, lock, page, extend } = await heldPath();
  const desk = await signedIn(service, { name: 'desk', owner: 'ada', scopes: ['locks:write'] });
  expect(await page(desk)).toContain('value="3d"');
  const extended = (await extend(desk, lock, '5h')).headers.get('location') ?? '';
  expect(extended).toBe(`${urls.path(workspace, path)}?notice=extended`);
  expect((await desk.get(extended)).text).toContain(`The lock on <bdi>${path}</bdi> was extended.`);
  const other = await signedIn(service, { name: 'other', scopes: ['locks:write'] });
  for (const link of [extended, extended.replace('extended', 'taken')]) {
    expect((await desk.get(link)).text).toContain('class="notice"');
    expect((await other.get(link)).text).not.toContain('class="notice"');
  }
  expect(await lastsOf(lock)).toBeGreaterThanOrEqual(5 * 3_600);
  for (const [duration, reason] of [
    ['1h', 'already lasts longer'],
    ['31d', 'from 1s to 30d'],
    ['', 'whole number'],
  ] as const) {
    const refused = await extend(desk, lock, duration);
    expect([duration, refused.status]).toEqual([duration, 422]);
    expect(refused.text).toContain(`value="${duration}" `);
    // The URL of the action has no page to update from.
    expect(refused.text).not.toContain('id="live"');
    expect(refused.text).toMatch(new RegExp(`role="alert">Nothing was changed. [^<]*${reason}`));
  }
  expect(await lastsOf(lock)).toBeLessThan(6 * 3_600);
});

test('a lock of another owner cannot be extended, and neither can one that replaced the shown lock', async () => {
  const { workspace, holder, lock: first, extend } = await heldPath();
  const admin = await signedIn(service, { name: 'root', scopes: ['locks:admin'] });
  await locksOf(service, workspace, holder.secret).release(path);
  for (const { secret } of [await service.token({ name: 'other' }), admin]) {
    const second = await takeLock(service, workspace, secret, path);
    const { status, text } = await extend(admin, first, '9h');
    expect([status, text]).toEqual([412, expect.stringContaining('is not the one in the request')]);
    const isOwn = secret === admin.secret;
    expect((await extend(admin, second, '9h')).status).toBe(isOwn ? 303 : 403);
    expect((await lastsOf(second)) < 2 * 3_600).toBe(!isOwn);
    await locksOf(service, workspace, admin.secret).release(path, {}, '?force=true');
  }
  expect((await extend(admin, first, '9h')).status).toBe(412);
});
