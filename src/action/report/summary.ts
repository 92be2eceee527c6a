import type { Table } from '../outcome.ts';
import { inHtml } from './safe-text.ts';
import { grouped } from './words.ts';

/** GitHub takes 1 MiB of summary from a step and drops all of it when there is more. */
const mostBytes = 900 * 1_024;

const longestSentence = 4_000;

const cut = (text: string): string => (text.length > longestSentence ? `${text.slice(0, longestSentence)}…` : text);

const bytes = (text: string): number => Buffer.byteLength(text);

type Conceal = (text: string) => string;

const cells = (tag: 'th' | 'td', row: readonly string[], conceal: Conceal): string =>
  `<tr>${row.map((cell) => `<${tag}>${inHtml(conceal(cell))}</${tag}>`).join('')}</tr>\n`;

/** As many rows as there is room for; what is left out is counted. */
function tableHtml({ head, rows }: Table, room: number, conceal: Conceal): string {
  const begin = `<table>\n${cells('th', head, conceal)}`;
  const end = '</table>\n';
  let left = room - bytes(begin) - bytes(end) - 100;
  const shown: string[] = [];
  for (const row of rows) {
    const html = cells('td', row, conceal);
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
export function summaryHtml(title: string, sentence: string, tables: readonly Table[], conceal: Conceal): string {
  let html = `<h3>${inHtml(title)}</h3>\n<p>${inHtml(cut(conceal(sentence)))}</p>\n`;
  for (const table of tables) {
    if (table.rows.length > 0) html += tableHtml(table, mostBytes - bytes(html), conceal);
  }
  return `${html}\n`;
}
