import { describe, expect, onTestFinished, test } from 'vitest';
import { createPostgresDatabase, postgresAt, postgresServer } from '../../support/databases.ts';
import { startTestService } from '../../support/running-service.ts';
import { locksOf, untilWaiting } from '../http/shared-service.ts';

const path = 'Content/Hero.uasset';

describe.skipIf(postgresServer === undefined)('a proxy that hides disconnections (needs TEST_DATABASE_URL)', () => {
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
  const key = { 'idempotency-key': 'hidden-client' };
  const waits = { ...key, prefer: 'wait=30' };

  test.each([{}, { prefer: 'wait=0' }, { prefer: 'wait=1' }])(
    'costs nobody a lock after the client has asked again elsewhere (%j)',
    async (prefer) => {
      const { first, second, waitingAtFirst } = await twoInstances();
      await first.take(path);
      const hidden = first.take(path, waits);
      await waitingAtFirst(1);
      expect((await second.take(path, { ...key, ...prefer })).status).toBe(409);
      await second.release(path);
      await expect.poll(async () => (await second.take(path)).status, { timeout: 10_000 }).toBe(201);
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
      if (last.status !== 201) await expect.poll(free, { timeout: 10_000 }).toBe(201);
      await first.release(path);
    }
  });
});
