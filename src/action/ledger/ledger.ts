import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Entry, readEntry } from './entry.ts';

/** In the runner's temporary folder, which all steps of a job share and which is emptied with the job. */
export const ledgerFile = (temporaryFolder: string): string =>
  join(temporaryFolder, 'workspace-automation', 'ledger.jsonl');

export interface LedgerContent {
  readonly entries: readonly Entry[];
  /** Lines that could not be read: cut off when a step was killed, or not ours. */
  readonly damaged: number;
}

/** What a job has asked for and been given, in lines that are only ever added. */
export interface Ledger {
  readonly file: string;
  /** Done when the line is in the file. A failure is the caller's to tell: the step can go on without a ledger. */
  append(...entries: readonly Entry[]): void;
  read(): LedgerContent;
}

/** What the service says of a lock. Everything else in an entry is what was asked for, and has to stay as it is. */
const fromService: ReadonlySet<string> = new Set(['id', 'etag', 'type', 'owner', 'acquired_at', 'expires_at']);

/** As JSON, without the secrets that the service may have sent back in what it says of a lock. */
export const concealedJson = (value: unknown, conceal: (text: string) => string): string =>
  JSON.stringify(value, (name, member: unknown) =>
    fromService.has(name) && typeof member === 'string' ? conceal(member) : member,
  );

export function openLedger(file: string, conceal: (text: string) => string): Ledger {
  return {
    file,
    append(...entries) {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      // A line break before as well as behind: the line of a step that was killed may have been cut off.
      const text = entries.map((entry) => `\n${concealedJson(entry, conceal)}\n`).join('');
      appendFileSync(file, text, { mode: 0o600 });
    },
    read() {
      const lines = readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '');
      const entries = lines.map(readEntry);
      const readable = entries.filter((entry) => entry !== undefined);
      return { entries: readable, damaged: entries.length - readable.length };
    },
  };
}
