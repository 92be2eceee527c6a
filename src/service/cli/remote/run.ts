import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Priority, sleep, steadyClock, urgencies } from '../../../client/client.ts';
import { type Duration, formatDuration, milliseconds } from '../../../interface/duration.ts';
import type { LockPath } from '../../../interface/lock-path.ts';
import type { Ttl } from '../../../interface/ttl.ts';
import { clockTime, formatElapsed, joinFirst } from '../../../interface/words.ts';
import { type AcquireLocksResult, acquireLocks } from '../../../locks/acquire.ts';
import type { Grant } from '../../../locks/ledger/entry.ts';
import { blockedText, pastMoment, unansweredText } from '../../../locks/messages.ts';
import { cleanupLimits } from '../../../locks/release.ts';
import { attemptMs } from '../../../locks/renewal/schedule.ts';
import { remainingRollback, rollBack } from '../../../locks/roll-back.ts';
import { openLockSession } from '../../../locks/session.ts';
import { CommandError } from '../definition/command.ts';
import { type Child, exitCodeOf, onSignals, startChild } from './child.ts';
import { keepLocks, openMemoryLedger } from './keep-locks.ts';
import type { ConnectedService, RequestLimits } from './remote-command.ts';

export interface RunRequest {
  readonly paths: readonly LockPath[];
  /** The number of paths to lock. */
  readonly count: number;
  readonly wait: Duration;
  readonly priority: Priority;
  readonly ttl: Ttl;
  readonly onLost: 'stop' | 'warn';
  readonly grace: Duration;
  readonly command: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
}

/** `EX_TEMPFAIL` of sysexits.h: the command did not run, and may run later. */
const notLocked = 75;
const lockLost = 76;

/** Time limit of the first attempts if `wait` is zero. */
const withoutWaitMs = 60_000;

/** Time limit of one attempt. Retries are limited by time only. */
const maxAttemptMs = 30_000;

/** Time limit of the release after the command. */
const releaseMs = 45_000;
const minReleaseMs = 2_000;

/** Runs the command while it holds the locks. Returns the exit code. */
export async function runUnderLocks(
  connect: (interrupted: AbortSignal, limits: RequestLimits) => Promise<ConnectedService>,
  request: RunRequest,
): Promise<number> {
  const interruption = new AbortController();
  let received: NodeJS.Signals | undefined;
  let child: Child | undefined;
  const forgetSignals = onSignals((signal) => {
    received ??= signal;
    if (child === undefined) interruption.abort();
    else child.signal(signal);
  });
  const requestTimeoutMs = Math.min(maxAttemptMs, attemptMs(milliseconds(request.ttl)));
  const limits = { requestTimeoutMs, retries: 1_000 };
  const { client, service, workspace, tell } = await connect(interruption.signal, limits);
  const ledger = openMemoryLedger();
  const step = crypto.randomUUID();
  const time = { clock: steadyClock, sleep, random: Math.random };
  const session = openLockSession({
    ...{ ...time, client, record: ledger.record, step },
    origin: undefined,
    announce: () => undefined,
  });
  const { paths, count, wait, priority, ttl, grace } = request;
  const terms = { service, workspace, type: 'exclusive', ttl };

  async function release(grants: readonly Grant[]): Promise<void> {
    const now = client.serverNow();
    const lastEnd = Math.max(...grants.map(({ lock }) => Date.parse(lock.expires_at)));
    // A lock that has expired needs no release.
    const timeMs = lastEnd > now + releaseMs ? releaseMs : Math.max(lastEnd - now, minReleaseMs);
    const limits = cleanupLimits(steadyClock, timeMs, interruption.signal);
    const back = await rollBack(session, { acquired: grants, unanswered: [] }, limits).finally(limits.lift);
    for (const { grant, error } of remainingRollback(back)) {
      const end = clockTime(Date.parse(grant.lock.expires_at), now);
      tell(`The lock on ${grant.path} could not be released, and ends at ${end}: ${error.message}`);
    }
  }

  /** The exit code of the command. */
  async function run(grants: readonly Grant[]): Promise<number> {
    let stopped: Promise<void> | undefined;
    const marginMs = Math.min(milliseconds(grace), milliseconds(ttl) / 4);
    const kept = keepLocks({
      ...{ client, ledger, step, terms, marginMs, requestTimeoutMs },
      onLost(reason) {
        tell(request.onLost === 'stop' ? `${reason} Stopping the command.` : reason);
        child?.closePipe();
        if (request.onLost === 'stop') stopped = child?.stop(grace) ?? Promise.resolve();
      },
    });
    const folder = mkdtempSync(join(tmpdir(), 'workspace-locks-'));
    try {
      const environment = { ...request.environment, ...variablesOf(grants, folder) };
      child = startChild(request.command, environment, tell);
      const code = await child.ended;
      await stopped;
      child = undefined;
      await release(await kept.stop());
      return stopped === undefined ? code : lockLost;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  try {
    const interrupted = { ...time, client, signal: interruption.signal };
    const acquired = await acquireLocks(
      {
        ...{ ...interrupted, session, terms, log: { line: tell } },
        withoutWait: { deadline: steadyClock() + withoutWaitMs, signal: interruption.signal },
      },
      { paths, count },
      { wait, urgency: urgencies[priority] },
    );
    if (acquired.round.kind === 'acquired') {
      const { grants } = acquired.round;
      const what = joinFirst(grants.map(({ path }) => path));
      const waited = acquired.waitedMs > 0 ? ` after waiting for ${formatElapsed(acquired.waitedMs)}` : '';
      tell(`Locked ${what}${waited}.`);
      // The signal came while the last response was on its way.
      if (received === undefined) return await run(grants);
      await release(grants);
    }
    for (const intent of acquired.unanswered) tell(unansweredText(intent));
    if (received !== undefined) return exitCodeOf(received);
    throw new CommandError(refusalText(acquired, request, client.serverNow()), notLocked);
  } finally {
    forgetSignals();
    client.dispose();
  }
}

/** For the command: the highest fence, and a file with the locks. */
function variablesOf(grants: readonly Grant[], folder: string): NodeJS.ProcessEnv {
  const file = join(folder, 'locks.json');
  const locks = grants.map(({ lock }) => lock);
  writeFileSync(file, JSON.stringify(locks), { mode: 0o600 });
  const fences = locks.flatMap(({ fence }) => fence ?? []);
  return { LOCKS_FILE: file, ...(fences.length > 0 && { LOCK_FENCE: String(Math.max(...fences)) }) };
}

function refusalText({ round, lastBlocked }: AcquireLocksResult, { wait }: RunRequest, now: number): string {
  const waited = wait.seconds > 0 ? ` Waited ${formatDuration(wait)}. Increase --wait` : ' Set --wait 15m';
  switch (round.kind) {
    case 'held':
      return `${blockedText(round.blocked, now)}.${waited} to wait longer. The command did not run.`;
    case 'failed':
      return lastBlocked !== undefined && round.error.failure.kind === 'deadline'
        ? `${blockedText(lastBlocked, now)}.${waited} to wait longer. The command did not run.`
        : `${round.error.message} The command did not run.`;
    case 'too-short':
      return `The lock on ${round.ended.path} expired at ${pastMoment(Date.parse(round.ended.lock.expires_at), now)}, before all paths were locked. Increase --ttl. The command did not run.`;
    case 'acquired':
    case 'cancelled':
      return 'Interrupted. The command did not run.';
  }
}
