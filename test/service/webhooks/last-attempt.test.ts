import { describe, expect, test } from 'vitest';
import { type DeliveryEnd, settleDelivery } from '../../../src/service/webhooks/delivery-queue.ts';
import { type ReceiverAnswer, storedAnswer } from '../../../src/service/webhooks/receiver-answer.ts';
import { realDatabaseKinds } from '../../support/databases.ts';
import { claimNext } from './claim-next.ts';
import { receiver, statusOnly } from './delivering.ts';
import { attemptNext } from './delivery-workers.ts';
import { hookedStorage } from './hooked-storage.ts';

const whole: ReceiverAnswer = {
  kept: 'whole',
  status: 500,
  headers: { 'content-type': 'text/plain; charset="utf-8"' },
  body: 'line\n\ttab \ufffd "quoted" 🔒',
  bodyIsCut: true,
};

describe.each(realDatabaseKinds)('the last attempt at a delivery on $name', (kind) => {
  const hooked = hookedStorage(kind);

  const last = async () => {
    const rows = await hooked().storage.read.selectFrom('deliveries').selectAll().orderBy('sequence').execute();
    return rows.map(({ last_attempt_at, last_duration_ms, last_answer, last_error }) => ({
      at: last_attempt_at,
      duration: last_duration_ms,
      answer: storedAnswer(last_answer),
      error: last_error,
    }));
  };
  const clock = async () => {
    const { read, now } = hooked().storage;
    return (await read.selectNoFrom(now.as('now')).executeTakeFirstOrThrow()).now;
  };
  const settle = async (end: DeliveryEnd, durationMs: number, answer: ReceiverAnswer | null) => {
    const { storage } = hooked();
    const claimed = await claimNext(storage);
    if (claimed === undefined) throw new Error('There is nothing to claim.');
    await storage.commit('global', (db) => settleDelivery(db, storage.now, claimed, end, { durationMs, answer }));
  };

  test('is known by its beginning, how long it took and what was answered, whatever came of it', async () => {
    const { hook, acquire } = hooked();
    await hook('https://a.example.com/');
    await acquire('a');
    expect(await last()).toEqual([{ at: null, duration: null, answer: null, error: null }]);
    const ends: DeliveryEnd[] = [
      { kind: 'retry', why: 'no', afterMs: 0 },
      { kind: 'delivered' },
      { kind: 'given-up', why: 'no' },
      { kind: 'gone', why: 'no' },
    ];
    for (const [index, end] of ends.entries()) {
      if (index > 1) await acquire(`a${index}`);
      const before = await clock();
      await settle(end, 2_000.4, whole);
      const { at, ...attempt } = (await last()).at(-1) ?? {};
      expect(attempt).toEqual({ duration: 2_000, answer: whole, error: end.kind === 'delivered' ? null : 'no' });
      expect(at).toBeGreaterThanOrEqual(before - 2_000);
      expect(at).toBeLessThanOrEqual((await clock()) - 2_000);
    }
  });

  test('without an answer leaves nothing of the one before it', async () => {
    const { hook, acquire } = hooked();
    await hook('https://a.example.com/');
    await acquire('a');
    await settle({ kind: 'retry', why: 'first', afterMs: 0 }, 1, whole);
    await settle({ kind: 'retry', why: 'second', afterMs: 0 }, 7, null);
    expect(await last()).toMatchObject([{ duration: 7, answer: null, error: 'second' }]);
  });

  test('is measured, and its answer put down, by what makes the deliveries', async () => {
    const { hook, acquire, storage } = hooked();
    const to = await receiver();
    await hook(to.url());
    await acquire('a');
    to.behave({ does: 'answer', status: 503, body: 'the inside of an allowed network' }, { does: 'hang' });
    await attemptNext(storage, { terms: { timeoutMs: 10_000 } });
    expect(await last()).toMatchObject([{ answer: statusOnly(503), error: expect.stringContaining('503') }]);
    await attemptNext(storage, { terms: { timeoutMs: 300 } });
    const [waited] = await last();
    expect(waited).toMatchObject({ answer: null, error: expect.stringContaining('did not answer within 0.3 s') });
    expect(waited?.duration).toBeGreaterThanOrEqual(299);
    to.behave({ does: 'answer', status: 200 });
    await attemptNext(storage, { terms: { timeoutMs: 10_000 } });
    expect(await last()).toMatchObject([{ answer: statusOnly(200), error: null }]);
  });
});
