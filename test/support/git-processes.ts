import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

function commandLine(entry: string): string {
  try {
    return readFileSync(`/proc/${entry}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

/** The command lines of all processes of this machine, as anyone on it can read them. */
export function commandLines(): readonly string[] {
  if (process.platform !== 'linux')
    return execFileSync('ps', ['-A', '-ww', '-o', 'args='], { encoding: 'utf8' }).split('\n');
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(commandLine);
}

export const processesNaming = (text: string): readonly string[] =>
  commandLines().filter((line) => line.includes(text));
