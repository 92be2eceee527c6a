import { formatNumber, runName } from '../../interface/format.ts';
import type { Redact } from '../../interface/redact.ts';
import { inHtml } from './escape.ts';
import type { Cell, Table } from './outcome.ts';

/** The report of a step in the job summary. */
export const summaryHtml = (title: string, sentence: string, table: Table | undefined, redact: Redact): string =>
  `<h3>${inHtml(title)}</h3>\n<p>${withCode(inHtml(truncate(redact(sentence), maxSentenceLength)))}</p>\n${tableHtml(table, redact)}\n`;

/** The first rows matter most. GitHub drops the complete summary of a step if it is larger than 1 MiB. */
const maxRows = 50;
const maxCellLength = 300;
const maxSentenceLength = 4_000;

const truncate = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max)}…` : text);

function tableHtml({ head, rows }: Table = { head: [], rows: [] }, redact: Redact): string {
  if (rows.length === 0) return '';
  const visible = rows.slice(0, maxRows).map((row) => rowHtml('td', row, redact));
  const table = `<table>\n${rowHtml('th', head, redact)}${visible.join('')}</table>\n`;
  const omitted = rows.length - visible.length;
  return omitted === 0 ? table : `${table}<p>And ${formatNumber(omitted)} more.</p>\n`;
}

const rowHtml = (tag: 'th' | 'td', row: readonly Cell[], redact: Redact): string =>
  `<tr>${row.map((cell) => `<${tag}>${cellHtml(cell, redact)}</${tag}>`).join('')}</tr>\n`;

function cellHtml(cell: Cell, redact: Redact): string {
  if (typeof cell === 'string') return inHtml(truncate(redact(cell), maxCellLength));
  const url = truncate(redact(cell.run), maxCellLength);
  const name = runName(url);
  // Only a plain run URL has a name, so it contains nothing to escape.
  return name === undefined ? inHtml(url) : `<a href="${url}">${inHtml(name)}</a>`;
}

/** Shows texts in backticks as code, because Markdown is not interpreted here. Backticks inside a path mean nothing. */
const withCode = (html: string): string => html.replace(/(?<![^\s(])`([^`]+)`(?!\w)/g, '<code>$1</code>');
