import { appendFileSync, closeSync, fstatSync, mkdirSync, openSync, readFileSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Redact } from '../report/redact.ts';
import type { Log } from '../report/reporter.ts';
import { type Entry, readEntry } from './entry.ts';

export const ledgerFile = (temporaryFolder: string): string => fileIn(temporaryFolder, 'ledger.jsonl');

/** Where a step writes its output `locks`, which may be too long for an output. */
export const locksFile = (temporaryFolder: string, step: string): string =>
  fileIn(temporaryFolder, `locks-${step}.json`);

export interface LedgerContent {
  readonly entries: readonly Entry[];
  /** Lines that could not be read: cut off when a step was killed, or not ours. */
  readonly damaged: number;
}

/** What the steps of a job asked for and got: an append-only file of lines. */
export interface Ledger {
  readonly file: string;
  /** Throws if the lines cannot be written; when it returns, they are in the file. */
  append(...entries: readonly Entry[]): void;
  read(): LedgerContent;
}

export function openLedger(file: string, redact: Redact): Ledger {
  /** Kept open, because a step appends thousands of lines. */
  let descriptor: number | undefined;
  return {
    file,
    append(...entries) {
      // A line break before as well as behind: the line of a step that was killed may have been cut off.
      const text = entries
        .flatMap(inShortLines)
        .map((entry) => `\n${lockJson(entry, redact)}\n`)
        .join('');
      descriptor ??= openToAppend(file);
      appendFileSync(descriptor, text);
    },
    read() {
      const entries = linesIn(readFileSync(file, 'utf8')).map(readEntry);
      const readable = entries.filter((entry) => entry !== undefined);
      return { entries: readable, damaged: entries.length - readable.length };
    },
  };
}

function openToAppend(file: string): number {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  return openSync(file, 'a', 0o600);
}

/** All of the ledger of thousands of locks at once would take several times its size. */
const maxReadBytes = 256 * 1_024;

/**
 * Returns a function that reads the entries added to a ledger since its last call, part by part: none are left when it
 * returns none. It throws if the file is gone, or is another one.
 */
export function followLedger(file: string): () => readonly Entry[] {
  let position = 0;
  return () => {
    const descriptor = openSync(file, 'r');
    try {
      const size = fstatSync(descriptor).size;
      if (size < position) throw new Error(`${file} is shorter than it was.`);
      for (let room = maxReadBytes; ; ) {
        const bytes = Buffer.alloc(Math.min(size - position, room));
        const read = bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, position));
        const whole = read.subarray(0, read.lastIndexOf('\n') + 1);
        position += whole.length;
        const entries = linesIn(whole.toString())
          .map(readEntry)
          .filter((entry) => entry !== undefined);
        // The text after the last line break may be incomplete.
        if (entries.length > 0 || read.length < room) return entries;
        // A line that is longer than what was read, if it was not one that nobody can read.
        if (whole.length === 0) room *= 2;
      }
    } finally {
      closeSync(descriptor);
    }
  };
}

export type Recorder = (entry: Entry) => void;

/** Warns once if the ledger cannot be written, and goes on: the step still needs its lock. */
export function createRecorder(ledger: Ledger, log: Pick<Log, 'warn'>): Recorder {
  let failed = false;
  return (entry) => {
    try {
      ledger.append(entry);
    } catch (error) {
      if (failed) return;
      failed = true;
      const reason = error instanceof Error ? error.message : String(error);
      log.warn(
        `The ledger of this job's locks cannot be written (${reason}). If a step is killed before it is done, the locks it was about to take or release can stay until their ttl ends. Make sure that the runner has room, and may write, in its temporary folder.`,
      );
    }
  };
}

/** Fields of a lock that the service sets. All others are as requested. */
const fieldsOfService: ReadonlySet<string> = new Set([
  'id',
  'etag',
  'type',
  'owner',
  'origin',
  'acquired_at',
  'expires_at',
  'reason',
]);

/** Locks or entries as JSON, without the secrets that a service may repeat in what it says of a lock. */
export const lockJson = (value: unknown, redact: Redact): string =>
  JSON.stringify(value, (name, member: unknown) =>
    fieldsOfService.has(name) && typeof member === 'string' ? redact(member) : member,
  );

/** All steps of a job share the runner's temporary folder, which is emptied after the job. */
const fileIn = (temporaryFolder: string, name: string): string => join(temporaryFolder, 'workspace-automation', name);

const linesIn = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');

/** The same as entries whose lines are bounded, however many paths the step has. */
function inShortLines(entry: Entry): readonly Entry[] {
  switch (entry.kind) {
    case 'plan':
      return inShortLists(entry.paths).map((paths) => ({ ...entry, paths }));
    case 'renewed': {
      const { step, at, except = [] } = entry;
      const lists = inShortLists(except);
      if (lists.length === 1) return [entry];
      // The round comes last: a reader that sees only some of the lines takes no lock for renewed that was left out.
      const before = lists.slice(0, -1).map((paths): Entry => ({ kind: 'left-out', step, at, paths }));
      return [...before, { ...entry, except: lists.at(-1) }];
    }
    default:
      return [entry];
  }
}

/** A list of this many bytes is many paths, and its line a fraction of what a reader takes at a time. */
const maxListBytes = 64 * 1_024;

/** The paths in their order, in lists of at most `maxListBytes`. A longer path stands alone. */
function inShortLists(paths: readonly string[]): readonly (readonly string[])[] {
  const lists: string[][] = [[]];
  let length = 0;
  for (const path of paths) {
    const bytes = Buffer.byteLength(JSON.stringify(path)) + 1;
    if (length > 0 && length + bytes > maxListBytes) {
      lists.push([]);
      length = 0;
    }
    lists.at(-1)?.push(path);
    length += bytes;
  }
  return lists;
}
