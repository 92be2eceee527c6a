import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hookEvents, type Lock } from '../../../src/interface/resources.ts';
import { newSecret } from '../../../src/service/webhooks/signature.ts';
import { realDatabaseKinds, temporaryDataFolder } from '../../support/databases.ts';
import { createRepository } from '../../support/git-repository.ts';
import { hookedService, idOf, verified } from './hooked-service.ts';
import { patient } from './patience.ts';

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe.concurrent.each(realDatabaseKinds)('deliveries on $name', (kind) => {
  const service = hookedService(kind);
  let data: Awaited<ReturnType<typeof temporaryDataFolder>>;
  let remote: string;
  const heads = new Map<string, string>();

  // Beforehand, because making a repository holds up everything else in this process.
  beforeAll(async () => {
    data = await temporaryDataFolder();
    const repository = createRepository(data.folder);
    repository.commit({ branch: 'main', files: { a: '1' } }, { branch: 'art/änderung', files: { b: '2' } });
    for (const branch of ['main', 'art/änderung']) heads.set(branch, repository.head(branch));
    remote = repository.path;
  });
  afterAll(() => data.remove());

  test('locks are told of as they are taken and released, signed for the secret that was made', async () => {
    const { id, register, lock, unlock } = await service().hooks();
    const receiver = await service().receiver();
    const { body: hook } = await register({
      url: receiver.url('/hook?key=the-key-of-the-url'),
      events: [...hookEvents],
    });
    const { body: taken } = await lock('art/hero.psd');
    const first = await receiver.nextDelivery();
    expect([first.method, first.path]).toEqual(['POST', '/hook?key=the-key-of-the-url']);
    expect(verified(hook.secret, first)).toEqual({
      type: 'lock.acquired',
      timestamp: taken.acquired_at,
      data: { workspace: id, lock: taken },
    });

    await unlock('art/hero.psd');
    const second = await receiver.nextDelivery();
    expect(verified(hook.secret, second)).toEqual({
      type: 'lock.released',
      timestamp,
      data: { workspace: id, lock: taken, released_by: 'ada', forced: false },
    });
    expect(idOf(second)).not.toBe(idOf(first));
  });

  test("a release by force tells who released another's lock", async () => {
    const { id, register, lock } = await service().hooks();
    const receiver = await service().receiver();
    const secret = newSecret();
    await register({ url: receiver.url(), events: ['lock.released'], secret });
    const { body: taken } = await lock('a');
    const admin = (await service().token({ name: 'grace', scopes: ['locks:admin'] })).secret;
    await service().call('DELETE', `/v1/workspaces/${id}/locks/a?force=true`, { token: admin });
    expect(verified(secret, await receiver.nextDelivery())).toMatchObject({
      type: 'lock.released',
      data: { lock: taken, released_by: 'grace', forced: true },
    });
  });

  test('a lock that reaches the end of its ttl is told of, with the time when it ended', async () => {
    const { id, register, lock } = await service().hooks();
    const receiver = await service().receiver();
    const secret = newSecret();
    await register({ url: receiver.url(), events: ['lock.expired'], secret });
    const { body: taken } = await lock('a', '1s');
    expect(verified(secret, await receiver.nextDelivery())).toEqual({
      type: 'lock.expired',
      timestamp: taken.expires_at,
      data: { workspace: id, lock: taken },
    });
    expect((await lock('a')).status).toBe(201);
  });

  test('a path that is taken again the moment it is free is told of in that order', async ({ expect }) => {
    const { register, lock } = await service().hooks();
    const receiver = await service().receiver();
    const secret = newSecret();
    await register({ url: receiver.url(), events: [...hookEvents], secret });
    const locks: Lock[] = [(await lock('a', '1s')).body];
    await expect
      .poll(
        async () => {
          const { status, body } = await lock('a');
          if (status === 201) locks.push(body);
          return status;
        },
        { ...patient, interval: 20 },
      )
      .toBe(201);
    const told = [await receiver.nextDelivery(), await receiver.nextDelivery(), await receiver.nextDelivery()];
    expect(told.map((delivery) => verified(secret, delivery))).toMatchObject([
      { type: 'lock.acquired', data: { lock: locks[0] } },
      { type: 'lock.expired', data: { lock: locks[0] } },
      { type: 'lock.acquired', data: { lock: locks[1] } },
    ]);
  });

  test('syncs are told of as they end, only of the branches that a hook names', async () => {
    const { id, register, sync } = await service().hooks(remote);
    const [main, all] = [await service().receiver(), await service().receiver()];
    const secret = newSecret();
    const events = ['sync.succeeded', 'sync.failed'];
    await register({ url: main.url(), events, branches: ['main'], secret });
    await register({ url: all.url(), events, secret });

    const outcome = async (branch: string) => {
      const location = (await sync(branch)).headers.get('location') ?? '';
      const told = verified(secret, await all.nextDelivery());
      return [told, (await service().call('GET', location)).body];
    };
    const [art, artSync] = await outcome('art/änderung');
    expect(artSync).toMatchObject({ status: 'succeeded', head: heads.get('art/änderung') });
    expect(art).toEqual({
      type: 'sync.succeeded',
      timestamp: artSync.finished_at,
      data: { workspace: id, sync: artSync },
    });
    const [told, mainSync] = await outcome('main');
    expect(told).toMatchObject({ type: 'sync.succeeded', data: { sync: mainSync } });
    expect(verified(secret, await main.nextDelivery())).toEqual(told);
    expect(main.deliveries).toHaveLength(1);
  });

  test('a sync that fails is told of with its error', async () => {
    const { register, sync } = await service().hooks(`${data.folder}/nothing-here.git`);
    const receiver = await service().receiver();
    const secret = newSecret();
    await register({ url: receiver.url(), events: ['sync.failed'], secret });
    const { body: queued } = await sync('main');
    expect(verified(secret, await receiver.nextDelivery())).toMatchObject({
      type: 'sync.failed',
      data: {
        sync: { sync_id: queued.sync_id, branch: 'main', status: 'failed', head: null, error: expect.any(String) },
      },
    });
  });

  test('the github format arrives as a repository dispatch, with the headers of the hook', async () => {
    const { id, register, lock } = await service().hooks();
    const receiver = await service().receiver();
    const secret = newSecret();
    const headers = { Authorization: 'Bearer the-token-of-github', 'X-Trace': 'a-trace-of-ours' };
    await register({ url: receiver.url(), events: ['lock.acquired'], format: 'github', headers, secret });
    const { body: taken } = await lock('a');
    const delivery = await receiver.nextDelivery();
    expect(verified(secret, delivery)).toEqual({
      event_type: 'lock.acquired',
      client_payload: {
        id: idOf(delivery),
        type: 'lock.acquired',
        timestamp: taken.acquired_at,
        data: { workspace: id, lock: taken },
      },
    });
    expect(delivery.headers).toMatchObject({
      authorization: 'Bearer the-token-of-github',
      'x-trace': 'a-trace-of-ours',
      accept: 'application/vnd.github+json',
    });
  });

  test('the buildkite format arrives as a build of the commit that was synced, with the headers of the hook', async () => {
    const { id, register, sync } = await service().hooks(remote);
    const receiver = await service().receiver();
    const secret = newSecret();
    const headers = { Authorization: 'Bearer the-token-of-buildkite' };
    await register({ url: receiver.url(), format: 'buildkite', headers, secret });
    const { body: queued } = await sync('main');
    const delivery = await receiver.nextDelivery();
    expect(verified(secret, delivery)).toMatchObject({
      commit: heads.get('main'),
      branch: 'main',
      meta_data: { event_id: idOf(delivery), event: 'sync.succeeded', workspace: id, sync_id: queued.sync_id },
    });
    expect(delivery.headers.authorization).toBe('Bearer the-token-of-buildkite');
  });

  test('a hook that is registered again is told in its new format, with its new headers, under its old secret', async () => {
    const { register, lock } = await service().hooks();
    const receiver = await service().receiver();
    const events = ['lock.acquired'];
    const { body: hook } = await register({ url: receiver.url(), events, headers: { 'x-old': 'an-old-header' } });
    await register({ url: receiver.url(), events, format: 'github', headers: { 'x-new': 'a-new-header' } });
    await lock('a');
    const delivery = await receiver.nextDelivery();
    expect(verified(hook.secret, delivery)).toMatchObject({ event_type: 'lock.acquired' });
    expect([delivery.headers['x-old'], delivery.headers['x-new']]).toEqual([undefined, 'a-new-header']);
  });

  test('a delivery that failed is tried again, and the log says why', async ({ expect }) => {
    const { register, lock } = await service().hooks();
    const target = await service().receiver();
    target.behave({ does: 'answer', status: 500 }, { does: 'answer', status: 204 });
    const url = target.url('/hook?key=the-key-of-the-url');
    const headers = { authorization: 'Bearer the-credential' };
    const { body: hook } = await register({ url, events: ['lock.acquired'], headers });
    await lock('a');
    const first = await target.nextDelivery();
    // The first step of the schedule is 5 s; the test has no time to lose.
    const { storage, log } = service();
    await expect
      .poll(async () => {
        const hurry = storage.commit('global', (db) =>
          db
            .updateTable('deliveries')
            .set({ next_attempt_at: 0 })
            .where('hook_id', '=', hook.id)
            .where('attempts', '=', 1)
            .executeTakeFirst(),
        );
        return (await hurry).numUpdatedRows;
      }, patient)
      .toBe(1n);
    const second = await target.nextDelivery();
    expect(verified(hook.secret, second)).toEqual(verified(hook.secret, first));
    expect(idOf(second)).toBe(idOf(first));
    expect(log()).toContain(`${new URL(url).origin} answered with the status 500.`);
  });

  test('a receiver that keeps its connections waiting does not hold up other hooks, and gets one delivery at a time', async ({
    expect,
  }) => {
    const { register, lock } = await service().hooks();
    const [slow, quick] = [await service().receiver(), await service().receiver()];
    slow.behave({ does: 'hang' });
    const secret = newSecret();
    for (const { url } of [slow, quick]) await register({ url: url(), events: ['lock.acquired'], secret });
    const paths = Array.from({ length: 20 }, (_, index) => `file-${index}`);
    await Promise.all(paths.map((path) => lock(path)));
    const told = await Promise.all(paths.map(() => quick.nextDelivery()));
    const locked = told.map((delivery) => (verified(secret, delivery) as { data: { lock: Lock } }).data.lock.path);
    expect(locked.toSorted()).toEqual(paths.toSorted());
    await expect.poll(() => slow.deliveries.length, patient).toBe(1);
  });
});
