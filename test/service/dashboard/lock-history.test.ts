import fc from 'fast-check';
import { html } from 'hono/html';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { maxLockPathBytes, parseLockPath } from '../../../src/interface/lock-path.ts';
import { csvLine } from '../../../src/service/contract/csv.ts';
import { pathUrl } from '../../../src/service/dashboard/elements/lock-list.ts';
import { historyFile } from '../../../src/service/dashboard/pages/lock-history.ts';
import { revokeToken } from '../../../src/service/tokens/tokens.ts';
import { lockPaths } from '../../interface/texts.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { valueIn } from '../../support/value-in.ts';
import { locksOf, untilWaiting } from '../http/shared-service.ts';
import { lfsOf } from '../lfs/lfs-of.ts';
import { type SignedIn, signedIn, urlIn } from './browser-like.ts';
import { takeLock } from './locked-service.ts';

const service = serviceOfTests();
let reader: SignedIn;
let ada: SignedIn;
let bob: SignedIn;
beforeAll(async () => {
  reader = await signedIn(service, { name: 'reader', scopes: ['locks:read'] });
  ada = await signedIn(service, { name: 'ada', scopes: ['locks:admin'] });
  bob = await signedIn(service, { name: 'bob', scopes: ['locks:write'] });
});

const historyOf = (workspace: string, search = '') => `/workspaces/${workspace}/locks/history${search}`;
const csvOf = (workspace: string, search = '') => `/workspaces/${workspace}/locks/history.csv${search}`;

/** Stores a history in which this number of locks was acquired, one each millisecond. */
const seedHistory = (workspace: string, count: number, prefix: string) =>
  service.storage.commit('global', (db) =>
    sql`insert into lock_history (workspace_id, at, fence, kind, path, lock_id, owner)
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(count)})
      select ${workspace}, n, n, 'acquired', ${prefix} || n, 'lock_' || n, 'ada' from numbers`.execute(db),
  );

/** The text of the cells in each row of a table. */
function rowsIn(page: string): string[] {
  return [...page.matchAll(/<tr>\s*<t[dh].*?<\/tr>/gs)]
    .map(([row]) => [...row.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/gs)].map(([, cell = '']) => cell))
    .filter(([first]) => first?.includes('<time'))
    .map(([, ...cells]) => cells.map((cell) => cell.replaceAll(/<[^>]*>/g, '').trim()).join(' | '));
}

const run = 'ci.example.com/…/runs/7/attempts/1';

describe('the lock history of a workspace', () => {
  test('lists changes by all owners through the API, Git LFS and the pages, and filters them', async () => {
    const workspace = await service.workspace();
    await takeLock(service, workspace, bob.secret, 'a', { note: 'Rigging' });
    await locksOf(service, workspace, ada.secret).release('a', {}, '?force=true');
    const drawn = (await lfsOf(service, workspace, ada.secret).take('b')).body.lock;
    await lfsOf(service, workspace, ada.secret).release(drawn.id);
    const last = await takeLock(service, workspace, ada.secret, 'c');
    await ada.post(`/workspaces/${workspace}/locks/release`, { path: 'c', lock: last.id });
    expect(rowsIn((await reader.get(historyOf(workspace))).text)).toEqual([
      `c | released | ada from ${run}`,
      `c | taken | ada from ${run}`,
      'b | released | ada',
      'b | taken | ada',
      `a | force-released by ada | bob from ${run}Rigging`,
      `a | taken | bob from ${run}Rigging`,
    ]);
    const only = async (search: string) => rowsIn((await reader.get(historyOf(workspace, search))).text).length;
    const today = new Date().toISOString().slice(0, 10);
    for (const [search, found] of [
      ['?owner=bob', 2],
      ['?prefix=a&kind=force-released', 1],
      ['?prefix=&owner=&kind=&from=&to=', 6],
      [`?from=${today}&to=${today}`, 6],
      ['?to=2020-01-01', 0],
      ['?from=2020-01-01&owner=nobody', 0],
    ] as const) {
      expect([search, await only(search)]).toEqual([search, found]);
    }
  });

  test('rejects invalid filters instead of showing everything', async () => {
    const workspace = await service.workspace();
    for (const search of [
      '?kind=renewed',
      '?from=yesterday',
      '?to=2026-02-31',
      '?before=1',
      '?owner=%00',
      '?prefix=%ff',
    ]) {
      expect([search, (await reader.get(historyOf(workspace, search))).status]).toEqual([search, 422]);
      if (!search.includes('before')) expect((await reader.get(csvOf(workspace, search))).status).toBe(422);
    }
  });

  test('leads through all pages with its filter', async () => {
    const workspace = await service.workspace();
    const paths = Array.from({ length: 70 }, (_, index) => `p/${index}`);
    await Promise.all([...paths, 'other'].map((path) => takeLock(service, workspace, bob.secret, path)));
    const all: string[] = [];
    for (let next = historyOf(workspace, '?prefix=p%2F'); next !== ''; ) {
      const { text } = await reader.get(next);
      all.push(...rowsIn(text).map((row) => row.split(' ')[0] ?? ''));
      next = urlIn(text, /href="([^"]+)" rel="next"/);
    }
    expect(all.toSorted()).toEqual(paths.toSorted());
  });
});

describe('the history file', () => {
  test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '＝1'])(
    'contains %j as text, never as a formula',
    (text) => {
      expect(csvLine(['a', text, text])).toMatch(/^a,"?'/);
      expect(csvLine([`a"${text}`, 'b'])).toBe(`"a""${text}",b\r\n`);
    },
  );

  test('contains everything that the page shows, in order, for programs and for spreadsheets', async () => {
    const workspace = await service.workspace();
    await takeLock(service, workspace, bob.secret, '=cmd|calc,"x"', {
      note: '@SUM(A1)',
      origin: 'https://ci.example.com/?a=1',
    });
    await locksOf(service, workspace, ada.secret).release('=cmd|calc,"x"', {}, '?force=true');
    const { status, headers, text } = await reader.get(csvOf(workspace));
    expect(status).toBe(200);
    expect(headers.get('content-type')).toContain('text/csv');
    expect(headers.get('content-disposition')).toBe(`attachment; filename="locks-of-${workspace}.csv"`);
    const lines = text.split('\r\n');
    const columns = 'at,kind,path,owner,ended_by,origin,note,lock_id';
    expect(lines[0]?.replace('\uFEFF', '')).toBe(columns);
    const rest = `"'=cmd|calc,""x""",bob`;
    const time = /^\d{4}-\d\d-\d\dT[\d:.]+Z,/;
    expect(lines.slice(1).map((line) => line.replace(time, '').replace(/lock_[\w-]+/, 'ID'))).toEqual([
      `force-released,${rest},ada,https://ci.example.com/?a=1,'@SUM(A1),ID`,
      `acquired,${rest},,https://ci.example.com/?a=1,'@SUM(A1),ID`,
      '',
    ]);
    expect((await reader.get(csvOf(workspace, '?kind=acquired'))).text.match(/bob/g)).toHaveLength(1);
  });

  test('continues read after read, ends at its limit, and then says so', async () => {
    const workspace = await service.workspace();
    await seedHistory(workspace, 2_500, 'p/');
    const { text } = await reader.get(csvOf(workspace, '?owner=ada'));
    expect(new Set(text.trim().split('\r\n')).size).toBe(1 + 2_500);
    expect(text).not.toContain('This file has reached its maximum length');

    const next = { at: 1, fence: 1, kind: 'acquired' };
    const endless: string[] = [];
    for await (const text of historyFile(async () => ({ changes: [], next }))) endless.push(text);
    expect(endless).toHaveLength(2);
    expect(endless.at(-1)).toContain('This file has reached its maximum length');
  });

  test('is cut off, and so visibly incomplete, if its token is revoked meanwhile', async () => {
    const workspace = await service.workspace();
    // Far more than the connection accepts before anyone reads.
    await seedHistory(workspace, 30_000, 'x'.repeat(1_000));
    const visitor = await signedIn(service, { scopes: ['locks:read'] });
    const response = await fetch(service.baseUrl + csvOf(workspace), { headers: { cookie: visitor.cookie() } });
    const body = response.body?.getReader();
    expect((await body?.read())?.done).toBe(false);
    await service.storage.commit('global', (db) => revokeToken(db, service.storage.now, visitor.id));
    const readOn = async () => {
      for (let isOver = false; !isOver; ) isOver = (await body?.read())?.done ?? true;
    };
    await expect(readOn()).rejects.toThrow();
  });
});

describe('the page of a path', () => {
  const factsIn = (page: string) =>
    [...page.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/gs)].map(
      ([, name, text = '']) => `${name}: ${text.replaceAll(/<[^>]*>/g, '')}`,
    );

  test('shows the holder, and offers to lock or release the path if the token may', async () => {
    const workspace = await service.workspace();
    const address = pathUrl(workspace, 'a/b');
    const lockIt = `<a class="button primary" href="/workspaces/${workspace}/locks/new?path=a%2Fb">Lock it</a>`;
    expect((await reader.get(address)).text).toContain('Nobody holds a lock on this path.');
    expect((await reader.get(address)).text).not.toContain(lockIt);
    expect((await bob.get(address)).text).toContain(lockIt);
    const { id } = await takeLock(service, workspace, bob.secret, 'a/b', { note: 'Rigging' });
    const { text } = await reader.get(address);
    expect(factsIn(text)).toEqual(
      expect.arrayContaining(['Path: a/b', 'Holder: bob', 'Note: Rigging', expect.stringMatching(/^From run: https:/)]),
    );
    expect(rowsIn(text)).toEqual([`taken | bob from ${run}Rigging`]);
    const button = /href="([^"]+)"[^>]*>((?:Force r|R)elease)</;
    expect(text).not.toMatch(button);
    expect((await bob.get(address)).text.match(button)?.[2]).toBe('Release');
    expect((await ada.get(address)).text.match(button)?.[2]).toBe('Force release');
    expect(urlIn((await bob.get(address)).text, button)).toContain(id);
    const { text: list } = await reader.get(`/workspaces/${workspace}/locks`);
    expect(urlIn(list, /<a class="path" href="([^"]+)"/)).toBe(address);
  });

  test('is found at the URL of any valid path, with its slashes encoded or not', async () => {
    const workspace = await service.workspace();
    await fc.assert(
      fc.asyncProperty(lockPaths, async (asked) => {
        for (const address of [pathUrl(workspace, asked), pathUrl(workspace, asked).replaceAll('%2F', '/')]) {
          const { status, text } = await reader.get(address);
          expect([asked, status]).toEqual([asked, 200]);
          expect(text).toContain(String(html`value="${asked}" data-copies`));
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
      expect([wrong, (await reader.get(pathUrl(workspace, wrong))).status]).toEqual([wrong, 422]);
    }
    expect((await reader.get(`/workspaces/${workspace}/paths/%ff`)).status).toBe(422);
  });

  test('shows the clients that wait in line, except for the one that has acquired the lock', async () => {
    const workspace = await service.workspace();
    const path = 'wanted';
    await takeLock(service, workspace, bob.secret, path);
    const asAda = locksOf(service, workspace, ada.secret);
    const wait = (number: number) =>
      asAda.take(path, { prefer: 'wait=30', referer: `https://ci.example.com/runs/${number}` });
    const first = wait(1);
    await untilWaiting(service, ada.secret, 1);
    const second = wait(2);
    await untilWaiting(service, ada.secret, 2);
    const seen = async () => {
      const { text } = await reader.get(pathUrl(workspace, path));
      const part = /data-part="waiting">(.*?)<\/section>/s.exec(text)?.[1] ?? '';
      return [...part.matchAll(/<td data-label="Who">.*?<a [^>]*>(.*?)<\/a>/gs)].map(([, cell = '']) =>
        cell.replaceAll(/<[^>]*>/g, ''),
      );
    };
    expect(await seen()).toEqual(['ci.example.com/runs/1', 'ci.example.com/runs/2']);
    await locksOf(service, workspace, bob.secret).release(path);
    expect((await first).status).toBe(201);
    expect(await seen()).toEqual(['ci.example.com/runs/2']);
    await asAda.release(path);
    expect((await second).status).toBe(201);
    expect(await seen()).toEqual([]);
  });
});
