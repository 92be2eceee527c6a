import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';

export interface RunOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** Any other fails. */
  readonly exitCode?: number;
}

/** Runs a program to its end, with pipes as the runner has them; gives how long that took until all it wrote was read. */
export async function run(program: string, args: readonly string[], { env, signal, exitCode = 0 }: RunOptions) {
  const startedAt = performance.now();
  const child = spawn(program, args, { env, signal, stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close').then(([code]) => ({ code, ms: performance.now() - startedAt }));
  const [{ code, ms }, ...texts] = await Promise.all([closed, text(child.stdout), text(child.stderr)]);
  const output = texts.join('');
  if (code !== exitCode)
    throw new Error(`${program} ${args[0]} ended with ${code} and not with ${exitCode}:\n${output}`);
  return { output, ms };
}

/** What a process holds in memory, and has held at most, in MiB. No numbers where the system does not tell: only Linux does. */
export async function memoryOf(pid: number): Promise<{ readonly now: number; readonly peak: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const [, peak, now] = /^VmHWM:\s+(\d+) kB$.*^VmRSS:\s+(\d+) kB$/ms.exec(status) ?? [];
  return { now: Number(now) / 1_024, peak: Number(peak) / 1_024 };
}
