import type { CallLimits } from '../../client/request.ts';
import { ServiceError, withRequest } from '../../client/service-error.ts';
import type { StartedSync, SyncReport } from '../../client/sync.ts';
import { backoff, lastAttemptMs } from '../../client/time.ts';
import { formatDuration, milliseconds } from '../../interface/duration.ts';
import { formatElapsed, formatNumber, pluralize } from '../../interface/format.ts';
import { byteSize } from '../../interface/transfer.ts';
import type { TaskOf } from '../inputs/task.ts';
import { failed, type Outcome, type Outputs } from '../report/outcome.ts';
import { type Context, defaultLimits } from '../step/context.ts';

export async function sync(context: Context, task: TaskOf<'sync'>): Promise<Outcome> {
  const { client, clock, log, setOutputs } = context;
  const { workspace, branch, wait } = task;
  const startedAt = clock();
  const started = await client.startSync({ workspace, branch }, defaultLimits(context));
  const elapsedMs = clock() - startedAt;
  setOutputs(outputsOf(task, started));
  const { estimated_objects: estimated } = started;
  const about = estimated ? `, about ${pluralize(estimated, 'object')} to receive` : '';
  const sentence = `The sync of ${branch} in ${workspace} is ${started.status}${about}.`;
  if (wait.seconds === 0 && started.state !== 'failed') {
    return { outputs: outputsOf(task, started), sentence, failures: [] };
  }
  log.line(sentence);
  return waitForEnd(context, task, started, elapsedMs);
}

async function waitForEnd(
  context: Context,
  task: TaskOf<'sync'>,
  started: StartedSync,
  elapsedMs: number,
): Promise<Outcome> {
  const { clock, signal } = context;
  const { branch, wait } = task;
  const startedAt = clock();
  if (started.statusTarget === undefined && started.state === 'running') {
    const reason = `The sync of ${branch} was started, but this step cannot wait for it: the service returned no status URL on its own server. Remove \`wait\`, or use a service that reports the status of syncs.`;
    return failedOutcome(task, started, reason);
  }
  const within = { deadline: startedAt + milliseconds(wait), signal };
  const { last, lastError } = await follow(context, started, within, elapsedMs);
  if (last.state === 'succeeded') return syncedOutcome(task, last, clock() - startedAt);
  if (last.state === 'failed') {
    return failedOutcome(task, last, `The sync of ${branch} failed: ${last.error ?? last.status}`);
  }
  if (signal.aborted) {
    const reason = `Waiting for the sync of ${branch} was cancelled; the sync continues on the service.`;
    return failedOutcome(task, last, reason);
  }
  const problem = `The sync of ${branch} was not seen to finish within ${formatDuration(wait)}: its last known status is ${progressText(last)}.`;
  const failure = lastError === undefined ? '' : ` The last status request failed: ${lastError.reason}`;
  const advice = ' The sync continues on the service. Increase `wait` to wait longer.';
  return failedOutcome(task, last, withRequest(problem + failure + advice, lastError?.request));
}

function syncedOutcome(task: TaskOf<'sync'>, sync: SyncReport, elapsedMs: number): Outcome {
  const { workspace, branch } = task;
  const { received_objects, missing_objects: missing = 0 } = sync;
  const received = received_objects === undefined ? '' : `, ${pluralize(received_objects, 'object')} received`;
  const sentence = `The branch ${branch} of ${workspace} is synced: ${sync.status} after ${formatElapsed(elapsedMs)}${received}.`;
  const warnings = missing === 0 ? [] : [missingText(branch, missing)];
  return {
    outputs: outputsOf(task, sync),
    sentence: [sentence, ...warnings].join(' '),
    warnings,
    failures: [],
  };
}

const failedOutcome = (task: TaskOf<'sync'>, sync: SyncReport, reason: string): Outcome =>
  failed(outputsOf(task, sync), reason);

const outputsOf = ({ branch }: TaskOf<'sync'>, sync: SyncReport): Outputs => ({
  status: sync.status,
  branch: sync.branch ?? branch,
  sync_id: sync.sync_id,
  estimated_objects: sync.estimated_objects?.toString(),
  clone_url: sync.clone_url,
  missing_objects: sync.state === 'succeeded' ? sync.missing_objects?.toString() : undefined,
});

/**
 * Polls the status until the sync has ended, often at first and then less often. Logs only changes. The last request is
 * shortly before the deadline, even if the service asked for longer pauses. `lastError` is its error, if any.
 */
async function follow(context: Context, started: StartedSync, within: CallLimits, elapsedMs: number) {
  const { client, clock, sleep, random, signal, log } = context;
  const { statusTarget: target } = started;
  let last: SyncReport = started;
  let lastError: ServiceError | undefined;
  let logged = `The sync is ${progressText(started)}.`;
  let { retryAfterMs } = started;
  let reservedMs = lastAttemptMs(elapsedMs);
  let isLastPoll = false;
  for (let polls = 1; last.state === 'running' && target !== undefined && !signal.aborted; polls += 1) {
    const remainingMs = within.deadline - clock();
    if (remainingMs <= 0 || (isLastPoll && remainingMs <= reservedMs)) break;
    const msUntilLastPoll = Math.max(0, remainingMs - reservedMs);
    const wishedMs = backoff(polls, retryAfterMs, random);
    isLastPoll = wishedMs >= msUntilLastPoll;
    await sleep(Math.min(msUntilLastPoll, wishedMs), signal);
    if (signal.aborted) break;
    // Leaves time for the last request, even if earlier ones are retried.
    const deadline = isLastPoll ? within.deadline : within.deadline - reservedMs;
    const polledAt = clock();
    const polled = await client.syncStatus(target, { ...within, deadline }).catch(transientError);
    reservedMs = lastAttemptMs(clock() - polledAt);
    lastError = polled instanceof ServiceError ? polled : undefined;
    last = polled instanceof ServiceError ? last : polled;
    retryAfterMs = polled instanceof ServiceError ? polled.failure.retryAfterMs : polled.retryAfterMs;
    const text = lastError?.message ?? `The sync is ${progressText(last)}.`;
    // The caller reports the end of the sync, and the result of the last request.
    if (text !== logged && last.state === 'running' && !isLastPoll && !signal.aborted) log.line(text);
    logged = text;
  }
  return { last, lastError };
}

/** Returns an error that does not end the wait, because the sync continues on the service. Throws any other error. */
function transientError(error: unknown): ServiceError {
  if (error instanceof ServiceError && (error.isTransient || error.failure.kind === 'aborted')) return error;
  throw error;
}

function progressText(sync: SyncReport): string {
  const { status, received_objects, estimated_objects, received_bytes = 0, total_bytes = 0 } = sync;
  if (received_objects === undefined) return status;
  // An estimate of 0 means that the number is unknown, or that the sync is almost done.
  const of = estimated_objects ? ` of about ${formatNumber(estimated_objects)}` : '';
  const lfs = total_bytes === 0 ? '' : `, ${byteSize(received_bytes)} of ${byteSize(total_bytes)} of LFS objects`;
  return `${status}, ${formatNumber(received_objects)}${of} objects received${lfs}`;
}

const missingText = (branch: string, missing: number): string =>
  `The mirror lacks ${pluralize(missing, 'LFS object')} of ${branch} that the service could not fetch. Make sure that the LFS store has ${missing === 1 ? 'it' : 'them'}, then sync again.`;
