import { spawnSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** One action of a recorded process, in order. */
export type Step =
  | { readonly does: 'write'; readonly file: string; readonly offset: number; readonly bytes: Buffer }
  | { readonly does: 'truncate'; readonly file: string; readonly size: number }
  | { readonly does: 'begin-sync'; readonly file: string; readonly by: string }
  | { readonly does: 'end-sync'; readonly file: string; readonly by: string }
  | { readonly does: 'open-new'; readonly file: string }
  | { readonly does: 'make-folder'; readonly file: string }
  | { readonly does: 'unlink'; readonly file: string }
  /** Bytes that were sent to a client or a terminal. */
  | { readonly does: 'say'; readonly text: string }
  /** A change of a file that the other steps cannot express. */
  | { readonly does: 'something-else'; readonly file: string; readonly call: string };

const hex = '(?:\\\\x[0-9a-f]{2})*';
const openFile = new RegExp(`^\\w+\\(\\d+<(${hex})>`);
const someText = new RegExp(`"(${hex})"`, 'g');
const madeFile = new RegExp(`= \\d+<(${hex})>`);

const bytesOf = (digits: string): Buffer => Buffer.from(digits.replaceAll('\\x', ''), 'hex');
const texts = (call: string): Buffer[] => [...call.matchAll(someText)].map(([, digits = '']) => bytesOf(digits));
const firstText = (call: string): string => texts(call)[0]?.toString() ?? '';
const numbersAtEnd = (args: string): number[] => (/(?:, \d+)+$/.exec(args)?.[0].match(/\d+/g) ?? []).map(Number);

const isFile = (name: string): boolean => name.startsWith('/') && !name.startsWith('/dev/');

/** The step at the start of a call: its data may be on disk from now on. */
function began(by: string, name: string, call: string): Step | undefined {
  const file = bytesOf(openFile.exec(call)?.[1] ?? '').toString();
  switch (name) {
    case 'pwrite64': {
      const [size, offset] = numbersAtEnd(call);
      const [bytes] = texts(call);
      if (bytes === undefined || offset === undefined || bytes.length !== size) break;
      return { does: 'write', file, offset, bytes };
    }
    case 'ftruncate':
      return { does: 'truncate', file, size: numbersAtEnd(call)[0] ?? 0 };
    case 'fsync':
    case 'fdatasync':
      return { does: 'begin-sync', file, by };
    case 'write':
    case 'writev':
    case 'sendto':
    case 'sendmsg':
      if (isFile(file)) break;
      return { does: 'say', text: Buffer.concat(texts(call)).toString('latin1') };
    case 'pwritev':
    case 'pwritev2':
    case 'fallocate':
      break;
    default:
      return undefined;
  }
  return { does: 'something-else', file, call: call.slice(0, 200) };
}

/** The step after a call has succeeded. */
function ended(by: string, name: string, call: string, result: string): Step | undefined {
  switch (name) {
    case 'open':
    case 'openat':
    case 'creat':
      if (!call.includes('O_CREAT') && name !== 'creat') return undefined;
      return { does: 'open-new', file: bytesOf(madeFile.exec(result)?.[1] ?? '').toString() };
    case 'mkdir':
    case 'mkdirat':
      return { does: 'make-folder', file: firstText(call) };
    case 'unlink':
    case 'unlinkat':
      return { does: 'unlink', file: firstText(call) };
    case 'rename':
    case 'renameat':
    case 'renameat2':
      return { does: 'something-else', file: firstText(call), call: name };
    case 'fsync':
    case 'fdatasync':
      return { does: 'end-sync', file: bytesOf(openFile.exec(call)?.[1] ?? '').toString(), by };
    default:
      return undefined;
  }
}

const wholeCall = /^(\d+) +(\w+)(\(.*)\) += (-?\d+.*|\?.*)$/;
const beginning = /^(\d+) +(\w+)(\(.*) <unfinished \.\.\.>$/;
const end = /^(\d+) +<\.\.\. (\w+) resumed>(.*)\) += (-?\d+.*|\?.*)$/;

/** Reads a recording of strace. */
export async function* readRecord(file: string): AsyncGenerator<Step> {
  const unfinished = new Map<string, string>();
  for await (const line of createInterface({ input: createReadStream(file, 'latin1'), crlfDelay: Infinity })) {
    const whole = wholeCall.exec(line);
    const begun = whole ?? beginning.exec(line);
    if (begun !== null) {
      const [, process = '', name = '', args = ''] = begun;
      const call = `${name}${args}`;
      const step = began(process, name, call);
      if (step !== undefined) yield step;
      if (whole === null) unfinished.set(process, call);
    }
    const finished = whole ?? end.exec(line);
    if (finished !== null) {
      const [, process = '', name = '', args = '', result = ''] = finished;
      const call = whole === null ? `${unfinished.get(process)}${args}` : `${name}${args}`;
      unfinished.delete(process);
      const step =
        result.startsWith('-') || result.startsWith('?') ? undefined : ended(process, name, call, `= ${result}`);
      if (step !== undefined) yield step;
    }
  }
}

/** System calls that change files, make changes durable, or send responses. Some do not exist on every processor. */
const calls = [
  ...['?open', 'openat', '?creat', '?mkdir', 'mkdirat', '?unlink', 'unlinkat', '?rename', '?renameat', 'renameat2'],
  ...['write', 'writev', 'pwrite64', 'pwritev', 'pwritev2', 'sendto', 'sendmsg', 'ftruncate', 'fallocate'],
  ...['fsync', 'fdatasync'],
];

/** Records the command after it, which stays a child of its starter, with all written data. */
export const recordInto = (file: string): readonly string[] => [
  ...['strace', '-D', '-f', '--seccomp-bpf', '-qq', '-e', 'signal=none', '-e', `trace=${calls.join(',')}`],
  // Print the names of open files, and every byte as two digits.
  ...['-y', '-xx', '-s', '100000000', '-o', file],
];

/** The reason why system calls cannot be recorded here, and its cause; undefined if they can. */
export function whyNoRecorder(): readonly [reason: string, cause?: string] | undefined {
  const anything = ['-D', '-f', '-o', '/dev/null', process.execPath, '--version'];
  const { error, status, stderr } = spawnSync('strace', anything, { encoding: 'utf8' });
  if (error !== undefined) return ['strace is not installed, which is for Linux.'];
  if (status !== 0 || stderr !== '') return ['This machine lets no test record system calls.', stderr.trim()];
  return undefined;
}
