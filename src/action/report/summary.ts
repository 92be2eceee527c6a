import type { Table } from '../outcome.ts';
import { inHtml } from './safe-text.ts';

/** GitHub takes 1 MiB of summary from a step and drops all of it when there is more. */
const mostBytes = 900 * 1_024;

const bytes = (text: string): number => Buffer.byteLength(text);

const cells = (tag: 'th' | 'td', row: readonly string[]): string =>
  `<tr>${row.map((cell) => `<${tag}>${inHtml(cell)}</${tag}>`).join('')}</tr>\n`;

/** As many rows as there is room for; what is left out is counted. */
function tableHtml({ head, rows }: Table, room: number): string {
  const begin = `<table>\n${cells('th', head)}`;
  const end = '</table>\n';
  let left = room - bytes(begin) - bytes(end) - 100;
  const shown: string[] = [];
  for (const row of rows) {
    const html = cells('td', row);
    left -= bytes(html);
    if (left < 0) break;
    shown.push(html);
  }
  const more = rows.length - shown.length;
  const rest = more === 0 ? '' : `<p>And ${more.toLocaleString('en-US')} more.</p>\n`;
  return `${begin}${shown.join('')}${end}${rest}`;
}

/** One sentence, then the tables. All of it is HTML, in which text from outside cannot be anything but text. */
export function summaryHtml(title: string, sentence: string, tables: readonly Table[]): string {
  let html = `<h3>${inHtml(title)}</h3>\n<p>${inHtml(sentence)}</p>\n`;
  for (const table of tables) {
    if (table.rows.length > 0) html += tableHtml(table, mostBytes - bytes(html));
  }
  return `${html}\n`;
}
