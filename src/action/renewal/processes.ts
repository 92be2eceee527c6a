import { readFileSync } from 'node:fs';
import type { Ledger } from '../ledger/ledger.ts';
import type { Context } from '../step/context.ts';

/** A process by its id and its start: the system uses ids again. */
export interface KnownProcess {
  readonly pid: number;
  /** Undefined if the system does not report it. */
  readonly startedAt: string | undefined;
}

/** Undefined for an invisible process: in a container, the parent of a step is outside and has the id 0. */
export const lookAt = (pid: number): KnownProcess | undefined =>
  pid > 0 ? { pid, startedAt: startOf(pid) } : undefined;

/** On macOS, each look at the start of a process runs `ps`. */
const defaultLooksPerStart = process.platform === 'darwin' ? 30 : 1;

/** For frequent looks at one process: only one in `looksPerStart` compares its start. */
export function watchProcess(known: KnownProcess, looksPerStart = defaultLooksPerStart): () => boolean {
  let looks = 0;
  return () => {
    looks += 1;
    return looks % looksPerStart === 0 ? isGone(known) : hasNoProcess(known.pid);
  };
}

/** It waits for a renewal that is on its way, and gives that up sooner. */
const maxWaitMs = 5_000;
const lookEveryMs = 10;

/** Returns when nothing renews the locks of the step any more, so that none comes back after its release. */
export async function stopRenewal(
  { ledger, clock, sleep }: Pick<Context, 'clock' | 'sleep'> & { readonly ledger: Ledger },
  step: string,
  saved: string,
  signal: AbortSignal,
): Promise<void> {
  if (saved === '') return;
  try {
    ledger.append({ kind: 'stop-renewing', step, at: new Date().toISOString() });
  } catch {
    // Without a ledger, it ends by itself.
  }
  const renewer = savedProcess(saved);
  if (renewer === undefined) return;
  const until = clock() + maxWaitMs;
  while (!isGone(renewer) && clock() < until && !signal.aborted) await sleep(lookEveryMs, signal);
  // Without a start time, another process may have its id.
  if (renewer.startedAt === undefined || isGone(renewer)) return;
  try {
    process.kill(renewer.pid, 'SIGKILL');
  } catch {
    // It has just ended, or cannot be signalled. The locks are released in any case.
  }
}

/** One that nobody has waited for yet. */
const ended = 'ended';

export function isGone({ pid, startedAt }: KnownProcess): boolean {
  if (hasNoProcess(pid)) return true;
  const start = startOf(pid);
  return start === ended || (startedAt !== undefined && start !== undefined && start !== startedAt);
}

/** Undefined if it cannot be seen, or not now. */
function startOf(pid: number): string | undefined {
  switch (process.platform) {
    case 'linux':
      return startOnLinux(pid);
    case 'darwin':
      return startOnMac(pid);
    default:
      return undefined;
  }
}

/** proc_pid_stat(5): behind the name, which may have blanks, the state is the first field and the start the 20th. */
function startOnLinux(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? ended : fields[19];
  } catch {
    return undefined;
  }
}

function startOnMac(pid: number): string | undefined {
  try {
    // Loading it takes a while, and no other system needs it.
    const { execFileSync } = process.getBuiltinModule('node:child_process');
    // The time is written for the language and the zone of who asks, and these differ between a step and what it starts.
    const env = { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' };
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', env }).trim() || undefined;
  } catch {
    return undefined;
  }
}

function hasNoProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    // EPERM: it exists, and belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}

/** As saved by the step; undefined if it was not saved. */
function savedProcess(state: string): KnownProcess | undefined {
  try {
    const value: unknown = JSON.parse(state);
    if (typeof value !== 'object' || value === null) return undefined;
    // An object that JSON made has nothing but string keys.
    const { pid, startedAt } = value as Readonly<Record<string, unknown>>;
    if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 1) return undefined;
    return { pid, startedAt: typeof startedAt === 'string' ? startedAt : undefined };
  } catch {
    return undefined;
  }
}
