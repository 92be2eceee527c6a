import { describe, expect, test } from 'vitest';
import { type Scope, scopes } from '../../../src/service/contract/scopes.ts';
import { createUrlSigner, urlKey } from '../../../src/service/lfs/signed-url.ts';
import { databaseKinds } from '../../support/databases.ts';
import { changeRows } from '../../support/stored-rows.ts';
import { sufficientFor } from '../http/operations.ts';
import { sharedService } from '../http/shared-service.ts';
import { expectLfsError, lfsMediaType, lfsOf } from './lfs-of.ts';
import { ownerOf, storeObject } from './stored-object.ts';

describe.each(databaseKinds)('a batch of objects over Git LFS on $name', (kind) => {
  const service = sharedService(kind);
  const batchOf = async (remote: string, lfs_url: string | null = null, token = service.secret) =>
    lfsOf(service, await service.workspace(remote, { lfs_url }), token).batch();

  test.each([
    ['https://git.example.com/studio/game', 'https://git.example.com/studio/game.git/info/lfs/objects/batch'],
    ['https://git.example.com:8443/game.git//', 'https://git.example.com:8443/game.git/info/lfs/objects/batch'],
  ])('for the remote %s redirects to %s', async (remote, location) => {
    const { status, headers, body } = await batchOf(remote);
    expect([status, headers.get('location')]).toEqual([307, location]);
    expect(body.message).toContain(location.replace('/objects/batch', ''));
  });

  test('never exposes the credentials of the remote', async () => {
    const { headers, text } = await batchOf('https://mirror:s3cret-password@git.example.com/game.git');
    expect(headers.get('location')).toBe('https://git.example.com/game.git/info/lfs/objects/batch');
    expect(text + JSON.stringify([...headers])).not.toMatch(/s3cret|mirror/);
  });

  test.each(['ssh://git@git.example.com/game.git', 'file:///srv/game.git', 'not a remote'])(
    'for the remote %s names the missing setting, and redirects to the store after --lfs-url is set',
    async (remote) => {
      expect(expectLfsError(await batchOf(remote), 422)).toMatch(/workspace-service workspace update \S+ --lfs-url/);
      const { status, headers } = await batchOf(remote, 'https://lfs.example.com/game');
      expect([status, headers.get('location')]).toEqual([307, 'https://lfs.example.com/game/objects/batch']);
    },
  );

  const content = Buffer.from('a hero');

  /** A workspace whose mirror has an object, and a token with these scopes. */
  async function stocked(scopes: readonly Scope[] = ['contents:read']) {
    const workspace = await service.workspace();
    const { oid, size } = await storeObject(service.dataFolder, await ownerOf(service, workspace), content);
    const { secret } = await service.token({ scopes });
    return { workspace, object: { oid, size }, lfs: lfsOf(service, workspace, secret) };
  }

  test('returns URLs of the service for objects in the mirror, valid for an hour without credentials', async () => {
    const { workspace, object, lfs } = await stocked();
    const { status, headers, body } = await lfs.batch([object], { transfers: ['ssh', 'basic'], hash_algo: 'sha256' });
    expect([status, headers.get('content-type')]).toEqual([200, lfsMediaType]);
    const [{ actions, ...named }] = body.objects;
    expect([body.transfer, body.hash_algo, named]).toEqual(['basic', 'sha256', { ...object, authenticated: true }]);
    const { href, expires_in, expires_at } = actions.download;
    expect(href).toMatch(`${service.baseUrl}/v1/workspaces/${workspace}/lfs/objects/${object.oid}?`);
    expect(expires_in).toBe(3_600);
    expect(Math.abs(Date.parse(expires_at) - Date.now() - 3_600_000)).toBeLessThan(60_000);
    expect(await (await fetch(href)).text()).toBe('a hero');
  });

  test('redirects to the store if the mirror lacks one, or names it if no store is known', async () => {
    const { object, lfs, workspace } = await stocked();
    const missing = { oid: 'a'.repeat(64), size: 1 };
    expect((await lfs.batch([object, missing])).status).toBe(307);
    await changeRows(service.storage, 'workspaces', { remote: 'git@example.com:game.git' }, { id: workspace });
    const { body } = await lfs.batch([object, missing]);
    const message = expect.stringMatching(/^The mirror lacks it\. .*--lfs-url/);
    expect(body.objects).toMatchObject([
      { ...object, authenticated: true },
      { ...missing, error: { code: 404, message } },
    ]);
  });

  test('returns URLs that are valid at every instance', async () => {
    const keys = await Promise.all(Array.from({ length: 5 }, () => urlKey(service.storage)));
    expect(new Set(keys).size).toBe(1);
    const { object, workspace, lfs } = await stocked();
    const { href } = (await lfs.batch([object])).body.objects[0].actions.download;
    const elsewhere = createUrlSigner(keys[0] ?? '', Date.now);
    const sent = Object.fromEntries(new URL(href).searchParams);
    expect(elsewhere.verify(workspace, object.oid, sent)).toEqual({ kind: 'valid', size: object.size });
  });

  type Batch = Parameters<ReturnType<typeof lfsOf>['batch']>;
  type Named = { readonly oid: string; readonly size: number };

  test.each<[string, (object: Named) => Batch]>([
    ['an upload', (object) => [[object], { operation: 'upload' }]],
    ['a different size', ({ oid, size }) => [[{ oid, size: size + 1 }]]],
    ['another transfer', (object) => [[object], { transfers: ['tus'] }]],
    ['no objects', () => [[]]],
    [
      'a proxied request that may have used TLS',
      (object) => [[object], {}, { headers: { 'x-forwarded-for': '10.0.0.1' } }],
    ],
  ])('redirects to the store for %s', async (_, batch) => {
    const { object, lfs } = await stocked();
    const { status, headers } = await lfs.batch(...batch(object));
    expect([status, headers.get('location')]).toEqual([
      307,
      'https://git.example.com/assets.git/info/lfs/objects/batch',
    ]);
  });

  test.each(scopes)('returns objects to a token with the scope %s only if it may read them', async (scope) => {
    const { object, lfs } = await stocked([scope]);
    expect((await lfs.batch([object])).status).toBe(sufficientFor['contents:read'].includes(scope) ? 200 : 307);
  });

  test.each<readonly [number, string, object]>([
    [422, 'operation', {}],
    [422, 'operation', { operation: 'delete' }],
    [422, 'objects', { operation: 'download' }],
    ...['A'.repeat(64), `../${'a'.repeat(61)}`, 1].map(
      (oid) => [422, 'oid', { operation: 'download', objects: [{ oid, size: 1 }] }] as const,
    ),
    ...[-1, 1.5, 2 ** 53, '1'].map(
      (size) => [422, 'size', { operation: 'download', objects: [{ oid: 'a'.repeat(64), size }] }] as const,
    ),
    [409, 'sha256', { operation: 'download', objects: [], hash_algo: 'sha512' }],
    [413, '1000', { operation: 'download', objects: Array(1_001).fill({ oid: 'a'.repeat(64), size: 1 }) }],
  ])('responds %s if its %s is invalid', async (status, word, json) => {
    expect(
      expectLfsError(await lfsOf(service, service.home, service.secret).post('/objects/batch', json), status),
    ).toContain(word);
  });
});
