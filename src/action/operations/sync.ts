import { ServiceError, type StartedSync, type SyncAddress, type SyncReport, type Within } from '../../client/client.ts';
import { formatDuration, milliseconds } from '../../interface/duration.ts';
import type { SyncTask } from '../inputs/task.ts';
import { isPassing } from '../locks/passing.ts';
import { failed, type Outcome, type Outputs, succeeded } from '../outcome.ts';
import { count, duration, grouped } from '../report/words.ts';
import { ordinaryLimits, type Parts } from './parts.ts';

/** A sync of a few objects is over at once, one of many takes minutes: ask often at first, and less and less. */
const firstPauseMs = 500;
const longestPauseMs = 10_000;
const growth = 1.5;

const outputsOf = (branch: string, sync: SyncReport): Outputs => ({
  status: sync.status,
  branch: sync.branch ?? branch,
  ...(sync.sync_id !== undefined && { sync_id: sync.sync_id }),
  ...(sync.estimated_objects !== undefined && { estimated_objects: String(sync.estimated_objects) }),
});

function progressText({ status, received_objects, estimated_objects }: SyncReport): string {
  if (received_objects === undefined) return status;
  // An estimate of none is one of a service that does not know, or one that is nearly done.
  const of =
    estimated_objects === undefined || estimated_objects === 0 ? '' : ` of about ${grouped(estimated_objects)}`;
  return `${status}, ${grouped(received_objects)}${of} objects received`;
}

/** How many were received once it has ended; until then, how many there may be. */
function objectsText({ state, received_objects, estimated_objects }: SyncReport): string {
  if (state !== 'going-on' && received_objects !== undefined) return grouped(received_objects);
  return estimated_objects === undefined ? '' : `about ${grouped(estimated_objects)}`;
}

type Followed =
  | { readonly kind: 'ended'; readonly last: SyncReport }
  | { readonly kind: 'out-of-time'; readonly last: SyncReport }
  | { readonly kind: 'cancelled'; readonly last: SyncReport };

/** Asks for the status until the sync has ended, and says something only when something has changed. */
async function follow(parts: Parts, started: SyncReport, address: SyncAddress, within: Within): Promise<Followed> {
  const { client, clock, sleep, signal, log } = parts;
  let last = started;
  let said = `The sync is ${progressText(started)}.`;
  let pause = firstPauseMs;
  while (last.state === 'going-on') {
    if (signal.aborted) return { kind: 'cancelled', last };
    const left = within.deadline - clock();
    if (left <= 0) return { kind: 'out-of-time', last };
    await sleep(Math.min(left, Math.max(pause, last.retryAfterMs ?? 0)), signal);
    pause = Math.min(longestPauseMs, pause * growth);
    if (signal.aborted || clock() >= within.deadline) continue;
    let text: string;
    try {
      last = await client.syncStatus(address, within);
      text = `The sync is ${progressText(last)}.`;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const { failure } = error;
      const asksForTooLong = failure.kind === 'deadline' && failure.retryAfterMs !== undefined;
      if (asksForTooLong || !(isPassing(error) || failure.kind === 'aborted')) throw error;
      // That the time is over, or that the step is cancelled, is what the loop looks at next.
      if (failure.kind === 'deadline' || failure.kind === 'aborted') continue;
      text = error.message;
    }
    // How it has ended is told by whoever waits for it.
    if (text !== said && last.state === 'going-on') log.line(text);
    said = text;
  }
  return { kind: 'ended', last };
}

const table = (workspace: string, branch: string, sync: SyncReport) => ({
  head: ['Workspace', 'Branch', 'Status', 'Objects', 'Head'],
  rows: [[workspace, branch, sync.status, objectsText(sync), sync.head ?? '']],
});

async function waitForEnd(parts: Parts, task: SyncTask, started: StartedSync): Promise<Outcome> {
  const { workspace, branch, wait } = task;
  const began = parts.clock();
  const failedAt = (sync: SyncReport, why: string): Outcome =>
    failed(outputsOf(branch, sync), why, table(workspace, branch, sync));
  if (started.progress.kind === 'none' && started.state === 'going-on') {
    return failedAt(
      started,
      `The sync of ${branch} was started, but it cannot be waited for. ${started.progress.why} Remove \`wait\`, or use a service that offers the status of a sync.`,
    );
  }
  const followed: Followed =
    started.progress.kind === 'none'
      ? { kind: 'ended', last: started }
      : await follow(parts, started, started.progress.address, {
          deadline: began + milliseconds(wait),
          signal: parts.signal,
        });
  // What the first answer said is kept where later ones say nothing of it.
  const last: SyncReport = {
    ...followed.last,
    sync_id: followed.last.sync_id ?? started.sync_id,
    estimated_objects: started.estimated_objects ?? followed.last.estimated_objects,
  };
  switch (followed.kind) {
    case 'cancelled':
      return failedAt(last, `Waiting for the sync of ${branch} was cancelled; the service goes on with it.`);
    case 'out-of-time':
      return failedAt(
        last,
        `The sync of ${branch} has not ended within ${formatDuration(wait)}: it is ${progressText(last)}. The service goes on with it. Raise \`wait\` to wait longer.`,
      );
    case 'ended': {
      if (last.state === 'failed') return failedAt(last, `The sync of ${branch} failed: ${last.error ?? last.status}`);
      const took = duration(parts.clock() - began);
      const received =
        last.received_objects === undefined ? '' : `, ${count(last.received_objects, 'object')} received`;
      const sentence = `The branch ${branch} of ${workspace} is synced: ${last.status} after ${took}${received}.`;
      parts.log.line(sentence);
      return succeeded(outputsOf(branch, last), sentence, table(workspace, branch, last));
    }
  }
}

export async function sync(parts: Parts, task: SyncTask): Promise<Outcome> {
  const { client, log, publish } = parts;
  const { workspace, branch, wait } = task;
  const started = await client.startSync({ workspace, branch }, ordinaryLimits(parts));
  publish(outputsOf(branch, started));
  const { estimated_objects: estimated } = started;
  const about =
    estimated === undefined
      ? ''
      : estimated === 0
        ? ', nothing new to receive'
        : `, about ${count(estimated, 'object')} to receive`;
  const sentence = `The sync of ${branch} in ${workspace} is ${started.status}${about}.`;
  log.line(sentence);
  if (wait.seconds > 0) return waitForEnd(parts, task, started);
  if (started.state === 'failed') {
    const why = `The sync of ${branch} failed: ${started.error ?? started.status}`;
    return failed(outputsOf(branch, started), why, table(workspace, branch, started));
  }
  return succeeded(outputsOf(branch, started), sentence, table(workspace, branch, started));
}
