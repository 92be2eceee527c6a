import { describe, expect, onTestFinished, test } from 'vitest';
import { createPostgresDatabase, postgresAt, postgresServer } from '../../support/databases.ts';
import { startTestService } from '../../support/running-service.ts';
import { locksOf, untilWaiting } from '../http/shared-service.ts';

const path = 'Content/Hero.uasset';

async function twoInstances() {
  const { url, remove } = await createPostgresDatabase(postgresServer ?? '');
  onTestFinished(remove);
  const [first, second] = await Promise.all([startTestService(postgresAt(url)), startTestService(postgresAt(url))]);
  onTestFinished(async () => void (await Promise.all([first.stop(), second.stop()])));
  const { secret } = await first.token();
  const workspace = await first.workspace();
  return {
    first: locksOf(first, workspace, secret),
    second: locksOf(second, workspace, secret),
    waitingAtFirst: (count: number) => untilWaiting(first, secret, count),
    waitingAtSecond: (count: number) => untilWaiting(second, secret, count),
  };
}

describe.skipIf(postgresServer === undefined)('two instances (needs TEST_DATABASE_URL)', () => {
  test('grant a lock that is shortened at the one to a client that waits at the other', async () => {
    const { first, second, waitingAtSecond } = await twoInstances();
    async function takeAndWait(wanted: string) {
      const { headers } = await first.take(wanted);
      const waiting = second.take(wanted, { prefer: 'wait=30' });
      await waitingAtSecond(1);
      return { headers, waiting };
    }
    // An instance looks up everything when it begins to listen to others.
    const { waiting: before } = await takeAndWait('other');
    await first.release('other');
    await before;
    const { headers, waiting } = await takeAndWait(path);
    expect((await first.take(path, { ttl: '1s', 'if-match': headers.get('etag') ?? '' })).status).toBe(200);
    expect((await waiting).status).toBe(201);
  });
});

describe.skipIf(postgresServer === undefined)('a proxy that hides disconnections (needs TEST_DATABASE_URL)', () => {
  const key = { 'idempotency-key': 'hidden-client' };
  const waits = { ...key, prefer: 'wait=30' };

  test.each([{}, { prefer: 'wait=1' }])(
    'costs nobody a lock after the client has asked again elsewhere (%j)',
    async (prefer) => {
      const { first, second, waitingAtFirst } = await twoInstances();
      await first.take(path);
      const hidden = first.take(path, waits);
      await waitingAtFirst(1);
      expect((await second.take(path, { ...key, ...prefer })).status).toBe(409);
      await second.release(path);
      await expect.poll(async () => (await second.take(path)).status).toBe(201);
      expect((await hidden).status).toBe(409);
    },
  );

  test('does not keep the lock from a client that waits elsewhere now', async () => {
    const { first, second, waitingAtFirst, waitingAtSecond } = await twoInstances();
    await first.take(path);
    const hidden = first.take(path, waits);
    await waitingAtFirst(1);
    const again = second.take(path, waits);
    await waitingAtSecond(1);
    // The instance of the hidden client learns that it is not the one who waits.
    await waitingAtFirst(0);
    await first.release(path);
    expect([(await hidden).status, (await again).status]).toEqual([409, 201]);
  });

  test('leaves no lock to a client whose request was refused, also at the moment of the grant', async () => {
    const { first, second, waitingAtFirst } = await twoInstances();
    for (let round = 0; round < 6; round += 1) {
      const its = { 'idempotency-key': `hidden-client-${round}` };
      await first.take(path);
      const hidden = first.take(path, { ...its, prefer: 'wait=30' });
      await waitingAtFirst(1);
      const [asked] = await Promise.all([second.take(path, its), first.release(path)]);
      // Its request may have met the earlier one while that was granted.
      const last = asked.body.type?.endsWith(':request-in-progress') ? await second.take(path, its) : asked;
      await hidden;
      const free = async (): Promise<number> => (await first.take(path)).status;
      if (last.status !== 201) await expect.poll(free).toBe(201);
      await first.release(path);
    }
  });
});
