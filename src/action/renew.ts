import './node-version.ts';

import { writeSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { sleep, steadyClock } from '../client/time.ts';
import { milliseconds } from '../interface/duration.ts';
import type { Entry } from '../locks/ledger/entry.ts';
import { createRecorder, followLedger, marksIn, openLedger } from '../locks/ledger/ledger.ts';
import { renewLocks } from '../locks/renewal/renew-locks.ts';
import { attemptMs, createSchedule } from '../locks/renewal/schedule.ts';
import { isGone } from './renewal/processes.ts';
import type { RenewalTask } from './renewal/start.ts';
import { errorText } from './report/outcome.ts';
import { connect } from './step/context.ts';
import type { RunToCancel } from './step/github.ts';

/** Discards the log: nobody reads the output of this process, which reports through the ledger. */
const silentLog = { line: () => undefined, warn: () => undefined, debug: () => undefined };

/** The ttl of the locks is the actual limit. */
const retries = 1_000;

async function renew({
  connection,
  origin,
  ledgerFile,
  step,
  workspace,
  ttl,
  worker,
  cancels,
  ...task
}: RenewalTask): Promise<void> {
  Object.assign(process.env, task.proxies);
  const ledger = openLedger(ledgerFile);
  const requestTimeoutMs = Math.min(milliseconds(connection.requestTimeout), attemptMs(milliseconds(ttl)));
  const requestTimeout = { seconds: requestTimeoutMs / 1_000 };
  const reporter = { log: silentLog, mask: () => undefined };
  const recordInLedger = createRecorder(ledger, silentLog);
  const client = connect({ ...connection, retries, requestTimeout }, origin, reporter, {
    marks: marksIn(ledger, recordInLedger, connection.baseUrl),
  });
  const now = (): string => new Date(client.serverNow()).toISOString();
  const time = { clock: steadyClock, sleep, random: Math.random };
  let cancelling: Promise<void> | undefined;
  async function cancel(run: RunToCancel): Promise<void> {
    const { cancelRun } = await import('./step/github.ts');
    const settings = { log: silentLog, connection: { retries, requestTimeout } };
    const reason = await cancelRun(run, { ...time, ...settings });
    recordInLedger({ kind: 'run-cancelled', step, at: now(), reason });
  }
  const context = {
    ...time,
    client,
    record(...entries: readonly Entry[]): void {
      recordInLedger(...entries);
      if (cancels !== undefined && entries.some(({ kind }) => kind === 'lost')) cancelling ??= cancel(cancels);
    },
    follow: followLedger(ledgerFile),
    isWorkerGone: () => worker !== undefined && isGone(worker),
    onStart: reportStart,
    watch: poll,
  };
  const job = { service: connection.baseUrl, workspace, step };
  try {
    await renewLocks({
      ...context,
      ...job,
      ttl,
      grants: task.grants,
      schedule: createSchedule(context, { ttl, requestTimeoutMs, ageMs: task.ageMs }),
    });
  } catch (error) {
    // Otherwise the reason would be lost: this process has no log.
    context.record({ kind: 'unrenewed', ...job, at: now(), reason: errorText(error) });
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
    // The step no longer waits for the line, or was killed: the locks are renewed anyway.
  }
}

/** Neither the exit of the worker nor, on some file systems, a change of the ledger sends an event. */
const pollMs = 100;

function poll(look: () => void): () => void {
  const timer = setInterval(look, pollMs);
  return () => clearInterval(timer);
}

const received = await text(process.stdin);
// Otherwise the step had no locks to renew, or was killed while it sent them. The text is from the same version of the
// action, through a pipe that no other process has.
if (received.endsWith('\n')) await renew(JSON.parse(received) as RenewalTask);
// Pending requests must not delay the exit.
process.exit();
