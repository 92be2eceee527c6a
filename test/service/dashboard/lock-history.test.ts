import { beforeAll, describe, expect, test } from 'vitest';
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
    await takeLock(service, workspace, bob.secret, 'd');
    const withoutEnd = (row: string) => row.replace(/ \| [^|]*(?= \| [^|]*$)/, '');
    expect(rowsIn((await reader.get(historyOf(workspace))).text).map(withoutEnd)).toEqual([
      `d | bob from ${run} | held`,
      `c | ada from ${run} | released`,
      'b | ada | released',
      `a | bob from ${run}Rigging | force-released by ada`,
    ]);
    const only = async (search: string) => rowsIn((await reader.get(historyOf(workspace, search))).text).length;
    const today = new Date().toISOString().slice(0, 10);
    for (const [search, found] of [
      ['?owner=bob', 2],
      ['?prefix=a&kind=force-released', 1],
      ['?prefix=&owner=&kind=&from=&to=', 4],
      [`?from=${today}`, 4],
      ['?kind=held', 1],
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
    }
  });
});
