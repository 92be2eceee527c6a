import { expect, test } from 'vitest';
import { joinLine } from '../../../src/service/locks/waits.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { storePool } from '../../support/stored-pool.ts';
import { waitRequest } from '../../support/waits.ts';
import { signedIn } from './browser-like.ts';
import { takeLock } from './locked-service.ts';

const service = serviceOfTests();

/** Stores waits in line that do not end during the test. */
const storeWaiting = (workspace: string, path: string, ...owners: readonly string[]) =>
  service.storage.commit({ workspace }, (db) =>
    joinLine(
      db,
      service.storage.now,
      owners.map((owner) =>
        waitRequest(`${workspace} ${owner}`, { workspace, owner, paths: [path], presentMs: 3_600_000 }),
      ),
    ),
  );

test('the page of a pool shows who holds each seat, and links to the free ones', async () => {
  const workspace = await service.workspace();
  await storePool(service.storage, workspace, 'unity-pro', 'seats/1', 'host=b1,secret:serial=s3cret', 'seats/2');
  const ada = await signedIn(service, { name: 'ada', scopes: ['locks:write'] });
  await takeLock(service, workspace, ada.secret, 'seats/1', { note: 'License server is being moved' });
  expect((await ada.get(`/workspaces/${workspace}/locks`)).text).toContain(`href="/workspaces/${workspace}/pools"`);
  const { text: pools } = await ada.get(`/workspaces/${workspace}/pools`);
  expect(pools).toContain('<bdi>unity-pro</bdi> <span class="faint">1 of 2 free</span>');
  await storeWaiting(workspace, 'seats/1', 'bo', 'cy', 'di', 'ed');
  const { text } = await ada.get(`/workspaces/${workspace}/pools`);
  const [, first = '', second = ''] = text.split('<th scope="row">');
  for (const part of [
    'seats%2F1',
    'host=b1',
    'serial (secret)',
    '<bdi>ada</bdi>',
    'License server is being moved',
    'runs/7',
  ])
    expect(first).toContain(part);
  expect(first).not.toContain('Lock it');
  expect(first).toContain('4 waiting');
  expect(second).not.toContain('waiting');
  expect(second).toContain(`href="/workspaces/${workspace}/locks/new?path=seats%2F2"`);
  // Not even to the holder: a page may be seen by others.
  expect(text).not.toContain('s3cret');
  const reader = await signedIn(service, { scopes: ['locks:read'] });
  expect((await reader.get(`/workspaces/${workspace}/pools`)).text).not.toContain('Lock it');
  expect((await ada.get(`/workspaces/${await service.workspace()}/pools`)).text).toContain('has no pools.');
});
