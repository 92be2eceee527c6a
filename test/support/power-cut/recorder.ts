import { spawnSync } from 'node:child_process';

/** What changes files, makes a change durable, or answers a client. Some of them are not there on every processor. */
const calls = [
  ...['?open', 'openat', '?creat', '?mkdir', 'mkdirat', '?unlink', 'unlinkat', '?rename', '?renameat', 'renameat2'],
  ...['write', 'writev', 'pwrite64', 'pwritev', 'pwritev2', 'sendto', 'sendmsg', 'ftruncate', 'fallocate'],
  ...['fsync', 'fdatasync'],
];

/** The command that comes after it stays the child of who starts it, and all it writes goes into the record in full. */
export const recordInto = (file: string): readonly string[] => [
  ...['strace', '-D', '-f', '--seccomp-bpf', '-qq', '-e', 'signal=none', '-e', `trace=${calls.join(',')}`],
  // Names of open files, and every byte as two digits.
  ...['-y', '-xx', '-s', '100000000', '-o', file],
];

/** Why calls of the system cannot be recorded here; undefined where they can. */
export function whyNoRecorder(): string | undefined {
  if (process.platform !== 'linux') return 'What a process writes is recorded with strace, which is for Linux.';
  const { error, status, stderr } = spawnSync(
    'strace',
    ['-D', '-f', '-o', '/dev/null', process.execPath, '--version'],
    {
      encoding: 'utf8',
    },
  );
  if (error !== undefined) return 'strace is not installed here.';
  if (status !== 0 || stderr !== '') return `strace may not watch a process here: ${stderr.trim()}`;
  return undefined;
}
