import { describe, expect, test } from 'vitest';
import { type DatabaseKind, databaseKinds } from '../../support/databases.ts';
import { lfsOf } from '../lfs/lfs-of.ts';
import { ownerOf, storeObject } from '../lfs/stored-object.ts';
import { storageWithClock } from '../storage/changed-queries.ts';
import { hookedService } from '../webhooks/hooked-service.ts';
import { locksOf } from './shared-service.ts';

const hour = 3_600_000;

/** A database whose clock is ahead of that of the instance. */
const databaseAhead = (kind: DatabaseKind, ms: number): DatabaseKind => ({
  ...kind,
  async open() {
    const { storage, remove } = await kind.open();
    return { storage: storageWithClock(storage, (clock) => `(${clock} + ${ms})`), remove };
  },
});

const cases = databaseKinds.flatMap((kind) => [hour, -hour].map((ms) => [kind.name, ms, kind] as const));

describe.each(cases)('on %s, with a clock that is %i ms ahead of that of an instance', (_name, ms, kind) => {
  const service = hookedService(databaseAhead(kind, ms));
  const isNow = (time: number): void => expect(Math.abs(time - ms - Date.now())).toBeLessThan(hour / 2);

  test('its responses have the time by which their locks expire', async () => {
    const { lock } = await service.hooks();
    const { headers, body } = await lock('a');
    isNow(Date.parse(body.acquired_at));
    const [, start, end] = /^lock_(.{8})-(.{4})-7/.exec(body.id) ?? [];
    isNow(Number.parseInt(`${start}${end}`, 16));
    isNow(Date.parse(headers.get('date') ?? ''));
    isNow(Date.parse((await service.ask('GET', '/healthz')).headers.get('date') ?? ''));
  });

  test('a waiting request is granted the lock when the earlier one has expired by the clock of the database', async () => {
    const { id } = await service.hooks();
    const { take } = locksOf(service, id, (await service.token()).secret);
    const { expires_at } = (await take('a', { ttl: '1s' })).body;
    const { status, body } = await take('a', { prefer: 'wait=30' });
    expect(status).toBe(201);
    const afterMs = Date.parse(body.acquired_at) - Date.parse(expires_at);
    expect(afterMs).toBeGreaterThanOrEqual(0);
    expect(afterMs).toBeLessThan(5_000);
  });

  test('its deliveries have the time of the database', async () => {
    const { register, lock } = await service.hooks();
    const receiver = await service.receiver();
    await register({ url: receiver.url('/hook'), events: ['lock.acquired'] });
    await lock('a');
    const { headers } = await receiver.nextDelivery();
    isNow(Number(headers['webhook-timestamp']) * 1_000);
  });

  test('its download URLs are valid for an hour on every instance', async () => {
    const { id } = await service.hooks();
    const { oid, size } = await storeObject(service.dataFolder, await ownerOf(service, id), Buffer.from('a hero'));
    const { secret } = await service.token();
    const { body } = await lfsOf(service, id, secret).batch([{ oid, size }]);
    const { href, expires_at } = body.objects[0].actions.download;
    isNow(Date.parse(expires_at) - hour);
    expect((await fetch(href)).status).toBe(200);
  });
});
