import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HookRow } from '../../../src/service/outbox/hook-row.ts';
import { type DeliveryOverview, listDeliveries } from '../../../src/service/webhooks/delivery-list.ts';
import type { DeliveryEnd } from '../../../src/service/webhooks/delivery-queue.ts';
import { requireHook } from '../../../src/service/webhooks/hooks.ts';
import type { ReceiverResponse } from '../../../src/service/webhooks/receiver-response.ts';
import { databaseKinds } from '../../support/databases.ts';
import { hookedStorage } from './hooked-storage.ts';

const [url, otherUrl] = ['https://a.example.com/', 'https://b.example.com/?key=s3cret'];
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

const whole: ReceiverResponse = {
  kept: 'whole',
  status: 500,
  headers: { 'content-type': 'text/plain; charset="utf-8"' },
  body: 'line\n\ttab \ufffd "quoted" 🔒',
  bodyIsCut: true,
};

describe.each(databaseKinds)('the deliveries of a hook on $name', (kind) => {
  const { hook, acquire, storage, deliveries, release, pause, claim, setDeliveries, settle } = hookedStorage(kind);

  const rowOf = (id: string): Promise<HookRow> => requireHook(storage.read, 'game', id);
  const settleNext = async (end: DeliveryEnd, response: ReceiverResponse | null = null, durationMs = 1) =>
    settle(await claim(), end, { durationMs, response });

  /** All deliveries, page by page; `meanwhile` runs before each page after the first. */
  async function listed(id: string, limit: number, meanwhile: () => Promise<unknown>) {
    const found: string[] = [];
    for (let before: number | undefined; ; await meanwhile()) {
      const { deliveries, next } = await listDeliveries(storage, await rowOf(id), { limit, before });
      expect(deliveries.length).toBeLessThanOrEqual(limit);
      found.push(...deliveries.map((delivery) => delivery.id));
      if (next === undefined) return found;
      before = next;
    }
  }
  const oldestFirst = async (id: string): Promise<DeliveryOverview[]> =>
    (await listDeliveries(storage, await rowOf(id), { limit: 100 })).deliveries.toReversed();

  test('are listed in pages, newest first and each once, even while more arrive', async () => {
    const [id] = [await hook(url), await hook(otherUrl)];
    const paths = Array.from({ length: 9 }, (_, index) => `file-${index}`);
    for (const path of paths) await acquire(path);
    // There is no link to an empty page.
    expect((await listDeliveries(storage, await rowOf(id), { limit: paths.length })).next).toBeUndefined();
    expect((await listDeliveries(storage, await rowOf(id), { limit: paths.length - 1 })).next).toBeDefined();
    let more = 0;
    const meanwhile = () => {
      more += 1;
      return acquire(`more-${more}`);
    };
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 12 }), async (limit) => {
        const expected = (await deliveries()).filter(({ hook_id }) => hook_id === id).map((found) => found.id);
        expect(await listed(id, limit, meanwhile)).toEqual(expected.toReversed());
      }),
      { numRuns: 6 },
    );
  });

  test('report their state and the result of their last attempt', async () => {
    const id = await hook(url);
    const lock = await acquire('a');
    await settleNext({ kind: 'delivered' }, { kept: 'status', status: 204 });
    await acquire('b');
    await settleNext({ kind: 'given-up', reason: 'It failed.' }, whole);
    await acquire('c');
    await settleNext({ kind: 'retry', reason: 'It failed.', afterMs: 3_600_000 }, whole);
    await acquire('d');
    await claim();
    await release('d');
    await acquire('e');
    const states = async () => (await oldestFirst(id)).map(({ state }) => state);
    expect(await states()).toEqual([
      { kind: 'delivered', at: timestamp },
      { kind: 'failed', at: timestamp },
      { kind: 'waiting', until: timestamp },
      { kind: 'sending' },
      { kind: 'behind-another' },
      { kind: 'waiting', until: timestamp },
    ]);
    const [first, second, third, fourth] = await oldestFirst(id);
    expect(first).toEqual({
      id: expect.stringMatching(/^msg_/),
      event: expect.objectContaining({ type: 'lock.acquired', workspace: 'game', data: { lock } }),
      state: { kind: 'delivered', at: timestamp },
      again: false,
      attempts: 1,
      created_at: timestamp,
      last_attempt: { at: timestamp, duration_ms: 1, response: { kept: 'status', status: 204 } },
      last_error: null,
    });
    for (const failed of [second, third]) {
      expect(failed).toMatchObject({ attempts: 1, last_attempt: { response: whole }, last_error: 'It failed.' });
    }
    expect(fourth).toMatchObject({ attempts: 0, last_attempt: null, last_error: null });

    await pause(id);
    expect((await states()).slice(2).map((state) => state.kind)).toEqual(['held', 'sending', 'held', 'held']);
    // The instance has died.
    await setDeliveries({ lease_until: 1 });
    expect((await states())[3]).toEqual({ kind: 'held' });
  });

  test('report the start, the duration and the response of their last attempt, whatever its result', async () => {
    const id = await hook(url);
    const clock = async () => (await storage.read.selectNoFrom(storage.now.as('at')).executeTakeFirstOrThrow()).at;
    const ends: [DeliveryEnd, ReceiverResponse | null][] = [
      [{ kind: 'retry', reason: 'no', afterMs: 0 }, whole],
      // Nothing remains of the previous response.
      [{ kind: 'retry', reason: 'no', afterMs: 0 }, null],
      [{ kind: 'given-up', reason: 'no' }, whole],
      [{ kind: 'delivered' }, whole],
      [{ kind: 'gone', reason: 'no' }, whole],
    ];
    for (const [index, [end, response]] of ends.entries()) {
      if (index !== 1 && index !== 2) await acquire(`a${index}`);
      const before = await clock();
      await settleNext(end, response, 2_000.4);
      const { last_attempt, last_error } = (await oldestFirst(id)).at(-1) ?? {};
      expect(last_attempt).toMatchObject({ duration_ms: 2_000, response });
      expect(last_error).toBe(end.kind === 'delivered' ? null : 'no');
      const at = Date.parse(last_attempt?.at ?? '');
      expect(at).toBeGreaterThanOrEqual(before - 2_000);
      expect(at).toBeLessThanOrEqual((await clock()) - 2_000);
    }
  });
});
