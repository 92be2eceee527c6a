import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { leaveOut } from '../support/left-out.ts';
import { measured } from '../support/measured.ts';
import { runs } from '../support/runs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { callsTo, startService } from './service-calls.ts';

/** SQLite recovers what it has flushed: https://sqlite.org/atomiccommit.html. So responses must wait for the flush. */

const clients = 8;
const requestsEach = runs(6, 100);

/** System calls that create files, make them durable, or write. Some do not exist on every processor. */
const recordedCalls = [
  ...['?open', 'openat', '?mkdir', 'mkdirat', 'write', 'writev', 'pwrite64', 'sendto', 'sendmsg', 'fsync', 'fdatasync'],
];

/** Records the command after it, which stays a child of its starter, with all written data and the names of files. */
const recordInto = (file: string): readonly string[] => [
  ...['strace', '-D', '-f', '--seccomp-bpf', '-qq', '-e', 'signal=none', '-e', `trace=${recordedCalls.join(',')}`],
  ...['-y', '-s', '100000000', '-o', file],
];

/** A system call that begins and ends at these lines of the record. */
interface Call {
  readonly name: string;
  readonly args: string;
  readonly began: number;
  ended: number;
}

function readCalls(file: string): readonly Call[] {
  const calls: Call[] = [];
  const unfinished = new Map<string, Call>();
  for (const [at, line] of readFileSync(file, 'latin1').split('\n').entries()) {
    const [, thread = '', name, args = ''] = /^(\d+) +(\w+)\((.*)$/.exec(line) ?? [];
    if (name === undefined) {
      const resumed = unfinished.get(/^\d+/.exec(line)?.[0] ?? '');
      if (resumed !== undefined && line.includes(' resumed>')) resumed.ended = at;
      continue;
    }
    const isDone = !args.endsWith('<unfinished ...>');
    const call: Call = { name, args, began: at, ended: isDone ? at : Number.POSITIVE_INFINITY };
    calls.push(call);
    if (!isDone) unfinished.set(thread, call);
  }
  return calls;
}

test('each response waits until its lock or release is flushed, and its files and folders are', {
  timeout: runs(180_000, 30 * 60_000),
}, async (context) => {
  const { error, status, stderr } = spawnSync('strace', ['-D', '-f', '-o', '/dev/null', 'true'], { encoding: 'utf8' });
  if (error !== undefined) leaveOut(context, 'strace is not installed, which is for Linux.');
  if (status !== 0) leaveOut(context, 'This machine lets no test record system calls.', stderr.trim());
  const root = temporaryFolder();
  const record = join(root, 'record');
  // Neither of the two folders exists before the first start.
  const folder = join(root, 'new', 'data');
  const service = await startService({ folder, through: recordInto(record) });
  const { lock, release } = callsTo(service);
  const idOf = ({ headers }: { readonly headers: Headers }): string => headers.get('x-request-id') ?? '';
  const paths = Array.from({ length: clients * requestsEach }, (_, index) => `asset-${index}`);
  const coming = paths.values();
  const granted = await Promise.all(
    Array.from({ length: clients }, async () => {
      const answers: { readonly request: string; readonly lock: string }[] = [];
      for (const path of coming) {
        const answer = await lock(path);
        expect(answer.status).toBe(201);
        answers.push({ request: idOf(answer), lock: answer.body.id });
      }
      return answers;
    }),
  );
  // One after the other, so that no flush is that of another release.
  const released: string[] = [];
  for (const path of paths) released.push(idOf(await release(path)));
  await service.stop();

  const calls = readCalls(record);
  const find = (what: (call: Call) => boolean, name: string): Call => {
    const found = calls.find(what);
    if (found === undefined) throw new Error(`The record has no ${name}.`);
    return found;
  };
  const log = join(folder, 'service.db-wal');
  const flushes = (file: string) =>
    calls.filter(({ name, args }) => /^f(data)?sync$/.test(name) && args.includes(`<${file}>`));
  const flushesOfLog = flushes(log);
  const hasFlush = (all: readonly Call[], from: Call, to: Call): boolean =>
    all.some(({ began, ended }) => began > from.ended && ended < to.began);
  const responseTo = (request: string): Call =>
    find(({ args }) => args.includes(`x-request-id: ${request}`), `response to ${request}`);

  const early = granted.flat().filter(({ request, lock: id }) => {
    const isWrite = ({ name, args }: Call) => name === 'pwrite64' && args.includes(`<${log}>`) && args.includes(id);
    return !hasFlush(flushesOfLog, find(isWrite, `write of ${id}`), responseTo(request));
  });
  measured('locks that were acknowledged before they were durable', early.length, { exactly: 0 });
  const responses = [granted.flat().at(-1)?.request ?? '', ...released].map(responseTo);
  const gaps = responses.slice(1).map((response, index) => [responses[index] ?? response, response] as const);
  const unflushed = gaps.filter(([before, response]) => !hasFlush(flushesOfLog, before, response));
  measured('releases that were acknowledged before they were durable', unflushed.length, { exactly: 0 });

  const listening = find(({ args }) => args.includes('listening'), 'first line');
  for (const path of [dirname(folder), folder, join(folder, 'service.db'), log]) {
    const isMade = ({ name, args }: Call) =>
      args.includes(`"${path}"`) && (name.startsWith('mkdir') || args.includes('O_CREAT'));
    expect(hasFlush(flushes(dirname(path)), find(isMade, path), listening), path).toBe(true);
  }
});
