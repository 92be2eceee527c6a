import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PoolItem } from '../client/leases.ts';
import { ServiceError } from '../client/service-error.ts';
import { CommandError, withExitCode } from '../command/command.ts';
import { exitCodeOf, onSignals } from '../command/io.ts';
import { milliseconds } from '../interface/duration.ts';
import { errorMessage, formatElapsed, joinFirst } from '../interface/format.ts';
import type { LockPath } from '../interface/lock-path.ts';
import { acquireLocks, notAcquiredText } from '../locks/acquire.ts';
import { renewFirst } from '../locks/renewal/first-renewal.ts';
import { attemptMs } from '../locks/renewal/schedule.ts';
import type { RunFlags } from './acquire-flags.ts';
import { headBranch, pathProblems } from './checkout.ts';
import { type Child, forwardedSignals, startChild } from './child.ts';
import { type ConnectionContext, connectTo, type RemoteService } from './connect.ts';
import { asFlag, type CommandSession, createCommandSession, keepLocks } from './session.ts';

interface RunRequest extends RunFlags {
  readonly paths: readonly LockPath[];
  readonly command: readonly string[];
}

/** `EX_TEMPFAIL` of sysexits.h: the command did not run, but may succeed later. */
const notLocked = 75;
const lockLost = 76;

/** Time limit of one attempt. Retries are limited only by time. */
const maxAttemptMs = 30_000;

const releaseMs = 45_000;

/** Runs the command while holding the locks. Returns the exit code. */
export async function runUnderLocks(program: ConnectionContext, request: RunRequest): Promise<number> {
  const signals = forwardSignals();
  let hasRetried = false;
  function onRetry({ reason }: { readonly reason: string }): void {
    if (!hasRetried) remote.report(`${reason} Trying again.`);
    hasRetried = true;
  }
  const requestTimeoutMs = Math.min(maxAttemptMs, attemptMs(milliseconds(request.ttl)));
  const { branch = await headBranch() } = request;
  const options = { requestTimeoutMs, retries: 1_000, branch, onRetry };
  const remote = await connectTo(program, signals.interrupted, options);
  const session = createCommandSession(remote, request.ttl);
  const { environment } = program;
  const context = { environment, request, remote, session, signals, requestTimeoutMs };
  // Ctrl-Z would stop the renewal.
  const forgetSuspension = onSignals(['SIGTSTP'], () =>
    remote.report('Not suspended: locks and the place in line would be lost.'),
  );
  let hasLost = false;
  try {
    let code: number;
    try {
      const acquired = await acquireGoal(context);
      // The signal arrived while the last response was in flight.
      if (signals.interrupted.aborted) throw didNotRun('Interrupted.');
      code = await runWithLocks(context, acquired);
    } finally {
      // Includes locks that an earlier attempt failed to release.
      ({ hasLost } = await session.releaseAll(releaseMs));
    }
    return hasLost ? lockLost : code;
  } catch (error) {
    const failure = error instanceof ServiceError ? didNotRun(error.message) : error;
    throw withExitCode(failure, signals.exitCode());
  } finally {
    signals.forget();
    forgetSuspension();
    remote.client.dispose();
  }
}

interface RunContext extends Pick<ConnectionContext, 'environment'> {
  readonly request: RunRequest;
  readonly remote: RemoteService;
  readonly session: CommandSession;
  readonly signals: ReturnType<typeof forwardSignals>;
  readonly requestTimeoutMs: number;
}

/** Forwards signals to the command. If the command is not running, a signal interrupts the requests. */
function forwardSignals() {
  const interruption = new AbortController();
  let first: NodeJS.Signals | undefined;
  let child: Child | undefined;
  const forget = onSignals(forwardedSignals, (signal) => {
    first ??= signal;
    if (child === undefined) interruption.abort();
    else child.forward(signal);
  });
  return {
    forget,
    interrupted: interruption.signal,
    forwardTo(running: Child | undefined): void {
      child = running;
    },
    exitCode: () => first && exitCodeOf(first),
  };
}

type AcquiredGoal = Awaited<ReturnType<typeof acquireGoal>>;

async function acquireGoal({ request, remote, session }: RunContext) {
  const { wait, priority, where } = request;
  const { client, report } = remote;
  const { context } = session;
  const paths = [...new Set(request.paths)];
  const { any: count = request.pool === undefined ? paths.length : 1 } = request;
  for (const problem of await pathProblems(paths)) report(problem);
  const pool = request.pool === undefined ? undefined : { name: request.pool, where: Object.fromEntries(where) };
  const acquired = await acquireLocks(
    { ...context, withoutWait: remote.within() },
    { paths, pool, count },
    { wait, priority },
  );
  if (acquired.kind !== 'acquired') throw didNotRun(notAcquiredText(acquired, wait, client.serverNow(), asFlag));
  const { grantedAt } = acquired;
  const items = request.pool === undefined ? undefined : acquired.items;
  const waited = acquired.waitedMs > 0 ? ` after waiting for ${formatElapsed(acquired.waitedMs)}` : '';
  report(`Locked ${joinFirst(acquired.grants.map(({ path }) => path))}${waited}.`);
  const { grants, refusal, unanswered } = await renewFirst({ ...context, ...context.terms }, acquired.grants);
  if (refusal !== undefined) {
    report(
      `This service cannot renew locks. ${refusal} The command is stopped before they expire: choose a longer --ttl if it takes longer.`,
    );
  }
  return { grants, grantedAt, items, unanswered, canRenew: refusal === undefined };
}

/** Renews the locks while the command runs. */
async function runWithLocks(
  { environment, request, remote: { report }, session, signals, requestTimeoutMs }: RunContext,
  acquired: AcquiredGoal,
): Promise<number> {
  let child: Child | undefined;
  let stopped: Promise<void> | undefined;
  const graceMs = milliseconds(request.grace);
  const marginMs = Math.min(graceMs, milliseconds(request.ttl) / 4);
  const stopKeeping = keepLocks(session, { ...acquired, marginMs, requestTimeoutMs }, (reason, remainingMs) => {
    report(child === undefined ? reason : `${reason} Stopping the command.`);
    child?.closePipe();
    stopped = child?.stop(Math.min(graceMs, remainingMs)) ?? Promise.resolve();
  });
  let folder: string | undefined;
  let code: number;
  try {
    let variables: NodeJS.ProcessEnv;
    // Synchronous, like the start of the command: a signal in between would be lost.
    try {
      folder = mkdtempSync(join(tmpdir(), 'workspace-locks-'));
      variables = variablesOf(acquired, folder);
    } catch (error) {
      throw didNotRun(`${errorMessage(error)}.`);
    }
    child = startChild(request.command, { ...environment, ...variables }, report);
    signals.forwardTo(child);
    code = await child.ended;
    if (stopped === undefined) await child.endRest(graceMs);
  } finally {
    await stopped;
    child = undefined;
    signals.forwardTo(child);
    await stopKeeping();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
  return stopped === undefined ? code : lockLost;
}

/** Variables for the command: the properties of a single item, the highest fence, and a file with the locks. */
function variablesOf({ grants, items }: AcquiredGoal, folder: string): NodeJS.ProcessEnv {
  const file = join(folder, 'locks.json');
  const locks = grants.map(({ lock }) => lock);
  const properties = new Map<string, PoolItem['properties']>(items?.map((item) => [item.path, item.properties]));
  const withProperties = locks.map((lock) => ({ ...lock, properties: properties.get(lock.path) ?? {} }));
  writeFileSync(file, JSON.stringify(items === undefined ? locks : withProperties), { mode: 0o600 });
  const fences = locks.flatMap(({ fence }) => fence ?? []);
  return {
    ...(grants.length === 1 && propertyVariables(items?.[0])),
    // These take precedence over properties with the same names, like LOCK_PIPE does.
    LOCKS_FILE: file,
    ...(fences.length > 0 && { LOCK_FENCE: String(Math.max(...fences)) }),
  };
}

const propertyVariables = (item: PoolItem | undefined): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(item?.properties ?? {}).map(([name, value]) => [
      `LOCK_${name.toUpperCase().replaceAll('-', '_')}`,
      value,
    ]),
  );

const didNotRun = (reason: string): CommandError => new CommandError(`${reason} The command did not run.`, notLocked);
