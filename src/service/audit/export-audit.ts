import { csvLine } from '../contract/csv.ts';
import type { RecordedEntry } from '../outbox/event.ts';
import { type AuditPage, auditColumns } from './read-audit.ts';

const auditFormats = {
  csv: 'text/csv; charset=utf-8; header=present',
  jsonl: 'application/jsonl; charset=utf-8',
} as const;

/** Exports the entries of all pages, newest first. Reads a page only when the consumer needs it. */
export async function* exportAudit(
  format: keyof typeof auditFormats,
  readPage: (before: number | undefined) => Promise<AuditPage>,
): AsyncGenerator<string, void, undefined> {
  const line = format === 'csv' ? csvEntry : (entry: RecordedEntry) => `${JSON.stringify(entry)}\n`;
  // Excel needs the byte order mark to detect UTF-8.
  if (format === 'csv') yield `\uFEFF${csvLine(auditColumns)}`;
  let before: number | undefined;
  do {
    const { entries, next } = await readPage(before);
    if (entries.length > 0) yield entries.map(line).join('');
    before = next;
  } while (before !== undefined);
}

const csvEntry = ({ sequence, at, actor, token_id, address, action, detail }: RecordedEntry): string =>
  csvLine([`${sequence}`, at, actor, token_id ?? '', address ?? '', action, JSON.stringify(detail)]);
