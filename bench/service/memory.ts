import { readFile } from 'node:fs/promises';

/** What a process holds in memory, and has held at most, in bytes. Undefined where the system does not tell: only Linux does. */
export async function memoryOf(pid: number): Promise<{ readonly now: number; readonly peak: number } | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const bytesOf = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1_024;
  const [now, peak] = [bytesOf('VmRSS'), bytesOf('VmHWM')];
  return Number.isNaN(now) || Number.isNaN(peak) ? undefined : { now, peak };
}
