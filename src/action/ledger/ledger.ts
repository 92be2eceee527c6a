import { appendFileSync, closeSync, fstatSync, mkdirSync, openSync, readFileSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Redact } from '../report/redact.ts';
import type { Log } from '../report/reporter.ts';
import { type Entry, readEntry } from './entry.ts';

/** All steps of a job share the runner's temporary folder, which is emptied after the job. */
const fileIn = (temporaryFolder: string, name: string): string => join(temporaryFolder, 'workspace-automation', name);

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

/** What the service says of a lock. All other fields are what was asked for, and stay as they are. */
const fieldsOfService: ReadonlySet<string> = new Set([
  'id',
  'etag',
  'type',
  'owner',
  'origin',
  'acquired_at',
  'expires_at',
  'why',
]);

/** Locks or entries as JSON, without the secrets that a service may repeat in what it says of a lock. */
export const lockJson = (value: unknown, redact: Redact): string =>
  JSON.stringify(value, (name, member: unknown) =>
    fieldsOfService.has(name) && typeof member === 'string' ? redact(member) : member,
  );

const linesIn = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');

export function openLedger(file: string, redact: Redact): Ledger {
  return {
    file,
    append(...entries) {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      // A line break before as well as behind: the line of a step that was killed may have been cut off.
      const text = entries.map((entry) => `\n${lockJson(entry, redact)}\n`).join('');
      appendFileSync(file, text, { mode: 0o600 });
    },
    read() {
      const entries = linesIn(readFileSync(file, 'utf8')).map(readEntry);
      const readable = entries.filter((entry) => entry !== undefined);
      return { entries: readable, damaged: entries.length - readable.length };
    },
  };
}

/** Of a ledger of thousands of locks: all of it at once would take several times its size. */
const maxReadBytes = 256 * 1_024;

/**
 * Reads what was added to a ledger since the call before, a part at a time: there may be more, unless it is nothing. Throws
 * when the file is gone, or another one.
 */
export function followLedger(file: string): () => readonly Entry[] {
  let position = 0;
  return () => {
    const descriptor = openSync(file, 'r');
    try {
      const size = fstatSync(descriptor).size;
      if (size < position) throw new Error(`${file} is shorter than it was.`);
      const bytes = Buffer.alloc(Math.min(size - position, maxReadBytes));
      const read = bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, position));
      // The last line may still be on its way.
      const whole = read.subarray(0, read.lastIndexOf('\n') + 1);
      position += whole.length;
      return linesIn(whole.toString())
        .map(readEntry)
        .filter((entry) => entry !== undefined);
    } finally {
      closeSync(descriptor);
    }
  };
}

export type Recorder = (entry: Entry) => void;

/** Warns once if the ledger cannot be written, and goes on: nobody gives up a lock they need for that. */
export function createRecorder(ledger: Ledger, log: Pick<Log, 'warn'>): Recorder {
  let failed = false;
  return (entry) => {
    try {
      ledger.append(entry);
    } catch (error) {
      if (failed) return;
      failed = true;
      const why = error instanceof Error ? error.message : String(error);
      log.warn(
        `The ledger of this job's locks cannot be written (${why}). If a step is killed before it is done, the locks it was about to take or release can stay until their ttl ends. Make sure that the runner has room, and may write, in its temporary folder.`,
      );
    }
  };
}
