import { writeSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import { sleep, steadyClock } from '../client/time.ts';
import { milliseconds } from '../interface/duration.ts';
import type { Entry } from '../locks/ledger/entry.ts';
import { createRecorder, followLedger, marksIn, openLedger } from '../locks/ledger/ledger.ts';
import { renewLocks } from '../locks/renewal/renew-locks.ts';
import { attemptMs, createSchedule } from '../locks/renewal/schedule.ts';
import { runToEnd } from './process.ts';
import { createContainerCheck, isGone } from './renewal/processes.ts';
import type { RenewalTask } from './renewal/start.ts';
import { errorText } from './report/outcome.ts';
import { connect } from './step/context.ts';
import type { RunToCancel } from './step/github.ts';

/** Discards the log, because nobody reads the output of this process. It reports through the ledger. */
const silentLog = { line: () => undefined, warn: () => undefined, debug: () => undefined };

/** Neither the exit of the worker nor, on some file systems, a change of the ledger triggers an event. */
const pollMs = 100;

/** The ttl of the locks is the actual limit. */
const retries = 1_000;

/** No GitHub job runs longer. */
const maxDays = 5;

async function renew(task: RenewalTask): Promise<void> {
  const { connection, step, workspace, ttl, worker, cancels, unanswered } = task;
  Object.assign(process.env, task.proxies);
  const ledger = openLedger(task.ledgerFile);
  const requestTimeoutMs = Math.min(milliseconds(connection.requestTimeout), attemptMs(milliseconds(ttl)));
  const requestTimeout = { seconds: requestTimeoutMs / 1_000 };
  const reporter = { log: silentLog, mask: () => undefined };
  const recordInLedger = createRecorder(ledger, silentLog);
  const client = connect({ ...connection, retries, requestTimeout }, task.origin, reporter, {
    marks: marksIn(ledger, recordInLedger, connection.baseUrl),
  });
  // The optimizing compilers take several megabytes, and only thousands of single locks need them. As Node options,
  // these flags would slow down the start.
  if (task.leased.length > 0) setFlagsFromString('--no-turbofan --no-maglev');
  const now = (): string => new Date(client.serverNow()).toISOString();
  const time = { clock: steadyClock, sleep, random: Math.random };
  let cancelling: Promise<void> | undefined;
  async function cancel(run: RunToCancel): Promise<void> {
    const { cancelRun } = await import('./step/github.ts');
    const reason = await cancelRun(run, { ...time, log: silentLog, connection: { retries, requestTimeout } });
    recordInLedger({ kind: 'run-cancelled', step, at: now(), reason });
  }
  function record(...entries: readonly Entry[]): void {
    recordInLedger(...entries);
    if (cancels !== undefined && entries.some(({ kind }) => kind === 'lost')) cancelling ??= cancel(cancels);
  }
  const grants = task.grants.flatMap((grant) =>
    grant.lock.lease === undefined
      ? [grant]
      : task.leased.map(({ key, ...lock }) => ({ ...grant, key, path: lock.path, lock: { ...grant.lock, ...lock } })),
  );
  const job = { service: connection.baseUrl, workspace, step };
  const schedule = createSchedule({ ...time, client }, { ttl, requestTimeoutMs, ageMs: task.ageMs });
  try {
    await renewLocks({
      ...time,
      ...job,
      client,
      record,
      grants,
      unanswered,
      ttl,
      schedule,
      maxDays,
      follow: followLedger(task.ledgerFile),
      isWorkerGone: worker ? () => isGone(worker) : createContainerCheck(task.ledgerFile, steadyClock),
      onStart: reportStart,
      watch(look) {
        const timer = setInterval(look, pollMs);
        return () => clearInterval(timer);
      },
    });
  } catch (error) {
    // This process has no log, so the ledger stores the reason.
    record({ kind: 'unrenewed', ...job, at: now(), reason: errorText(error) });
  }
  await cancelling;
}

/** `process.stdout.fd` without loading streams. */
const stdoutFd = 1;

/** The step waits for this line. */
function reportStart(): void {
  try {
    writeSync(stdoutFd, 'renewing\n');
  } catch {
    // The step no longer waits for the line, or was killed. The locks are renewed anyway.
  }
}

runToEnd(async () => {
  const received = await text(process.stdin);
  // Without a complete line, the step had no locks to renew, or was killed while sending them. The text comes from the
  // same version of the action, through a pipe that no other process has.
  if (received.endsWith('\n')) await renew(JSON.parse(received) as RenewalTask);
});
