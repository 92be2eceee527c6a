import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type LfsStore, startLfsStore } from '../../../support/lfs-store.ts';
import { storeObject } from '../../../support/stored-object.ts';
import { sharedService } from '../../http/shared-service.ts';
import { expectLfsError, lfsOf } from '../lfs-of.ts';

/** A batch of two objects, of which the mirror has one. */
const service = sharedService();
let store: LfsStore;

beforeEach(async () => {
  store = await startLfsStore();
});
afterEach(() => store.stop());

const oidNumber = (index: number): string => String(index).padStart(64, '0');

/** Lets everybody in, and answers for the object that the mirror lacks. */
function answering(answer: object): void {
  store.behaviour.batch = (_request, response, [object]) => {
    response.writeHead(200).end(JSON.stringify({ transfer: 'basic', objects: [{ ...object, ...answer }] }));
    return true;
  };
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
    /** With as many more that the mirror lacks. */
    largeBatch: (count: number) =>
      lfs.batch([here, ...Array.from({ length: count }, (_, index) => ({ ...missing, oid: oidNumber(index) }))]),
  };
}

test('the store is asked for what the mirror lacks, and its answer is passed on beside that of the mirror', async () => {
  const href = 'https://cdn.example.com/object?signature=of-the-store';
  answering({ authenticated: true, actions: { download: { href, expires_in: 600 } } });
  const { here, missing, batch, workspace } = await halfMirrored();
  const { status, body } = await batch();
  expect([status, body.transfer]).toEqual([200, 'basic']);
  expect(body.objects).toEqual([
    { ...missing, authenticated: true, actions: { download: { href, expires_in: 600 } } },
    { ...here, authenticated: true, actions: { download: expect.objectContaining({ expires_in: 3_600 }) } },
  ]);
  expect(body.objects[1].actions.download.href).toContain(`/v1/workspaces/${workspace}/lfs/objects/${here.oid}?`);
  expect(store.authorizations).toEqual([undefined]);
});

test('what the store has not is told of as missing, beside what the mirror has', async () => {
  answering({ error: { code: 404, message: 'Object does not exist' } });
  const { missing, batch } = await halfMirrored();
  const { body } = await batch();
  expect(body.objects[0]).toEqual({
    ...missing,
    error: { code: 404, message: 'The mirror lacks it. The store does not have it.' },
  });
  expect(body.objects[1].actions).toBeDefined();
});

describe('the client asks the store for all', () => {
  const action = (download: object) => ({ actions: { download } });

  test.each<[string, object]>([
    [
      'would be given a credential of the service',
      action({ href: 'https://a/b', header: { Authorization: 'Basic sesame' } }),
    ],
    ['would be given a header that may be one', action({ href: 'https://a/b', header: { 'X-Token': 'sesame' } })],
    ['would be sent to what is no web address', action({ href: 'file:///etc/passwd' })],
    ['would be sent to an address with a password', action({ href: 'https://a:b@c/d' })],
    ['would be told of trouble that may have passed', { error: { code: 503, message: 'Later' } }],
    ['would be told of another object', { oid: 'a'.repeat(64) }],
  ])('where it %s', async (_, answer) => {
    answering(answer);
    const { batch } = await halfMirrored();
    const { status, headers, text } = await batch();
    expect([status, headers.get('location')]).toEqual([307, `${store.url}/objects/batch`]);
    expect(text + JSON.stringify([...headers])).not.toMatch(/sesame|s3cret|passwd/);
  });

  test('where the store does not let the service in, which is not tried again with each batch', async () => {
    const { batch } = await halfMirrored();
    expect([(await batch()).status, (await batch()).status]).toEqual([307, 307]);
    expect(store.authorizations).toEqual([undefined]);
  });

  test('where the store is down', async () => {
    const { batch } = await halfMirrored();
    store.stop();
    expect((await batch()).status).toBe(307);
  });
});

test('a store is asked for fewer objects where it does not take so many at once', async () => {
  store.behaviour.batch = (_request, response, objects) => {
    const error = { code: 404, message: 'Object does not exist' };
    if (objects.length > 30) response.writeHead(413).end();
    else response.writeHead(200).end(JSON.stringify({ objects: objects.map((object) => ({ ...object, error })) }));
    return true;
  };
  const { largeBatch } = await halfMirrored();
  const { status, body } = await largeBatch(999);
  expect([status, body.objects.length]).toEqual([200, 1_000]);
});

test('a batch that the store refuses keeps nobody from asking it for others', async () => {
  const { batch, largeBatch } = await halfMirrored();
  answering({ error: { code: 404, message: 'Object does not exist' } });
  const good = store.behaviour.batch;
  store.behaviour.batch = (_request, response) => {
    response.writeHead(422).end();
    return true;
  };
  expect((await largeBatch(2)).status).toBe(307);
  store.behaviour.batch = good;
  expect((await batch()).status).toBe(200);
});

test('a client that can be sent nowhere gets what the mirror has, and is told what to set for the rest', async () => {
  const { batch, missing } = await halfMirrored('file:///nowhere/game.git', null);
  const { status, body } = await batch();
  expect([status, body.objects[0].oid, body.objects[0].error.code]).toEqual([200, missing.oid, 404]);
  expect(body.objects[0].error.message).toContain('--lfs-url');
  expect(body.objects[1].actions).toBeDefined();
  const empty = await service.workspace('file:///nowhere/game.git');
  expectLfsError(await lfsOf(service, empty, service.secret).batch([missing]), 422);
});
