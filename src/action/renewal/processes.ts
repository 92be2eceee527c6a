import { readdirSync, readFileSync } from 'node:fs';
import { parseJson } from '../../client/json.ts';
import { isRecordedProcess, type RecordedProcess } from '../../locks/ledger/entry.ts';
import { createRemovalCheck, type Ledger } from '../../locks/ledger/ledger.ts';
import type { Context } from '../step/context.ts';
import { hasNoProcess } from '../step/runner.ts';

/** Undefined for an invisible process: in a container, the parent of a step is outside and has the id 0. */
export const identifyProcess = (pid: number): RecordedProcess | undefined =>
  pid > 0 ? { pid, startedAt: startOf(pid) } : undefined;

/** Both processes wait for pending requests, but not as long as this. */
const maxWaitMs = 5_000;
const maxKillMs = 1_000;
const pollMs = 10;

type EndContext = Pick<Context, 'clock' | 'sleep'>;

/**
 * Ends the step itself if it is still running, as in a container whose runner signals only its own client. Waits for its
 * end, so that it acquires nothing after its locks are released.
 */
export async function endMain(context: EndContext, saved: string): Promise<void> {
  const main = savedProcess(saved);
  if (main === undefined || isGone(main)) return;
  signalKnown(main, 'SIGTERM');
  await waitOrKill(context, main);
}

/** Stops the renewal of the step's locks. Waits for its end, so that no lock is renewed after its release. */
export async function stopRenewal(
  context: EndContext & { readonly ledger: Ledger },
  step: string,
  saved: string,
  signal: AbortSignal,
): Promise<void> {
  if (saved === '') return;
  tryTo(() => context.ledger.append({ kind: 'step-ended', step, at: new Date().toISOString() }));
  const renewer = savedProcess(saved);
  if (renewer !== undefined) await waitOrKill(context, renewer, signal);
}

async function waitOrKill({ clock, sleep }: EndContext, known: RecordedProcess, signal?: AbortSignal): Promise<void> {
  const until = clock() + maxWaitMs;
  while (!isGone(known) && clock() < until && signal?.aborted !== true) await sleep(pollMs, signal);
  if (!signalKnown(known, 'SIGKILL')) return;
  const killedBy = clock() + maxKillMs;
  while (!isGone(known) && clock() < killedBy) await sleep(pollMs);
}

/** Without its start time, another process may have the id: it is not signaled, and only sees its mark in the ledger. */
function signalKnown({ pid, startedAt }: RecordedProcess, signal: 'SIGTERM' | 'SIGKILL'): boolean {
  if (startedAt === undefined || startOf(pid) !== startedAt) return false;
  tryTo(() => process.kill(pid, signal));
  return true;
}

/** A process that has just ended cannot be signaled, and a ledger may be gone. The locks are released anyway. */
function tryTo(act: () => void): void {
  try {
    act();
  } catch {
    // See above.
  }
}

/** The start of a zombie: a process that has ended, but that no process has waited for. */
const zombieMark = 'zombie';

export function isGone({ pid, startedAt }: RecordedProcess): boolean {
  if (hasNoProcess(pid)) return true;
  const start = startOf(pid);
  return start === zombieMark || (startedAt !== undefined && start !== undefined && start !== startedAt);
}

/** The default time limit of a job, in which a step outside of the container may run. */
const maxIdleMs = 6 * 3_600_000;
/** Once its ledger is gone: a step may have emptied the folder, and another may run outside of the container since. */
const maxIdleWithoutLedgerMs = 600_000;
const lookEveryMs = 60_000;

/**
 * Returns a function that says whether a job has ended whose worker is invisible, as in a container: no step has run in
 * the container for hours, or for minutes since its ledger is gone.
 */
export function createContainerCheck(
  ledgerFile: string,
  clock: () => number,
  runsStep = hasOutsideParent,
): () => boolean {
  const isRemoved = createRemovalCheck(ledgerFile);
  let seenAt = clock();
  let lookedAt = seenAt;
  return () => {
    if (clock() - lookedAt >= lookEveryMs) {
      lookedAt = clock();
      if (runsStep()) seenAt = lookedAt;
    }
    const idleMs = clock() - seenAt;
    return idleMs > maxIdleMs || (idleMs > maxIdleWithoutLedgerMs && isRemoved());
  };
}

/** Whether a process runs that was started from outside of the container, besides its first one. */
const hasOutsideParent = (): boolean =>
  readdirSync('/proc').some((name) => /^\d+$/.test(name) && name !== '1' && statOf(name)?.[1] === '0');

/** Undefined on other systems, or if the start time is unavailable for now. */
function startOf(pid: number): string | undefined {
  const fields = statOf(pid);
  return fields?.[0] === 'Z' ? zombieMark : fields?.[19];
}

/** proc_pid_stat(5), after the name, which may contain spaces: the state, the parent, and as the 20th the start time. */
function statOf(pid: number | string): readonly string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** The process that the step saved; undefined if it saved none. */
function savedProcess(state: string): RecordedProcess | undefined {
  const saved = parseJson(state);
  return saved.ok && isRecordedProcess(saved.value) && saved.value.pid > 1 ? saved.value : undefined;
}
