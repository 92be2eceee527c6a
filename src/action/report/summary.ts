import type { Table } from '../outcome.ts';
import { inHtml, type Redact } from './redact.ts';
import { grouped } from './words.ts';

/** GitHub takes 1 MiB of summary from a step and drops all of it when there is more. */
const maxBytes = 900 * 1_024;

const maxSentenceLength = 4_000;

const cut = (text: string): string => (text.length > maxSentenceLength ? `${text.slice(0, maxSentenceLength)}…` : text);

const bytes = (text: string): number => Buffer.byteLength(text);

const cells = (tag: 'th' | 'td', row: readonly string[], redact: Redact): string =>
  `<tr>${row.map((cell) => `<${tag}>${inHtml(redact(cell))}</${tag}>`).join('')}</tr>\n`;

/** As many rows as there is room for; what is left out is counted. */
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
 * One sentence, then the tables. All of it is HTML, in which text from outside cannot be anything but text. Secrets are
 * taken out before: in HTML they might not be recognised any more.
 */
export function summaryHtml(title: string, sentence: string, tables: readonly Table[], redact: Redact): string {
  let html = `<h3>${inHtml(title)}</h3>\n<p>${inHtml(cut(redact(sentence)))}</p>\n`;
  for (const table of tables) {
    if (table.rows.length > 0) html += tableHtml(table, maxBytes - bytes(html), redact);
  }
  return `${html}\n`;
}
