import { z } from '@hono/zod-openapi';
import { html } from 'hono/html';
import { accepted, type Parsed, refused } from '../../../interface/parsed.ts';
import { parsedBy, plainText } from '../../contract/request-fields.ts';
import { parseRequestPart } from '../../contract/response.ts';
import { send } from '../../http/context.ts';
import { type HistoryPosition, type HistoryQuery, readLockHistory } from '../../locks/history.ts';
import { buttonLink, filterForm, textInput } from '../elements/fields.ts';
import { periodRow, urls } from '../elements/lock.ts';
import { empty, htmlTable, type Markup, pageLinks, urlWith } from '../elements/markup.ts';
import { addWorkspacePage, queryOf, type Site } from '../frame/page.ts';

const pageSize = 50;

const filterSchema = z.object({
  path: plainText.optional(),
  before: z.string().transform(parsedBy(parsePosition)).optional(),
  after: z.string().transform(parsedBy(parsePosition)).optional(),
});

const filterNames = ['path', 'before'] as const;

/** As entered in the form; empty if missing. */
type Filter = Readonly<Record<(typeof filterNames)[number], string>>;

const rowsPerRead = 1_000;

export function addLockHistoryPages(site: Site): void {
  const { storage } = site;

  addWorkspacePage(site, '/locks/history', 'locks:read', async (call) => {
    const { id } = call.workspace;
    const filter = queryOf(call, ...filterNames);
    const { after } = queryOf(call, 'after');
    const query = { ...queryFor(id, { ...filter, after }), limit: pageSize };
    const { periods, next } = await readLockHistory(storage.read, query);
    const rows = periods.map((period) => periodRow(period, call.now, id));
    const main = html`${historyFilter(id, filter)}
      ${rows.length === 0 ? empty('No entries found.', 'Locks that were released or have expired appear here.') : htmlTable(rows)}
      ${pageLinks(
        after === '' ? undefined : urls.history(id, filter),
        next && urls.history(id, { ...filter, after: cursorOf(next) }),
      )}`;
    const actions = html`
      ${buttonLink(urls.locks(id), 'Locks held now')}
      <a class="button" href="${urlWith(`${urls.history(id)}.csv`, filter)}" download>Download as CSV</a>`;
    return { title: 'History of locks', actions, main };
  });

  addWorkspacePage(site, '/locks/history.csv', 'locks:read', async (call) => {
    const { id } = call.workspace;
    const query = queryFor(id, queryOf(call, ...filterNames));
    const body = await historyFile(storage, query);
    const headers = {
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': `attachment; filename="locks-of-${id}.csv"`,
    };
    return send(call.c, { status: 200, headers, body });
  });
}

const cursorOf = ({ endedAt, fence }: HistoryPosition): string => `${endedAt}.${fence}`;

/** The cursor of the previous page, or a day: the page then starts with locks that ended before that UTC day. */
function parsePosition(text: string): Parsed<HistoryPosition> {
  const [, endedAt, fence] = /^(\d{1,15})\.(\d{1,15})$/.exec(text) ?? [];
  if (fence !== undefined) return accepted({ endedAt: Number(endedAt), fence: Number(fence) });
  const day = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  const exists = !Number.isNaN(day) && new Date(day).toISOString().startsWith(text);
  return exists ? accepted({ endedAt: day, fence: 0 }) : refused('It must be a date such as 2026-03-01.');
}

const csvColumns = [
  ...(['path', 'owner', 'acquired_at', 'ended_at', 'kind', 'ended_by', 'origin', 'note', 'lock_id'] as const),
];

/** Limits the size of a file, which is built in memory. */
const maxRows = 10_000;

/** Starts with a byte order mark, so that Excel recognizes UTF-8. */
async function historyFile(storage: Site['storage'], query: Omit<HistoryQuery, 'limit'>): Promise<string> {
  const lines = [`\uFEFF${csvLine(csvColumns)}`];
  for (let { before } = query; ; ) {
    const { periods, next } = await readLockHistory(storage.read, { ...query, before, limit: rowsPerRead });
    for (const period of periods) lines.push(csvLine(csvColumns.map((name) => period[name] ?? '')));
    if (next === undefined) return lines.join('');
    if (lines.length > maxRows) {
      const rest = `This file has reached its maximum length. For the rest, set before=${cursorOf(next)} in its URL.`;
      return [...lines, csvLine([rest])].join('');
    }
    before = next;
  }
}

/** `after` is the cursor of the previous page. */
function queryFor(workspace: string, filter: Filter & { readonly after?: string }): Omit<HistoryQuery, 'limit'> {
  // Forms also submit empty fields.
  const given = Object.fromEntries(Object.entries(filter).filter(([, text]) => text !== ''));
  const { path, before, after = before } = parseRequestPart(filterSchema, given);
  return { workspace, path, before: after };
}

const historyFilter = (workspace: string, filter: Filter): Markup =>
  filterForm({
    action: urls.history(workspace),
    values: filter,
    fields: [
      textInput('path', 'Path', { type: 'search' }),
      textInput('before', 'Ended before (UTC)', { type: 'date' }),
    ],
    isFiltered: Object.values(filter).some((text) => text !== ''),
  });

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
