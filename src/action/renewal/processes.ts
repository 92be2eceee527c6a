import { readdirSync, readFileSync } from 'node:fs';
import { parseJson } from '../../client/json.ts';
import { isRecordedProcess, type RecordedProcess } from '../../locks/ledger/entry.ts';
import { createRemovalCheck, type Ledger } from '../../locks/ledger/ledger.ts';
import type { Context } from '../step/context.ts';
import { hasNoProcess } from '../step/runner.ts';

/** Undefined for a process that is not visible. In a container, the parent of a step is outside, and has the id 0. */
export const identifyProcess = (pid: number): RecordedProcess | undefined =>
  pid > 0 ? { pid, startedAt: startOf(pid) } : undefined;

/** Both processes wait for pending requests, but never this long. */
const maxWaitMs = 5_000;
const maxKillMs = 1_000;
const pollMs = 10;

type EndContext = Pick<Context, 'clock' | 'sleep'>;

/**
 * Ends the step itself if it is still running, for example in a container whose runner signals only its own client.
 * Waits until it has ended, so that it acquires nothing after its locks are released.
 */
export async function endMain(context: EndContext, saved: string): Promise<void> {
  const main = savedProcess(saved);
  if (main === undefined || isGone(main)) return;
  signalKnown(main, 'SIGTERM');
  await waitOrKill(context, main);
}

/** Stops the renewal of the step's locks. Waits until it has ended, so that no lock is renewed after its release. */
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

/** Without a start time, the id may be another process's. It gets no signal, and only sees the end in the ledger. */
function signalKnown({ pid, startedAt }: RecordedProcess, signal: 'SIGTERM' | 'SIGKILL'): boolean {
  if (startedAt === undefined || startOf(pid) !== startedAt) return false;
  tryTo(() => process.kill(pid, signal));
  return true;
}

/** Ignores errors: a process that just ended cannot be signaled, and a ledger may be gone. The release continues. */
function tryTo(act: () => void): void {
  try {
    act();
  } catch {
    // See above.
  }
}

/** The start time of a zombie: a process that has ended, but whose parent has not waited for it. */
const zombieMark = 'zombie';

export function isGone({ pid, startedAt }: RecordedProcess): boolean {
  if (hasNoProcess(pid)) return true;
  const start = startOf(pid);
  return start === zombieMark || (startedAt !== undefined && start !== undefined && start !== startedAt);
}

/** The default time limit of a job. A step may run outside of the container for that long. */
const maxIdleMs = 6 * 3_600_000;
/** Once its ledger is gone. Not 0: a step may have emptied the folder, and another may run outside the container. */
const maxIdleWithoutLedgerMs = 600_000;
const lookEveryMs = 60_000;

/**
 * Returns a function that checks whether the job has ended, for a worker that is not visible, as in a container: no
 * step has run in the container for hours, or for minutes since its ledger is gone.
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

/** Whether any process, besides the first one, was started from outside of the container. */
const hasOutsideParent = (): boolean =>
  readdirSync('/proc').some((name) => /^\d+$/.test(name) && name !== '1' && statOf(name)?.[1] === '0');

/** Undefined on other systems, or if the start time cannot be read now. */
function startOf(pid: number): string | undefined {
  const fields = statOf(pid);
  return fields?.[0] === 'Z' ? zombieMark : fields?.[19];
}

/** Fields of proc_pid_stat(5) after the name, which may contain spaces. The 20th of them is the start time. */
function statOf(pid: number | string): readonly string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** The process that the step saved; undefined if none. */
function savedProcess(state: string): RecordedProcess | undefined {
  const saved = parseJson(state);
  return saved.ok && isRecordedProcess(saved.value) && saved.value.pid > 1 ? saved.value : undefined;
}
