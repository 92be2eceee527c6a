import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { pushSecret } from '../../../src/service/workspaces/workspaces.ts';
import { databaseKinds } from '../../support/databases.ts';
import { endlessDisk } from '../../support/endless-disk.ts';
import { createRepository } from '../../support/git-repository.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { signedIn } from '../dashboard/browser-like.ts';
import { expectProblem } from '../http/expect-problem.ts';
import { locksOf, sharedService } from '../http/shared-service.ts';
import { pushDelivery } from '../syncs/push-delivery.ts';

const lock = { path: 'a', type: 'exclusive', ttl: '1h' };

describe.each(databaseKinds)('a service on $name whose disk is low', (kind) => {
  let isLow = false;
  const service = sharedService(kind, { freeDisk: { ...endlessDisk, isLow: () => isLow } });

  test.each([
    ['lock', 'locks', lock],
    ['lock in line', 'locks', lock, { prefer: 'wait=0' }],
    ['lock of Git LFS', 'lfs/locks', { path: 'a' }],
    ['sync', 'sync', { branch: 'main' }],
    ['webhook', 'hooks', { url: 'https://8.8.8.8/hook' }],
  ])(
    'repeats the response to a request for a %s, and refuses a new one',
    async (_, address, json, more: Readonly<Record<string, string>> = {}) => {
      const remote = createRepository(temporaryFolder());
      remote.commit({ branch: 'main', files: {} });
      const workspace = await service.workspace(pathToFileURL(remote.path).href);
      const post = (key: string) => {
        const request = { token: service.secret, headers: { 'idempotency-key': key, ...more }, json };
        return service.ask('POST', `/v1/workspaces/${workspace}/${address}`, request);
      };
      isLow = false;
      const first = await post('1');
      expect(first.status).toBeLessThan(300);
      isLow = true;
      const again = await post('1');
      expect([again.status, again.text]).toEqual([first.status, first.text]);
      expect((await post('2')).status).toBe(503);
    },
  );

  test('repeats the response to a request for a lease, and refuses a new one', async () => {
    const workspace = await service.workspace();
    const put = (id: string, paths: readonly string[]) => {
      const request = { token: service.secret, json: { paths, type: 'exclusive', ttl: '1h' } };
      return service.ask('PUT', `/v1/workspaces/${workspace}/leases/lease-${id.padStart(16, '0')}`, request);
    };
    isLow = false;
    const first = await put('1', ['a', 'b']);
    isLow = true;
    const again = await put('1', ['a', 'b']);
    expect([first.status, again.status, again.body]).toEqual([201, 200, first.body]);
    expectProblem(await put('1', ['c']), 'lease-reused');
    expectProblem(await put('2', ['c']), 'unavailable');
    const end = (id: string) =>
      service.ask('DELETE', `/v1/workspaces/${workspace}/leases/lease-${id.padStart(16, '0')}`, {
        token: service.secret,
      });
    // A request for it may arrive later, when there is space again.
    expect((await end('3')).status).toBe(204);
    for (const _ of [1, 2]) expect((await end('1')).body.released).toEqual(['a', 'b']);
  });

  test('queues the sync of a push, which the forge does not send again', async () => {
    const workspace = await service.workspace();
    const operator = { name: 'operator', tokenId: null, address: null };
    const secret = await service.storage.commit({ workspace }, (db) => pushSecret(db, operator, workspace, false));
    isLow = true;
    const pushed = await service.ask('POST', `/v1/workspaces/${workspace}/push/github`, pushDelivery('github', secret));
    expect([pushed.status, pushed.body.status]).toEqual([202, 'queued']);
  });

  test('locks no file from a page, and says why', async () => {
    const workspace = await service.workspace();
    isLow = false;
    const ada = await signedIn(service, { scopes: ['locks:write'] });
    isLow = true;
    const refused = await ada.post(`/workspaces/${workspace}/locks`, { path: 'a', duration: '1h', note: '' });
    expect([refused.status, refused.text]).toEqual([503, expect.stringContaining('accepts no new work')]);
    expect(await locksOf(service, workspace, ada.secret).paths()).toEqual([]);
  });
});
