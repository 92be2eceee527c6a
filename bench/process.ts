import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';

export interface RunOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** The expected exit code. Any other is an error. */
  readonly exitCode?: number;
  /** Linux shares the processors between sessions. The service starts each git in one of its own. */
  readonly inOwnSession?: true;
}

/** Runs a program with pipes, as the runner does. The time includes reading all of its output. */
export async function run(program: string, args: readonly string[], options: RunOptions) {
  const { env, signal, exitCode = 0, inOwnSession: detached = false } = options;
  const startedAt = performance.now();
  const child = spawn(program, args, { env, signal, detached, stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close').then(([code]) => ({ code, ms: performance.now() - startedAt }));
  const [{ code, ms }, ...texts] = await Promise.all([closed, text(child.stdout), text(child.stderr)]);
  const output = texts.join('');
  if (code !== exitCode)
    throw new Error(`${program} ${args[0]} exited with code ${code}, expected ${exitCode}:\n${output}`);
  return { output, ms };
}

/** Current and peak memory of a process, in MiB; NaN on systems other than Linux, which do not report them. */
export async function memoryOf(pid: number): Promise<{ readonly now: number; readonly peak: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const [, peak, now] = /^VmHWM:\s+(\d+) kB$.*^VmRSS:\s+(\d+) kB$/ms.exec(status) ?? [];
  return { now: Number(now) / 1_024, peak: Number(peak) / 1_024 };
}

/** A tick of the times in /proc: USER_HZ is 100 on every platform that Node runs on. */
const tickMs = 10;

/** Processor time that a process has used; NaN on systems other than Linux. */
export async function processorMsOf(pid: number | undefined): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // proc_pid_stat(5): the fields after the name, which ends with the last parenthesis.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}
