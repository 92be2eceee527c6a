import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Context } from '../../../src/action/context.ts';
import { sync } from '../../../src/action/operations/sync.ts';
import type { Outcome } from '../../../src/action/outcome.ts';
import type { Client, StartedSync, SyncAddress, SyncReport, Within } from '../../../src/client/client.ts';
import type { Failure } from '../../../src/client/service-error.ts';
import { ServiceError } from '../../../src/client/service-error.ts';
import type { WorkspaceId } from '../../../src/client/workspace-id.ts';

const start = Date.UTC(2026, 2, 1, 12);
const second = 1_000;

const report = (status: 'running' | 'succeeded', retryAfterMs?: number): SyncReport => ({
  sync_id: 's',
  status,
  state: status === 'running' ? 'going-on' : status,
  branch: 'main',
  estimated_objects: undefined,
  received_objects: undefined,
  head: undefined,
  error: undefined,
  retryAfterMs,
  raw: {},
});

const errorOf = (failure: Failure): ServiceError =>
  new ServiceError({ method: 'GET', path: '/v1/workspaces/game/syncs/s', attempts: 1 }, failure);

const unavailable = (retryAfterMs?: number): ServiceError =>
  errorOf({
    kind: 'refused',
    status: 503,
    requestId: undefined,
    words: 'Too busy',
    fields: [],
    missingScope: undefined,
    retryAfterMs,
  });

/** What one look costs, and what comes of it. */
interface Look {
  readonly tookMs: number;
  readonly shows: SyncReport | ServiceError;
}

interface Following {
  readonly waitSeconds: number;
  /** What the answer that started the sync asked to wait for. */
  readonly retryAfterMs?: number;
  readonly startTookMs?: number;
  /** `at` counts from the beginning of the wait. */
  readonly look: (at: number, number: number) => Look;
  /** Cancels the step so long after the wait began, in a pause or in a look. */
  readonly cancelledAt?: number;
}

interface Followed {
  readonly outcome: Outcome;
  /** When each look began, since the beginning of the wait. */
  readonly lookedAt: readonly number[];
  readonly tookMs: number;
  readonly lines: readonly string[];
}

/** A sync that is waited for, in a time that passes only while the step sleeps or asks. */
async function following({
  waitSeconds,
  retryAfterMs,
  startTookMs = 20,
  look,
  cancelledAt,
}: Following): Promise<Followed> {
  let now = start - startTookMs;
  const controller = new AbortController();
  const { signal } = controller;
  const cancelAt = start + (cancelledAt ?? Number.POSITIVE_INFINITY);
  const passUntil = (end: number): void => {
    now = Math.min(end, Math.max(now, cancelAt));
    if (now >= cancelAt) controller.abort();
  };
  const lookedAt: number[] = [];
  const lines: string[] = [];
  const client: Pick<Client, 'startSync' | 'syncStatus'> = {
    async startSync(): Promise<StartedSync> {
      now += startTookMs;
      // Only a real service gives out addresses, and nothing here looks into it.
      const address = '/v1/workspaces/game/syncs/s' as SyncAddress;
      return { ...report('running', retryAfterMs), progress: { kind: 'offered', address } };
    },
    async syncStatus(_, { deadline }: Within): Promise<SyncReport> {
      lookedAt.push(now - start);
      const { tookMs, shows } = look(now - start, lookedAt.length - 1);
      passUntil(Math.min(deadline, now + tookMs));
      if (signal.aborted) throw errorOf({ kind: 'aborted' });
      if (now >= deadline) throw errorOf({ kind: 'deadline', last: undefined, retryAfterMs: undefined });
      if (shows instanceof ServiceError) throw shows;
      return shows;
    },
  };
  const nothing = (): void => undefined;
  const context: Pick<Context, 'clock' | 'sleep' | 'signal' | 'log' | 'setOutputs'> = {
    clock: () => now,
    sleep: async (ms) => passUntil(now + ms),
    signal,
    log: { line: (text) => lines.push(text), warn: nothing, debug: nothing, group: nothing },
    setOutputs: nothing,
  };
  // These are all that a sync uses of its context.
  const outcome = await sync({ ...context, client, connection: { requestTimeout: { seconds: 30 } } } as Context, {
    operation: 'sync',
    workspace: 'game' as WorkspaceId,
    branch: 'main',
    wait: { seconds: waitSeconds },
  });
  return { outcome, lookedAt, tookMs: now - start, lines };
}

const endedAfter =
  (endsAt: number, retryAfterMs?: number, tookMs = 20): Following['look'] =>
  (at) => ({ tookMs, shows: at >= endsAt ? report('succeeded') : report('running', retryAfterMs) });

describe('the last look of a wait', () => {
  test('comes shortly before its end, though the service asked at the start to wait for longer than the wait', async () => {
    const { outcome, lookedAt } = await following({
      waitSeconds: 60,
      retryAfterMs: 90 * second,
      look: endedAfter(5 * second),
    });
    expect(outcome).toMatchObject({ failures: [], outputs: { status: 'succeeded' } });
    expect(lookedAt).toEqual([59.7 * second]);
  });

  test('sees a sync that ended minutes before, in the middle of a pause that the service asked for', async () => {
    const { outcome, lookedAt } = await following({
      waitSeconds: 600,
      look: endedAfter(30 * second, 600 * second),
    });
    expect(outcome).toMatchObject({ failures: [], outputs: { status: 'succeeded' } });
    expect(lookedAt).toEqual([500, 599.7 * second]);
  });

  test('comes after a refusal that asks to wait for longer than the wait', async () => {
    const tooLong = errorOf({ kind: 'deadline', last: unavailable().failure, retryAfterMs: 3_600 * second });
    const { outcome, lookedAt, lines } = await following({
      waitSeconds: 300,
      look: (_, number) => ({ tookMs: 20, shows: number === 0 ? tooLong : report('succeeded') }),
    });
    expect(outcome).toMatchObject({ failures: [], outputs: { status: 'succeeded' } });
    expect(lookedAt).toEqual([500, 299.7 * second]);
    expect(lines).toContain(tooLong.message);
  });

  test('is made at once where the wait is shorter than the time that is kept for it', async () => {
    const { outcome, lookedAt } = await following({ waitSeconds: 1, startTookMs: 4 * second, look: endedAfter(0) });
    expect(outcome.failures).toEqual([]);
    expect(lookedAt).toEqual([0]);
  });

  test('has the more time the longer the one before it took', async () => {
    const { outcome, lookedAt } = await following({
      waitSeconds: 60,
      look: endedAfter(50 * second, 90 * second, 2 * second),
    });
    expect(outcome.failures).toEqual([]);
    expect(lookedAt).toEqual([500, 56 * second]);
  });

  test('has its time also where the look before it hangs', async () => {
    const { outcome, lookedAt, tookMs } = await following({
      waitSeconds: 60,
      look: (_, number) => ({ tookMs: number === 0 ? 3_600 * second : 20, shows: report('succeeded') }),
    });
    expect(outcome.failures).toEqual([]);
    expect(lookedAt).toEqual([500, 59.7 * second]);
    expect(tookMs).toBeLessThan(60 * second);
  });

  test.each<[string, Look]>([
    ['is refused', { tookMs: 20, shows: unavailable() }],
    ['gets no answer', { tookMs: 3_600 * second, shows: report('succeeded') }],
  ])('that %s leaves what was known, and says so', async (_, lastLook) => {
    const { outcome, tookMs } = await following({
      waitSeconds: 60,
      look: (_at, number) => (number === 0 ? { tookMs: 20, shows: report('running', 90 * second) } : lastLook),
    });
    expect(outcome.outputs).toMatchObject({ status: 'running', sync_id: 's' });
    expect(outcome.failures).toEqual([
      expect.stringMatching(
        /^The sync of main was not seen to end within 1m: when it was last seen it was running\. Asking again failed: .* The service goes on with it\. Raise `wait` to wait longer\.$/,
      ),
    ]);
    expect(tookMs).toBeLessThanOrEqual(60 * second);
  });

  test('does not come when the step is cancelled in the pause before it', async () => {
    const { outcome, lookedAt, tookMs } = await following({
      waitSeconds: 60,
      retryAfterMs: 90 * second,
      cancelledAt: 10 * second,
      look: endedAfter(0),
    });
    expect(outcome.failures).toEqual(['Waiting for the sync of main was cancelled; the service goes on with it.']);
    expect({ lookedAt, tookMs }).toEqual({ lookedAt: [], tookMs: 10 * second });
  });

  test('is given up when the step is cancelled in its middle', async () => {
    const { outcome, lookedAt } = await following({
      waitSeconds: 60,
      retryAfterMs: 90 * second,
      cancelledAt: 59.8 * second,
      look: endedAfter(0, undefined, 200),
    });
    expect(outcome.failures).toEqual(['Waiting for the sync of main was cancelled; the service goes on with it.']);
    expect(lookedAt).toEqual([59.7 * second]);
  });
});

test('a sync that ended before the last look is seen, in time, whatever the service asked to wait for and answered before', async () => {
  const wished = fc.option(fc.integer({ min: 0, max: 7_200 * second }), { nil: undefined });
  const tookMs = fc.integer({ min: 1, max: 2_000 });
  const before: fc.Arbitrary<Look> = fc.oneof(
    fc.record({ tookMs, shows: wished.map((ms) => report('running', ms)) }),
    fc.record({ tookMs, shows: wished.map(unavailable) }),
    fc.record({ tookMs: fc.constant(3_600 * second), shows: fc.constant(report('running')) }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 600 }),
      wished,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.array(before, { minLength: 1, maxLength: 30 }),
      async (waitSeconds, retryAfterMs, ended, looks) => {
        const waitMs = waitSeconds * second;
        const endsAt = ended * Math.max(0, waitMs - 5 * second);
        const {
          outcome,
          lookedAt,
          tookMs: took,
        } = await following({
          waitSeconds,
          ...(retryAfterMs !== undefined && { retryAfterMs }),
          look: (at, number) =>
            at >= endsAt
              ? { tookMs: 20, shows: report('succeeded') }
              : (looks[number % looks.length] ?? { tookMs: 20, shows: report('running') }),
        });
        expect(took).toBeLessThanOrEqual(waitMs);
        expect(lookedAt.length).toBeGreaterThan(0);
        if (waitMs > 5 * second) expect(outcome.failures).toEqual([]);
      },
    ),
  );
});
