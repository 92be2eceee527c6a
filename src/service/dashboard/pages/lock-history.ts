import { z } from '@hono/zod-openapi';
import { html } from 'hono/html';
import { accepted, type Parsed, refused } from '../../../interface/parsed.ts';
import { parsedBy, plainText } from '../../contract/request-fields.ts';
import { invalid, parseRequestPart } from '../../contract/response.ts';
import { send } from '../../http/context.ts';
import { type HistoryPosition, type HistoryQuery, lockEnds, readLockHistory } from '../../locks/history.ts';
import { buttonLink, filterForm, selection, textInput } from '../elements/fields.ts';
import { periodRow, urls } from '../elements/lock.ts';
import { empty, htmlTable, type Markup, pageLinks, urlWith } from '../elements/markup.ts';
import { addWorkspacePage, queryOf, type Site } from '../frame/page.ts';

const pageSize = 50;

const kinds = ['held', ...lockEnds] as const;

const filterSchema = z.object({
  prefix: plainText.optional(),
  owner: plainText.optional(),
  kind: z.enum(kinds, 'There are no such entries.').optional(),
  from: z.string().transform(parsedBy(parseDay)).optional(),
  to: z.string().transform(parsedBy(parseEndOfDay)).optional(),
});

const filterNames = ['prefix', 'owner', 'kind', 'from', 'to'] as const;

/** As entered in the form; empty if missing. */
type Filter = Readonly<Record<(typeof filterNames)[number], string>>;

const rowsPerRead = 1_000;

export function addLockHistoryPages(site: Site): void {
  const { storage } = site;

  addWorkspacePage(site, '/locks/history', 'locks:read', async (call) => {
    const { id } = call.workspace;
    const filter = queryOf(call, ...filterNames);
    const { before } = queryOf(call, 'before');
    const query = { ...queryFor(id, filter), before: parsePosition(before), limit: pageSize };
    const { periods, next } = await readLockHistory(storage, query);
    const rows = periods.map((period) => periodRow(period, call.now, id));
    const main = html`${historyFilter(id, filter)}
      ${rows.length === 0 ? empty('There are no such entries.', 'Locks that are taken, released or expire appear here.') : htmlTable(rows)}
      ${pageLinks(
        before === '' ? undefined : urls.history(id, filter),
        next && urls.history(id, { ...filter, before: `${next.endedAt}.${next.fence}` }),
      )}`;
    const actions = html`
      ${buttonLink(urls.locks(id), 'Locks held now')}
      <a class="button" href="${urlWith(`${urls.history(id)}.csv`, filter)}" download>Download as CSV</a>`;
    return { title: 'History of locks', actions, main };
  });

  addWorkspacePage(site, '/locks/history.csv', 'locks:read', async (call) => {
    const { id } = call.workspace;
    const query = queryFor(id, queryOf(call, ...filterNames));
    const body = await historyFile((before) => readLockHistory(storage, { ...query, before, limit: rowsPerRead }));
    const headers = {
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': `attachment; filename="locks-of-${id}.csv"`,
    };
    return send(call.c, { status: 200, headers, body });
  });
}

function parsePosition(text: string): HistoryPosition | undefined {
  if (text === '') return undefined;
  const [, endedAt, fence] = /^(\d{1,15})\.(\d{1,15})$/.exec(text) ?? [];
  if (fence !== undefined) return { endedAt: Number(endedAt), fence: Number(fence) };
  throw invalid({ pointer: '#/before', detail: 'Unknown page. Remove `before` from the URL.' });
}

const csvColumns = [
  ...(['path', 'owner', 'acquired_at', 'ended_at', 'kind', 'ended_by', 'origin', 'note', 'lock_id'] as const),
];

/** Limits the rows of a file, which is sent at once, and the rows scanned for it, such as for a rare owner. */
const maxRows = 10_000;
const maxReads = 100;

/** Starts with a byte order mark, so that Excel recognizes UTF-8. */
export async function historyFile(
  readPage: (before: HistoryPosition | undefined) => ReturnType<typeof readLockHistory>,
): Promise<string> {
  const lines = [`\uFEFF${csvLine(csvColumns)}`];
  let before: HistoryPosition | undefined;
  for (let reads = 0; reads < maxReads && lines.length <= maxRows; reads += 1) {
    const { periods, next } = await readPage(before);
    for (const period of periods) lines.push(csvLine(csvColumns.map((name) => period[name] ?? '')));
    if (next === undefined) return lines.join('');
    before = next;
  }
  return [...lines, csvLine(['This file has reached its maximum length. Narrow the dates to export the rest.'])].join(
    '',
  );
}

function queryFor(workspace: string, filter: Filter): Omit<HistoryQuery, 'limit'> {
  // Forms also send empty fields.
  const given = Object.fromEntries(Object.entries(filter).filter(([, text]) => text !== ''));
  const { to, ...query } = parseRequestPart(filterSchema, given);
  return { workspace, ...query, until: to };
}

const historyFilter = (workspace: string, filter: Filter): Markup =>
  filterForm({
    action: urls.history(workspace),
    values: filter,
    fields: [
      textInput('prefix', 'Path begins with', { type: 'search' }),
      textInput('owner', 'Holder', { type: 'search' }),
      selection('kind', 'How', [['', 'everything'], ...kinds.map((kind) => [kind, kind] as const)]),
      textInput('from', 'Ended from (UTC)', { type: 'date' }),
      textInput('to', 'Ended to (UTC)', { type: 'date' }),
    ],
    isFiltered: Object.values(filter).some((text) => text !== ''),
  });

const dayMs = 86_400_000;

/** First millisecond after the day, since 1970. */
function parseEndOfDay(text: string): Parsed<number> {
  const day = parseDay(text);
  return day.ok ? accepted(day.value + dayMs) : day;
}

/** First millisecond of the day in UTC, since 1970. */
function parseDay(text: string): Parsed<number> {
  const day = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  const exists = !Number.isNaN(day) && new Date(day).toISOString().startsWith(text);
  return exists ? accepted(day) : refused('It must be a date such as 2026-03-01.');
}

/** A line of RFC 4180. A cell that a spreadsheet would evaluate gets a leading apostrophe, which makes it text. */
export const csvLine = (cells: readonly string[]): string => `${cells.map(cellOf).join(',')}\r\n`;

/**
 * Spreadsheets evaluate a cell that starts with one of these characters, even in quotes: see OWASP, "CSV Injection".
 * The full-width forms, as typed on Japanese keyboards, count as well.
 */
const formula = /^[=+\-@\t\r\n\uff0b\uff0d\uff1d\uff20]/;

const cellOf = (text: string): string => {
  const plain = formula.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
};
