import { expect } from 'vitest';
import type { SyncRow } from '../../../../src/service/syncs/queue.ts';
import type { Passed } from '../../../support/fault-proxy.ts';
import type { StepResult } from '../../../support/runner/step.ts';

/** Time passes so many times faster for a step. */
export const speed = 10;

/** For a machine with other things to do, on its own clock. */
const slackMs = 10_000;

/** What ended so long before a deadline has to be seen; on the clock of the machine. */
const wellBeforeMs = 800;

/** For its last look a step keeps 300 ms at least, on its own clock: half of that is for a busy machine. */
const lastLookMs = 150 / speed;

/** A sync step that has ended, and what is known of it from outside. All times are on the clock of the test. */
export interface PlayedSync {
  readonly branch: string;
  readonly waitSeconds: number;
  readonly result: StepResult;
  readonly endedAt: number;
  /** It was killed or cancelled. */
  readonly stopped: boolean;
  /** What it has asked. */
  readonly passed: readonly Passed[];
  /** Whether the answer got to the step as it was. */
  readonly arrived: (passed: Passed) => boolean;
  /** Whether something was wrong with the network or the service in this time. */
  readonly troubled: (from: number, to: number) => boolean;
  /** Nothing was wrong but gateways that answered for the service, fewer times than a request is tried. */
  readonly metOnlyGateways: boolean;
  /** The heads that the branch had at the remote in this time. */
  readonly heads: (from: number, to: number) => readonly string[];
  /** All syncs of the workspace. */
  readonly syncs: readonly SyncRow[];
}

const isTrigger = ({ method }: Passed): boolean => method === 'POST';

const finishedAt = ({ finished_at }: SyncRow): number =>
  finished_at === null ? Number.POSITIVE_INFINITY : Number(finished_at) - performance.timeOrigin;

const ends = new Set(['succeeded', 'failed']);

/** The id is there as soon as the service has answered. */
function expectId({ passed, arrived, result, stopped }: PlayedSync, reason: string): string | undefined {
  const triggered = passed.findIndex((one) => isTrigger(one) && one.status === 202 && arrived(one));
  const { sync_id: told } = result.outputs;
  const answered = passed[triggered];
  // One that was killed with the answer on its way may not have read it; what it asks after that shows that it has.
  if (answered === undefined || (stopped && triggered === passed.length - 1)) return told;
  expect(told, reason).toBe(JSON.parse(answered.response).sync_id);
  return told;
}

/** A sync that has succeeded has fetched what the remote had after it was asked for. */
function expectOutcome(played: PlayedSync, sync: SyncRow, reason: string): void {
  const { result, waitSeconds, passed, endedAt, heads, branch } = played;
  const { status } = result.outputs;
  expect(sync.branch, reason).toBe(branch);
  expect(result.outputs['branch'], reason).toBe(branch);
  if (status !== undefined && ends.has(status)) expect(sync.status, reason).toBe(status);
  if (status === 'succeeded') {
    const askedAt = passed.find(isTrigger)?.at ?? 0;
    expect(heads(askedAt, endedAt), `what ${branch} was at the remote in the meantime`).toContain(sync.head);
  }
  if (result.conclusion === 'success') expect(waitSeconds === 0 || status === 'succeeded', reason).toBe(true);
  if (result.conclusion === 'failure' && !played.stopped) expect(status, reason).not.toBe('succeeded');
}

/** It ends by its deadline, not long before it, and not without a look at a sync that has ended. */
function expectInTime(played: PlayedSync, sync: SyncRow, reason: string): void {
  const { passed, arrived, waitSeconds, endedAt, result, stopped, troubled } = played;
  const answered = passed.find((one) => isTrigger(one) && arrived(one))?.answeredAt;
  if (answered === undefined || waitSeconds === 0) return;
  const deadline = answered + (waitSeconds * 1_000) / speed;
  expect(endedAt - deadline, `ms after its deadline: ${reason}`).toBeLessThan(slackMs);
  const { status = '' } = result.outputs;
  if (stopped || ends.has(status)) return;
  expect(deadline - endedAt, `ms before its deadline it gave up: ${reason}`).toBeLessThan(wellBeforeMs);
  // Its own deadline is later than this one, by the time until it has read the answer.
  if (troubled(deadline - wellBeforeMs, Math.max(deadline, endedAt))) return;
  const lastLook = passed.at(-1);
  // The machine was too busy for a clock that is faster. How early a step looks is tested where nothing holds it up.
  if (result.log.includes('Asking again failed')) return;
  if (lastLook === undefined || (lastLook.answeredAt ?? Number.POSITIVE_INFINITY) > deadline - lastLookMs) return;
  expect(deadline - finishedAt(sync), `ms before the deadline the sync had ended: ${reason}`).toBeLessThan(
    wellBeforeMs,
  );
}

/** Whatever went wrong, what the step tells is so. */
export function expectToldTruly(played: PlayedSync): void {
  const { result, syncs, passed } = played;
  const asked = passed.map(({ method, status, at }) => `${method} ${status} at ${Math.round(at)}`);
  const reason = `${JSON.stringify(result.outputs)}\n${result.log}\n${asked}, ended at ${Math.round(played.endedAt)}`;
  const id = expectId(played, reason);
  if (id === undefined) {
    const isRefused = passed.some((one) => isTrigger(one) && (one.status ?? 0) >= 400);
    expect(played.metOnlyGateways && !played.stopped && !isRefused, `a gateway ended the step: ${reason}`).toBe(false);
    expect(result.conclusion, reason).not.toBe('success');
    expect(result.outputs['status'], reason).toBeUndefined();
    return;
  }
  const sync = syncs.find((row) => row.id === id);
  if (sync === undefined) throw new Error(`The service knows nothing of ${id}. ${reason}`);
  expectOutcome(played, sync, reason);
  expectInTime(played, sync, reason);
}
