import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sync } from '../../../src/action/operations/sync.ts';
import type { Context } from '../../../src/action/step/context.ts';
import type { Client } from '../../../src/client/client.ts';
import type { CallLimits } from '../../../src/client/request.ts';
import { outOfTime, ServiceError, unanswered } from '../../../src/client/service-error.ts';
import type { StartedSync, SyncReport } from '../../../src/client/sync.ts';
import { game } from '../../client/test-client.ts';
import { errorOf, refused, start } from '../../locks/samples.ts';

const second = 1_000;
const forever = 3_600 * second;

const report = (status: 'running' | 'succeeded', retryAfterMs?: number): SyncReport => ({
  sync_id: 's',
  status,
  state: status === 'running' ? 'running' : status,
  branch: 'main',
  estimated_objects: undefined,
  received_objects: undefined,
  received_bytes: undefined,
  total_bytes: undefined,
  missing_objects: undefined,
  error: undefined,
  clone_url: undefined,
  retryAfterMs,
});
const succeeded = report('succeeded');

const unavailable = (retryAfterMs?: number): ServiceError =>
  errorOf(refused(503, { reason: 'Too busy.', retryAfterMs }));

/** Duration and result of one status request. */
interface Look {
  readonly tookMs: number;
  readonly shows: SyncReport | ServiceError;
}

interface Following {
  readonly waitSeconds?: number;
  /** Delay requested by the response that started the sync. */
  readonly retryAfterMs?: number | undefined;
  readonly startTookMs?: number;
  /** `at` is relative to the start of the wait. */
  readonly look: (at: number, number: number) => Look;
  /** Cancels the step at this time after the start of the wait, in a pause or in a request. */
  readonly cancelledAt?: number;
}

/** Waits for a sync in virtual time, which passes only in pauses and requests. */
async function following({ waitSeconds = 60, retryAfterMs, startTookMs = 20, look, cancelledAt }: Following) {
  let now = start - startTookMs;
  const controller = new AbortController();
  const { signal } = controller;
  const cancelAt = start + (cancelledAt ?? Number.POSITIVE_INFINITY);
  const passUntil = (end: number): void => {
    now = Math.min(end, Math.max(now, cancelAt));
    if (now >= cancelAt) controller.abort();
  };
  /** Start of each status request, relative to the start of the wait. */
  const lookedAt: number[] = [];
  const lines: string[] = [];
  const warnings: string[] = [];
  const client: Pick<Client, 'startSync' | 'syncStatus'> = {
    async startSync(): Promise<StartedSync> {
      now += startTookMs;
      const statusTarget = '/v1/workspaces/game/syncs/s';
      return { ...report('running', retryAfterMs), statusTarget };
    },
    async syncStatus(_, { deadline }: CallLimits): Promise<SyncReport> {
      lookedAt.push(now - start);
      const { tookMs, shows } = look(now - start, lookedAt.length - 1);
      passUntil(Math.min(deadline, now + tookMs));
      if (signal.aborted) throw errorOf({ kind: 'aborted', reason: 'The request was cancelled.', isTransient: false });
      if (now >= deadline) throw errorOf(unanswered('deadline', 'The service', 'in time'));
      if (shows instanceof ServiceError) throw shows;
      return shows;
    },
  };
  const nothing = (): void => undefined;
  const context: Pick<Context, 'clock' | 'sleep' | 'random' | 'signal' | 'log' | 'setOutputs'> = {
    clock: () => now,
    sleep: async (ms) => passUntil(now + ms),
    random: () => 1,
    signal,
    log: { line: (text) => lines.push(text), warn: (text) => warnings.push(text), debug: nothing },
    setOutputs: nothing,
  };
  // A sync uses no other parts of its context.
  const whole = { ...context, client, connection: { requestTimeout: { seconds: 30 } } } as Context;
  const wait = { seconds: waitSeconds };
  const outcome = await sync(whole, { operation: 'sync', workspace: game, branch: 'main', wait });
  return { outcome, lookedAt, tookMs: now - start, lines, warnings };
}

const endedAfter =
  (endsAt: number, retryAfterMs?: number, tookMs = 20): Following['look'] =>
  (at) => ({ tookMs, shows: at >= endsAt ? succeeded : report('running', retryAfterMs) });

/** These results in order, then a success. */
const inTurn =
  (...looks: readonly Look[]): Following['look'] =>
  (_, number) =>
    looks[number] ?? { tookMs: 20, shows: succeeded };

const tooLong = errorOf(outOfTime('The service', unavailable().failure, forever));

describe('the last status request of a wait', () => {
  test.each<[string, Following, lookedAtSeconds: readonly number[]]>([
    [
      'is sent shortly before the end even if the service asked to wait for longer than that',
      { retryAfterMs: 90 * second, look: endedAfter(5 * second) },
      [59.7],
    ],
    [
      'is sent after a rejection that asks to wait for longer than the wait',
      { waitSeconds: 300, look: inTurn({ tookMs: 20, shows: tooLong }) },
      [0.5, 299.7],
    ],
    [
      'is sent at once if the wait is shorter than the time reserved for it',
      { waitSeconds: 1, startTookMs: 4 * second, look: endedAfter(0) },
      [0],
    ],
    [
      'gets more time if the request before it was slow',
      { look: endedAfter(50 * second, 90 * second, 2 * second) },
      [0.5, 56],
    ],
  ])('%s', async (_, given, expected) => {
    const { outcome, lookedAt, tookMs } = await following(given);
    expect(outcome).toMatchObject({ failures: [], outputs: { status: 'succeeded' } });
    expect(lookedAt).toEqual(expected.map((seconds) => seconds * second));
    expect(tookMs).toBeLessThan((given.waitSeconds ?? 60) * second);
  });

  test.each<[string, Look]>([
    ['is rejected', { tookMs: 20, shows: unavailable() }],
    ['gets no response', { tookMs: forever, shows: succeeded }],
  ])('reports the last known status if it %s', async (_, lastLook) => {
    const running = { tookMs: 20, shows: report('running', 90 * second) };
    const { outcome, tookMs } = await following({ look: inTurn(running, lastLook) });
    expect(outcome.outputs).toMatchObject({ status: 'running', sync_id: 's' });
    expect(outcome.failures).toEqual([
      expect.stringMatching(
        /^The sync of main was not seen to finish within 1m: its last known status is running\. The last status request failed: .* The sync continues on the service\. Increase `wait` to wait longer \(POST [^()]+\)\.$/,
      ),
    ]);
    expect(tookMs).toBeLessThanOrEqual(60 * second);
  });

  test.each([
    ['is not sent if the step is cancelled in the pause before it', 10, []],
    ['is aborted if the step is cancelled while it is in progress', 59.8, [59.7 * second]],
  ])('%s', async (_, cancelledAt, expected) => {
    const look = endedAfter(0, undefined, 200);
    const given = { retryAfterMs: 90 * second, cancelledAt: cancelledAt * second, look };
    const { outcome, lookedAt, tookMs } = await following(given);
    expect(outcome.failures).toEqual([
      'Waiting for the sync of main was cancelled; the sync continues on the service.',
    ]);
    expect({ lookedAt, tookMs }).toEqual({ lookedAt: expected, tookMs: cancelledAt * second });
  });
});

test('notices a sync that ended before the last request, whatever delays and errors the service returned before', async () => {
  const wished = fc.option(fc.integer({ min: 0, max: 7_200 * second }), { nil: undefined });
  const tookMs = fc.integer({ min: 1, max: 2_000 });
  const before: fc.Arbitrary<Look> = fc.oneof(
    fc.record({ tookMs, shows: wished.map((ms) => report('running', ms)) }),
    fc.record({ tookMs, shows: wished.map(unavailable) }),
    fc.constant({ tookMs: forever, shows: report('running') }),
  );
  const looks = fc.array(before, { minLength: 1, maxLength: 30 });
  const part = fc.double({ min: 0, max: 1, noNaN: true });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 600 }), wished, part, looks, async (waitSeconds, wish, ended, all) => {
      const waitMs = waitSeconds * second;
      const endsAt = ended * Math.max(0, waitMs - 5 * second);
      const look = (at: number, number: number): Look =>
        (at < endsAt ? all[number % all.length] : undefined) ?? { tookMs: 20, shows: succeeded };
      const followed = await following({ waitSeconds, retryAfterMs: wish, look });
      expect(followed.tookMs).toBeLessThanOrEqual(waitMs);
      expect(followed.lookedAt.length).toBeGreaterThan(0);
      if (waitMs > 5 * second) expect(followed.outcome.failures).toEqual([]);
    }),
  );
});
