import type { Table } from '../outcome.ts';
import { inHtml, type Redact } from './redact.ts';
import { grouped } from './words.ts';

/** GitHub drops the whole summary of a step that is larger than 1 MiB. */
const maxBytes = 900 * 1_024;

const maxSentenceLength = 4_000;

const cut = (text: string): string => (text.length > maxSentenceLength ? `${text.slice(0, maxSentenceLength)}…` : text);

const bytes = (text: string): number => Buffer.byteLength(text);

const cells = (tag: 'th' | 'td', row: readonly string[], redact: Redact): string =>
  `<tr>${row.map((cell) => `<${tag}>${inHtml(redact(cell))}</${tag}>`).join('')}</tr>\n`;

/** As many rows as fit, and how many are left out. */
function tableHtml({ head, rows }: Table, room: number, redact: Redact): string {
  const begin = `<table>\n${cells('th', head, redact)}`;
  const end = '</table>\n';
  let left = room - bytes(begin) - bytes(end) - 100;
  const shown: string[] = [];
  for (const row of rows) {
    const html = cells('td', row, redact);
    left -= bytes(html);
    if (left < 0) break;
    shown.push(html);
  }
  const more = rows.length - shown.length;
  const rest = more === 0 ? '' : `<p>And ${grouped(more)} more.</p>\n`;
  return `${begin}${shown.join('')}${end}${rest}`;
}

/**
 * One sentence, then the tables, all in HTML, where untrusted text stays text. Secrets are redacted first: escaped, they
 * might not be recognized.
 */
export function summaryHtml(title: string, sentence: string, tables: readonly Table[], redact: Redact): string {
  let html = `<h3>${inHtml(title)}</h3>\n<p>${inHtml(cut(redact(sentence)))}</p>\n`;
  for (const table of tables) {
    if (table.rows.length > 0) html += tableHtml(table, maxBytes - bytes(html), redact);
  }
  return `${html}\n`;
}
