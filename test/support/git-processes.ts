import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

interface RunningProcess {
  readonly pid: number;
  readonly commandLine: string;
}

function fromProc(entry: string): RunningProcess {
  try {
    return { pid: Number(entry), commandLine: readFileSync(`/proc/${entry}/cmdline`, 'utf8').replaceAll('\0', ' ') };
  } catch {
    return { pid: Number(entry), commandLine: '' };
  }
}

function fromPs(line: string): RunningProcess {
  const [, pid, commandLine = ''] = /^ *(\d+) +(.*)$/.exec(line) ?? [];
  return { pid: Number(pid), commandLine };
}

/** The processes of this machine with their command lines, as every user of it can read them. */
function processes(): readonly RunningProcess[] {
  if (process.platform === 'linux') {
    return readdirSync('/proc')
      .filter((entry) => /^\d+$/.test(entry))
      .map(fromProc);
  }
  return execFileSync('ps', ['-A', '-ww', '-o', 'pid=,args='], { encoding: 'utf8' }).split('\n').map(fromPs);
}

export const processesNaming = (text: string): readonly RunningProcess[] =>
  processes().filter(({ commandLine }) => commandLine.includes(text));
