import { z } from '@hono/zod-openapi';
import { html } from 'hono/html';
import { accepted, type Parsed, refused } from '../../../interface/parsed.ts';
import { parsedBy, plainText } from '../../contract/request-fields.ts';
import { invalid, parseRequestPart } from '../../contract/response.ts';
import { type HistoryPosition, type HistoryQuery, lockEnds, readLockHistory } from '../../locks/history.ts';
import { authenticateSession } from '../../sessions/sessions.ts';
import { buttonLink, filterForm, selection, textInput } from '../elements/fields.ts';
import { htmlTable, pageLinks, urlWith } from '../elements/list.ts';
import { endNames, listUrl, periodRow } from '../elements/lock.ts';
import { empty, type Markup } from '../elements/text.ts';
import type { PageCall } from '../frame/layout.ts';
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
        before === '' ? undefined : historyUrl(id, filter),
        next && historyUrl(id, { ...filter, before: `${next.endedAt}.${next.fence}` }),
      )}`;
    const actions = html`
      ${buttonLink(listUrl(id), 'Locks held now')}
      <a class="button" href="${urlWith(`${historyUrl(id)}.csv`, filter)}" download>Download as CSV</a>`;
    return { title: 'History of locks', actions, main };
  });

  addWorkspacePage(site, '/locks/history.csv', 'locks:read', async (call) => {
    const { id } = call.workspace;
    const query = queryFor(id, queryOf(call, ...filterNames));
    const lines = historyFile((before) => readLockHistory(storage, { ...query, before, limit: rowsPerRead }));
    return download(site, call, `locks-of-${id}.csv`, lines);
  });
}

function parsePosition(text: string): HistoryPosition | undefined {
  if (text === '') return undefined;
  const [, endedAt, fence] = /^(\d{1,15})\.(\d{1,15})$/.exec(text) ?? [];
  if (fence !== undefined) return { endedAt: Number(endedAt), fence: Number(fence) };
  throw invalid({ pointer: '#/before', detail: 'Unknown page. Remove `before` from the URL.' });
}

/** The session is checked before each part, because a long file may outlive it. */
function download({ storage, log }: Site, { c }: PageCall, filename: string, lines: AsyncIterable<string>): Response {
  const { secret } = c.get('session');
  async function* encoded(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for await (const text of lines) {
        if ((await authenticateSession(storage, secret)).kind === 'refused') throw new Error('The session has ended.');
        yield Buffer.from(text);
      }
    } catch (error) {
      log.warn({ err: error, filename }, 'download interrupted');
      // Close the connection, so that the browser reports an incomplete file.
      c.env.outgoing.destroy();
    }
  }
  return new Response(ReadableStream.from(encoded()), {
    headers: {
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': `attachment; filename="${filename}"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': c.get('requestId'),
    },
  });
}

const csvColumns = [
  ...(['path', 'owner', 'acquired_at', 'ended_at', 'kind', 'ended_by', 'origin', 'note', 'lock_id'] as const),
];

/** Limits the rows of a file and the rows scanned for it, such as for a rare owner among millions of rows. */
const maxReads = 100;

/** Starts with a byte order mark, so that Excel recognizes UTF-8. Reads no pages ahead of a slow client. */
export async function* historyFile(
  readPage: (before: HistoryPosition | undefined) => ReturnType<typeof readLockHistory>,
): AsyncGenerator<string, void, undefined> {
  yield `\uFEFF${csvLine(csvColumns)}`;
  let before: HistoryPosition | undefined;
  for (let reads = 0; reads < maxReads; reads += 1) {
    const { periods, next } = await readPage(before);
    if (periods.length > 0) {
      yield periods.map((period) => csvLine(csvColumns.map((name) => period[name] ?? ''))).join('');
    }
    if (next === undefined) return;
    before = next;
  }
  yield csvLine(['This file has reached its maximum length. Narrow the dates to export the rest.']);
}

function queryFor(workspace: string, filter: Filter): Omit<HistoryQuery, 'limit'> {
  // Forms also send empty fields.
  const given = Object.fromEntries(Object.entries(filter).filter(([, text]) => text !== ''));
  const { to, ...query } = parseRequestPart(filterSchema, given);
  return { workspace, ...query, until: to };
}

const historyFilter = (workspace: string, filter: Filter): Markup =>
  filterForm({
    action: historyUrl(workspace),
    values: filter,
    fields: [
      textInput('prefix', 'Path begins with', { type: 'search' }),
      textInput('owner', 'Holder', { type: 'search' }),
      selection('kind', 'How', [['', 'everything'], ...kinds.map((kind) => [kind, endNames[kind]] as const)]),
      textInput('from', 'Ended from (UTC)', { type: 'date' }),
      textInput('to', 'Ended to (UTC)', { type: 'date' }),
    ],
    isFiltered: Object.values(filter).some((text) => text !== ''),
  });

export const historyUrl = (workspace: string, query: Readonly<Record<string, string>> = {}): string =>
  urlWith(`/workspaces/${workspace}/locks/history`, query);

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
