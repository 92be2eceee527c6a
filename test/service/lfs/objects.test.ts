import { describe, expect, test } from 'vitest';
import { type Scope, scopes } from '../../../src/interface/scopes.ts';
import { addressKey, createAddressSigner } from '../../../src/service/lfs/signed-address.ts';
import { databaseKinds } from '../../support/databases.ts';
import { storeObject } from '../../support/stored-object.ts';
import { sufficientFor } from '../http/operations.ts';
import { sharedService } from '../http/shared-service.ts';
import { expectLfsError, lfsMediaType, lfsOf } from './lfs-of.ts';

describe.each(databaseKinds)('objects over Git LFS on $name', (kind) => {
  const service = sharedService(kind);
  const batchOf = async (remote: string, lfs_url: string | null = null, token = service.secret) =>
    lfsOf(service, await service.workspace(remote, { lfs_url }), token).batch();

  test.each([
    ['https://git.example.com/studio/game', 'https://git.example.com/studio/game.git/info/lfs/objects/batch'],
    ['https://git.example.com/studio/game/', 'https://git.example.com/studio/game.git/info/lfs/objects/batch'],
    ['https://git.example.com/studio/game.git', 'https://git.example.com/studio/game.git/info/lfs/objects/batch'],
    ['https://git.example.com:8443/game.git//', 'https://git.example.com:8443/game.git/info/lfs/objects/batch'],
  ])('of %s are at %s', async (remote, location) => {
    const { status, headers, body } = await batchOf(remote);
    expect([status, headers.get('location')]).toEqual([307, location]);
    expect(body.message).toContain(location.replace('/objects/batch', ''));
  });

  test('the credentials of the remote are in no answer', async () => {
    const { headers, text } = await batchOf('https://mirror:s3cret-password@git.example.com/game.git');
    expect(headers.get('location')).toBe('https://git.example.com/game.git/info/lfs/objects/batch');
    expect(text + JSON.stringify([...headers])).not.toMatch(/s3cret|mirror/);
  });

  test.each([
    'ssh://git@git.example.com/game.git',
    'git@git.example.com:game.git',
    'file:///srv/game.git',
    'not a remote',
  ])(
    'of %s are nowhere that is known, and the message says what to set; with --lfs-url they are there',
    async (remote) => {
      expect(expectLfsError(await batchOf(remote), 422)).toMatch(/workspace-service workspace update \S+ --lfs-url/);
      const { status, headers } = await batchOf(remote, 'https://lfs.example.com/game');
      expect([status, headers.get('location')]).toEqual([307, 'https://lfs.example.com/game/objects/batch']);
    },
  );

  const content = Buffer.from('a hero');

  /** A workspace whose mirror has an object, for whoever has these scopes. */
  async function stocked(scopes: readonly Scope[] = ['contents:read']) {
    const workspace = await service.workspace();
    const { oid, size } = await storeObject(service.dataFolder, workspace, content);
    const { secret } = await service.token({ scopes });
    return { workspace, object: { oid, size }, lfs: lfsOf(service, workspace, secret) };
  }

  test('that the mirror has are at an address of the service, for an hour, and no credentials go with them', async () => {
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

  test('have addresses that hold at every instance', async () => {
    const keys = await Promise.all(Array.from({ length: 5 }, () => addressKey(service.storage)));
    expect(new Set(keys).size).toBe(1);
    const { object, workspace, lfs } = await stocked();
    const { href } = (await lfs.batch([object])).body.objects[0].actions.download;
    const elsewhere = createAddressSigner(keys[0] ?? '', Date.now);
    const sent = Object.fromEntries(new URL(href).searchParams);
    expect(elsewhere.verify(workspace, object.oid, sent)).toEqual({ kind: 'valid', size: object.size });
  });

  type Batch = Parameters<ReturnType<typeof lfsOf>['batch']>;
  type Named = { readonly oid: string; readonly size: number };

  test.each<[string, (object: Named) => Batch]>([
    ['uploads', (object) => [[object], { operation: 'upload' }]],
    ['another size', ({ oid, size }) => [[{ oid, size: size + 1 }]]],
    ['other ways to transfer them', (object) => [[object], { transfers: ['tus'] }]],
    ['none', () => [[]]],
    [
      'those of a proxy that may have been asked by TLS',
      (object) => [[object], {}, { headers: { 'x-forwarded-for': '10.0.0.1' } }],
    ],
  ])('are asked of the store: %s', async (_, batch) => {
    const { object, lfs } = await stocked();
    const { status, headers } = await lfs.batch(...batch(object));
    expect([status, headers.get('location')]).toEqual([
      307,
      'https://git.example.com/assets.git/info/lfs/objects/batch',
    ]);
  });

  test.each(scopes)('with the scope %s alone are where it may read them', async (scope) => {
    const { object, lfs } = await stocked([scope]);
    expect((await lfs.batch([object])).status).toBe(sufficientFor['contents:read'].includes(scope) ? 200 : 307);
  });

  test.each<readonly [number, string, object]>([
    [422, 'operation', {}],
    [422, 'operation', { operation: 'delete' }],
    [422, 'objects', { operation: 'download' }],
    ...[`${'a'.repeat(63)}`, 'A'.repeat(64), `../${'a'.repeat(61)}`, 1].map(
      (oid) => [422, 'oid', { operation: 'download', objects: [{ oid, size: 1 }] }] as const,
    ),
    ...[-1, 1.5, 2 ** 53, '1'].map(
      (size) => [422, 'size', { operation: 'download', objects: [{ oid: 'a'.repeat(64), size }] }] as const,
    ),
    [409, 'sha256', { operation: 'download', objects: [], hash_algo: 'sha512' }],
    [413, '1000', { operation: 'download', objects: Array(1_001).fill({ oid: 'a'.repeat(64), size: 1 }) }],
  ])('%s for a batch whose %s is wrong', async (status, word, json) => {
    expect(
      expectLfsError(await lfsOf(service, service.home, service.secret).post('/objects/batch', json), status),
    ).toContain(word);
  });
});
