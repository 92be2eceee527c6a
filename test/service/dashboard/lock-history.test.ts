import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { csvLine } from '../../../src/service/dashboard/pages/lock-history.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { locksOf } from '../http/shared-service.ts';
import { lfsOf } from '../lfs/lfs-of.ts';
import { rowsIn, type SignedIn, signedIn } from './browser-like.ts';
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

/** Stores a history in which this number of locks ended, one each millisecond. */
const seedHistory = (workspace: string, count: number, prefix: string) =>
  service.storage.commit('global', (db) =>
    sql`insert into lock_history (workspace_id, ended_at, fence, path, lock_id, owner, acquired_at)
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(count)})
      select ${workspace}, n, n, ${prefix} || n, 'lock_' || n, 'ada', 0 from numbers`.execute(db),
  );

const run = 'ci.example.com/game/runs/7/attempts/1';

describe('the lock history of a workspace', () => {
  test('lists the locks of all owners through the API, Git LFS and the pages, and filters them', async () => {
    const workspace = await service.workspace();
    await takeLock(service, workspace, bob.secret, 'a', { note: 'Rigging' });
    await locksOf(service, workspace, ada.secret).release('a', {}, '?force=true');
    const drawn = (await lfsOf(service, workspace, ada.secret).take('b')).body.lock;
    await lfsOf(service, workspace, ada.secret).release(drawn.id);
    const last = await takeLock(service, workspace, ada.secret, 'c');
    await ada.post(`/workspaces/${workspace}/locks/release`, { lock: last.id });
    const withoutEnd = (row: string) => row.replace(/ \| [^|]*(?= \| [^|]*$)/, '');
    expect(rowsIn((await reader.get(historyOf(workspace))).text).map(withoutEnd)).toEqual([
      `c | ada from ${run} | released`,
      'b | ada | released',
      `a | bob from ${run}Rigging | force-released by ada`,
    ]);
    const only = async (search: string) => rowsIn((await reader.get(historyOf(workspace, search))).text).length;
    for (const [search, found] of [
      ['?path=a', 1],
      ['?path=&before=', 3],
      ['?before=2100-01-01', 3],
      ['?path=a&before=2020-01-01', 0],
    ] as const) {
      expect([search, await only(search)]).toEqual([search, found]);
    }
  });

  test('keeps the filter on every page, and in the file', async () => {
    const workspace = await service.workspace();
    await seedHistory(workspace, 120, 'p/');
    const linksIn = (text: string) =>
      [...text.matchAll(/href="([^"]*locks\/history[^"]*before=[^"]*)"/g)].map(([, href = '']) =>
        href.replaceAll('&amp;', '&'),
      );
    const first = await reader.get(historyOf(workspace, '?before=2100-01-01'));
    const [file, second = ''] = linksIn(first.text);
    const { text } = await reader.get(second);
    expect(rowsIn(text)).toHaveLength(50);
    expect(linksIn(text)).toEqual([
      file,
      historyOf(workspace, '?before=2100-01-01'),
      expect.stringContaining('after='),
    ]);
    expect((await reader.get(file ?? '')).text.trim().split('\r\n')).toHaveLength(1 + 120);
  });

  test('rejects invalid filters instead of showing everything', async () => {
    const workspace = await service.workspace();
    for (const search of ['?before=yesterday', '?before=2026-02-31', '?before=1', '?path=%00', '?path=%ff']) {
      expect([search, (await reader.get(historyOf(workspace, search))).status]).toEqual([search, 422]);
      expect((await reader.get(csvOf(workspace, search))).status).toBe(422);
    }
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
    const columns = 'path,owner,acquired_at,ended_at,kind,ended_by,origin,note,lock_id';
    expect(lines[0]?.replace('\uFEFF', '')).toBe(columns);
    const rest = `"'=cmd|calc,""x""",bob`;
    const times = /,\d{4}-\d\d-\d\dT[\d:.]+Z/g;
    expect(lines.slice(1).map((line) => line.replace(times, ',T').replace(/lock_[\w-]+/, 'ID'))).toEqual([
      `${rest},T,T,force-released,ada,https://ci.example.com/?a=1,'@SUM(A1),ID`,
      '',
    ]);
    expect((await reader.get(csvOf(workspace, '?path=other'))).text).not.toContain('bob');
  });

  test('continues read after read, ends at its limit, and then says so', async () => {
    const workspace = await service.workspace();
    await seedHistory(workspace, 2_500, 'p/');
    const { text } = await reader.get(csvOf(workspace));
    expect(new Set(text.trim().split('\r\n')).size).toBe(1 + 2_500);
    expect(text).not.toContain('This file has reached its maximum length');

    const other = await service.workspace();
    await seedHistory(other, 10_001, 'q/');
    const long = (await reader.get(csvOf(other))).text.trim().split('\r\n');
    expect(long).toHaveLength(1 + 10_000 + 1);
    const [, before] =
      /reached its maximum length\. For the rest, set (before=\S+) in its URL/.exec(long.at(-1) ?? '') ?? [];
    const rest = (await reader.get(csvOf(other, `?${before}`))).text.trim().split('\r\n');
    expect(rest.slice(1)).toEqual([expect.stringMatching(/^q\/1,/)]);
  });
});
