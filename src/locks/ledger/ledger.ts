import { appendFileSync, closeSync, fstatSync, mkdirSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { MarksStore } from '../../client/marks.ts';
import { errorMessage } from '../../interface/format.ts';
import { type Entry, readEntry } from './entry.ts';

export const ledgerFile = (temporaryFolder: string): string => fileIn(temporaryFolder, 'ledger.jsonl');

/** The file with the `locks` output of a step, which may be too long for an output. */
export const locksFile = (temporaryFolder: string, step: string): string =>
  fileIn(temporaryFolder, `locks-${step}.json`);

export type Ledger = ReturnType<typeof openLedger>;

/** Requests of a job's steps, and their results: an append-only file of lines. */
export function openLedger(file: string) {
  return {
    file,
    /** When it returns, the lines are in the file. Throws if they cannot be written. */
    append(...entries: readonly Entry[]): void {
      // Starts with a line break, too, because a killed step may have left a truncated line.
      const text = entries.map((entry) => `\n${JSON.stringify(entry)}\n`).join('');
      try {
        appendFileSync(file, text, { mode: 0o600 });
      } catch (error) {
        if (!isMissing(error)) throw error;
        // Created only if missing, because steps append thousands of lines. The folder may be deleted in between.
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
        appendFileSync(file, text, { mode: 0o600 });
      }
    },
    /**
     * The entries, and why there may be more. A line is unreadable if its step was killed while writing, or if
     * something else wrote it. A job that locked nothing has no file.
     */
    read(): { readonly entries: readonly Entry[]; readonly problem: string | undefined } {
      try {
        const lines = linesIn(readFileSync(file, 'utf8'));
        const entries = entriesIn(lines);
        const isDamaged = entries.length < lines.length;
        return { entries, problem: isDamaged ? `Part of the ledger in ${file} cannot be read.` : undefined };
      } catch (error) {
        if (isMissing(error)) return { entries: [], problem: undefined };
        const reason = errorMessage(error);
        return { entries: [], problem: `The ledger of this job's locks cannot be read (${reason}).` };
      }
    },
  };
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** Limit per read, and a text that only grants have (JSON escapes quotes): parsing thousands takes memory. */
const maxReadBytes = 64 * 1_024;
const grantMark = '"kind":"granted"';

/**
 * Returns a function that reads entries added since its last call, except grants, in parts. An empty result means that
 * there are no more. A step may remove or empty the temporary folder: a new file is then read from the start.
 */
export function followLedger(file: string): () => readonly Entry[] {
  let position = 0;
  let inode = 0;
  return () => {
    const descriptor = openIfPresent(file);
    if (descriptor === undefined) return [];
    try {
      const { size, ino } = fstatSync(descriptor);
      if (ino !== inode || size < position) position = 0;
      inode = ino;
      for (let room = maxReadBytes; ; ) {
        const bytes = Buffer.alloc(Math.min(size - position, room));
        const read = bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, position));
        const whole = read.subarray(0, read.lastIndexOf('\n') + 1);
        position += whole.length;
        const entries = entriesIn(linesIn(whole.toString()).filter((line) => !line.includes(grantMark)));
        // The text after the last line break may be incomplete.
        if (entries.length > 0 || read.length < room) return entries;
        // With no complete line, reads a larger part next. Otherwise, all complete lines were unreadable.
        if (whole.length === 0) room *= 2;
      }
    } finally {
      closeSync(descriptor);
    }
  };
}

/**
 * Returns a function that checks whether the ledger was removed, as at the end of the job, even if the next job has
 * created a new one: the inode of an open file is not reused. Not for Windows, where open files cannot be removed.
 */
export function createRemovalCheck(file: string): () => boolean {
  const descriptor = openIfPresent(file);
  const inode = descriptor && fstatSync(descriptor).ino;
  return () => {
    try {
      return inode === undefined || statSync(file, { throwIfNoEntry: false })?.ino !== inode;
    } catch {
      // Unknown for now, for example on a network drive that does not answer.
      return false;
    }
  };
}

function openIfPresent(file: string): number | undefined {
  try {
    return openSync(file, 'r');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

export type Recorder = (...entries: readonly Entry[]) => void;

/** Facts about a service, for all steps and processes of a job. Reads each entry once: many responses need them. */
export function marksIn({ file }: Pick<Ledger, 'file'>, record: Recorder, service: string): MarksStore {
  const follow = followLedger(file);
  let found = false;
  return {
    read() {
      try {
        for (let entries = follow(); entries.length > 0; entries = follow())
          found ||= entries.some((entry) => entry.kind === 'marks' && entry.service === service);
      } catch {
        // A ledger that cannot be read now may be readable for the next response.
      }
      return found;
    },
    write: () => record({ kind: 'marks', service, at: new Date().toISOString() }),
  };
}

/** Warns once if the ledger cannot be written. The step continues, because it still needs its lock. */
export function createRecorder(ledger: Ledger, log: { warn(text: string): void }): Recorder {
  let failed = false;
  return (...entries) => {
    try {
      ledger.append(...entries);
    } catch (error) {
      if (failed) return;
      failed = true;
      const reason = errorMessage(error);
      log.warn(
        `Could not write the ledger of this job's locks (${reason}). If a step is killed now, locks that it is acquiring or releasing may stay until their \`ttl\` expires. Make sure that the runner's temporary folder is writable and has free space.`,
      );
    }
  };
}

/** All steps of a job share the runner's temporary folder, which is emptied after the job. */
const fileIn = (temporaryFolder: string, name: string): string => join(temporaryFolder, 'workspace-automation', name);

export const parseLines = (text: string): readonly Entry[] => entriesIn(linesIn(text));

const entriesIn = (lines: readonly string[]): readonly Entry[] => lines.flatMap((line) => readEntry(line) ?? []);

const linesIn = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');
