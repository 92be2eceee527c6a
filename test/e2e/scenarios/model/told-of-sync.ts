import { expect } from 'vitest';
import type { SyncRow } from '../../../../src/service/syncs/queue.ts';
import type { Passed } from '../../../support/fault-proxy.ts';
import type { StepResult } from '../../../support/runner/step.ts';

/** Factor by which time passes faster for a step. */
export const speed = 10;

/** Tolerance for a busy machine, in real time. */
const slackMs = 10_000;

/** A step must notice a sync that ended this long before its deadline, in real time. */
const wellBeforeMs = 800;

/** A step reserves at least 300 ms of its own time for the last request. Half of it is for a busy machine. */
const lastLookMs = 150 / speed;

/** A finished sync step with everything known about it from outside. All times are on the clock of the test. */
export interface PlayedSync {
  readonly branch: string;
  readonly waitSeconds: number;
  readonly result: StepResult;
  readonly endedAt: number;
  /** Whether it was killed or cancelled. */
  readonly stopped: boolean;
  /** Its requests. */
  readonly passed: readonly Passed[];
  /** Whether the response reached the step unchanged. */
  readonly arrived: (passed: Passed) => boolean;
  /** Whether the network or the service had a fault in this period. */
  readonly troubled: (from: number, to: number) => boolean;
  /** Whether the only faults were gateway responses, fewer than the attempts of a request. */
  readonly metOnlyGateways: boolean;
  /** The heads of the branch at the remote in this period. */
  readonly heads: (from: number, to: number) => readonly string[];
  /** All syncs of the workspace. */
  readonly syncs: readonly SyncRow[];
}

const isTrigger = ({ method }: Passed): boolean => method === 'POST';

const finishedAt = ({ finished_at }: SyncRow): number =>
  finished_at === null ? Number.POSITIVE_INFINITY : Number(finished_at) - performance.timeOrigin;

const ends = new Set(['succeeded', 'failed']);

/** The output has the id as soon as the service has responded. */
function expectId({ passed, arrived, result, stopped }: PlayedSync, reason: string): string | undefined {
  const triggered = passed.findIndex((one) => isTrigger(one) && one.status === 202 && arrived(one));
  const { sync_id: told } = result.outputs;
  const answered = passed[triggered];
  // A step killed before it read the response may not have the id; a later request shows that it read the response.
  if (answered === undefined || (stopped && triggered === passed.length - 1)) return told;
  expect(told, reason).toBe(JSON.parse(answered.response).sync_id);
  return told;
}

/** A successful sync has fetched a head that the remote had after the request. */
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

/** The step ends at its deadline, not long before it, and not without noticing a sync that has ended. */
function expectInTime(played: PlayedSync, sync: SyncRow, reason: string): void {
  const { passed, arrived, waitSeconds, endedAt, result, stopped, troubled } = played;
  const answered = passed.find((one) => isTrigger(one) && arrived(one))?.answeredAt;
  if (answered === undefined || waitSeconds === 0) return;
  const deadline = answered + (waitSeconds * 1_000) / speed;
  expect(endedAt - deadline, `ms after its deadline: ${reason}`).toBeLessThan(slackMs);
  const { status = '' } = result.outputs;
  if (stopped || ends.has(status)) return;
  expect(deadline - endedAt, `ms before its deadline it gave up: ${reason}`).toBeLessThan(wellBeforeMs);
  // The deadline of the step is later than this one by the time it takes to read the response.
  if (troubled(deadline - wellBeforeMs, Math.max(deadline, endedAt))) return;
  const lastLook = passed.at(-1);
  // The machine was too busy for a faster clock. Other tests check how early a step sends its last request.
  if (result.log.includes('the last status request failed')) return;
  if (lastLook === undefined || (lastLook.answeredAt ?? Number.POSITIVE_INFINITY) > deadline - lastLookMs) return;
  expect(deadline - finishedAt(sync), `ms before the deadline the sync had ended: ${reason}`).toBeLessThan(
    wellBeforeMs,
  );
}

/** Whatever went wrong, the outputs of the step must be true. */
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
  if (sync === undefined) throw new Error(`The service has no sync ${id}. ${reason}`);
  expectOutcome(played, sync, reason);
  expectInTime(played, sync, reason);
}
