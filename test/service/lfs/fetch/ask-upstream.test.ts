import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type LfsStore, startLfsStore } from '../../../support/lfs-store.ts';
import { json, nothing } from '../../../support/other-servers/responses.ts';
import { storeObject } from '../../../support/stored-object.ts';
import { sharedService } from '../../http/shared-service.ts';
import { expectLfsError, lfsOf } from '../lfs-of.ts';

/** Tests batches of two objects, only one of which is in the mirror. */
const service = sharedService();
let store: LfsStore;

beforeEach(async () => {
  store = await startLfsStore();
});
afterEach(() => store.close());

const oidNumber = (index: number): string => String(index).padStart(64, '0');

/** Accepts every client, and responds with this answer for the object that the mirror lacks. */
function answering(answer: object): void {
  store.behaviour.batch = (_request, [object]) => json(200, { transfer: 'basic', objects: [{ ...object, ...answer }] });
}

async function halfMirrored(remote = 'https://ci:s3cret@git.example.com/game.git', lfs_url: string | null = store.url) {
  const workspace = await service.workspace(remote, { lfs_url });
  const { oid, size } = await storeObject(service.dataFolder, workspace, Buffer.from('here'));
  const missing = store.put('elsewhere');
  const { secret } = await service.token({ scopes: ['contents:read'] });
  const lfs = lfsOf(service, workspace, secret);
  const here = { oid, size };
  return {
    workspace,
    here,
    missing,
    batch: () => lfs.batch([missing, here]),
    /** Requests a batch with this number of further objects that the mirror lacks. */
    largeBatch: (count: number) =>
      lfs.batch([here, ...Array.from({ length: count }, (_, index) => ({ ...missing, oid: oidNumber(index) }))]),
  };
}

test('queries the store for objects that the mirror lacks, and adds its answer to the response', async () => {
  const href = 'https://cdn.example.com/object?signature=of-the-store';
  answering({ authenticated: true, actions: { download: { href, expires_in: 600 } } });
  const { here, missing, batch, workspace } = await halfMirrored();
  const { status, body } = await batch();
  expect([status, body.transfer]).toEqual([200, 'basic']);
  expect(body.objects).toEqual([
    { ...missing, authenticated: true, actions: { download: { href, expires_in: expect.closeTo(600, -1) } } },
    { ...here, authenticated: true, actions: { download: expect.objectContaining({ expires_in: 3_600 }) } },
  ]);
  expect(body.objects[1].actions.download.href).toContain(`/v1/workspaces/${workspace}/lfs/objects/${here.oid}?`);
  expect(store.authorizations).toEqual([undefined]);
});

test('reports objects that the store lacks as missing, and still returns those of the mirror', async () => {
  answering({ error: { code: 404, message: 'Object does not exist' } });
  const { missing, batch } = await halfMirrored();
  const { body } = await batch();
  expect(body.objects[0]).toEqual({
    ...missing,
    error: { code: 404, message: 'The mirror lacks it. The store does not have it.' },
  });
  expect(body.objects[1].actions).toBeDefined();
});

describe('a batch with missing objects', () => {
  const action = (download: object) => ({ actions: { download } });

  test.each<[string, object]>([
    [
      'contains a credential of the service',
      action({ href: 'https://a/b', header: { Authorization: 'Basic sesame' } }),
    ],
    ['contains a header that may be a credential', action({ href: 'https://a/b', header: { 'X-Token': 'sesame' } })],
    ['contains a URL that is not a web URL', action({ href: 'file:///etc/passwd' })],
    ['contains a URL with a password', action({ href: 'https://a:b@c/d' })],
    ['reports a transient error', { error: { code: 503, message: 'Later' } }],
    ['names another object', { oid: 'a'.repeat(64) }],
  ])('redirects to the store if its response %s', async (_, answer) => {
    answering(answer);
    const { batch } = await halfMirrored();
    const { status, headers, text } = await batch();
    expect([status, headers.get('location')]).toEqual([307, `${store.url}/objects/batch`]);
    expect(text + JSON.stringify([...headers])).not.toMatch(/sesame|s3cret|passwd/);
  });

  test('redirects to a store that rejects the service, which then stops asking it', async () => {
    const { batch } = await halfMirrored();
    expect([(await batch()).status, (await batch()).status]).toEqual([307, 307]);
    // One request, and one with credentials that are read again.
    expect(store.authorizations).toEqual([undefined, undefined]);
  });

  test('redirects to a store that is down', async () => {
    const { batch } = await halfMirrored();
    store.close();
    expect((await batch()).status).toBe(307);
  });
});

test('sends smaller batches to a store that rejects large ones', async () => {
  const error = { code: 404, message: 'Object does not exist' };
  store.behaviour.batch = (_request, objects) =>
    objects.length > 30 ? nothing(413) : json(200, { objects: objects.map((object) => ({ ...object, error })) });
  const { largeBatch } = await halfMirrored();
  const { status, body } = await largeBatch(999);
  expect([status, body.objects.length]).toEqual([200, 1_000]);
});

test('queries the store again after it has rejected a batch', async () => {
  const { batch, largeBatch } = await halfMirrored();
  answering({ error: { code: 404, message: 'Object does not exist' } });
  const good = store.behaviour.batch;
  store.behaviour.batch = () => nothing(422);
  expect((await largeBatch(2)).status).toBe(307);
  store.behaviour.batch = good;
  expect((await batch()).status).toBe(200);
});

test('returns the objects of the mirror if there is no store, and names the setting for the rest', async () => {
  const { batch, missing } = await halfMirrored('file:///nowhere/game.git', null);
  const { status, body } = await batch();
  expect([status, body.objects[0].oid, body.objects[0].error.code]).toEqual([200, missing.oid, 404]);
  expect(body.objects[0].error.message).toContain('--lfs-url');
  expect(body.objects[1].actions).toBeDefined();
  const empty = await service.workspace('file:///nowhere/game.git');
  expectLfsError(await lfsOf(service, empty, service.secret).batch([missing]), 422);
});
