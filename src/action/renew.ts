import './node-version.ts';

import { writeSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { sleep, steadyClock } from '../client/time.ts';
import { milliseconds, parseTtl } from '../interface/duration.ts';
import type { Entry } from '../locks/ledger/entry.ts';
import { createRecorder, followLedger, marksIn, openLedger } from '../locks/ledger/ledger.ts';
import { renewLocks } from '../locks/renewal/renew-locks.ts';
import { attemptMs, createSchedule } from '../locks/renewal/schedule.ts';
import type { RunToCancel } from './renewal/cancel-run.ts';
import { isGone } from './renewal/processes.ts';
import type { RenewalTask } from './renewal/start.ts';
import { errorText } from './report/error-text.ts';
import { createSecretRedactor } from './report/redact.ts';
import { connect } from './step/connect.ts';

/** Discards the log: nobody reads the output of this process, which reports through the ledger. */
const silentLog = { line: () => undefined, warn: () => undefined, debug: () => undefined, group: () => undefined };

/** The ttl of the locks is the actual limit. */
const retries = 1_000;

async function renew({
  connection,
  origin,
  ledgerFile,
  step,
  workspace,
  worker,
  cancels,
  ...task
}: RenewalTask): Promise<void> {
  const ttl = parseTtl(task.ttl);
  if (!ttl.ok) return;
  Object.assign(process.env, task.proxies);
  const { credentials } = connection;
  const token = credentials.kind === 'static' ? credentials.token : undefined;
  const { redact, add } = createSecretRedactor([token, cancels?.token].filter((secret) => secret !== undefined));
  const ledger = openLedger(ledgerFile, redact);
  const requestTimeoutMs = Math.min(milliseconds(connection.requestTimeout), attemptMs(milliseconds(ttl.value)));
  const requestTimeout = { seconds: requestTimeoutMs / 1_000 };
  const reporter = { log: silentLog, mask: add };
  const recordInLedger = createRecorder(ledger, silentLog);
  const client = connect({ ...connection, retries, requestTimeout }, origin, reporter, {
    marks: marksIn(ledger, recordInLedger, connection.baseUrl),
  });
  const now = (): string => new Date(client.serverNow()).toISOString();
  const time = { clock: steadyClock, sleep, random: Math.random };
  let cancelling: Promise<void> | undefined;
  async function cancel(run: RunToCancel): Promise<void> {
    const { cancelRun } = await import('./renewal/cancel-run.ts');
    const settings = { log: silentLog, connection: { retries, requestTimeout } };
    const reason = await cancelRun(run, { ...time, ...settings });
    recordInLedger({ kind: 'run-cancelled', step, at: now(), reason });
  }
  const context = {
    ...time,
    client,
    record(entry: Entry): void {
      recordInLedger(entry);
      if (entry.kind === 'lost' && cancels !== undefined) cancelling ??= cancel(cancels);
    },
    follow: followLedger(ledgerFile),
    isWorkerGone: () => worker !== undefined && isGone(worker),
    onStart: reportStart,
    watch: poll,
  };
  const job = { service: connection.baseUrl, workspace, step };
  try {
    await renewLocks(context, {
      ...job,
      ttl: ttl.value,
      grants: task.grants,
      schedule: createSchedule(context, { ttl: ttl.value, requestTimeoutMs, ageMs: task.ageMs }),
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

/** Undefined if the text was truncated because the step was killed while writing it. */
function parseRenewalTask(text: string): RenewalTask | undefined {
  try {
    // Written by the same version of the action, through a pipe that no other process has.
    return JSON.parse(text) as RenewalTask;
  } catch {
    return undefined;
  }
}

const task = parseRenewalTask(await text(process.stdin));
if (task !== undefined) await renew(task);
// Pending requests must not delay the exit.
process.exit();
