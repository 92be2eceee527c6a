import { z } from '@hono/zod-openapi';
import { html } from 'hono/html';
import { accepted, type Parsed, refused } from '../../../interface/parsed.ts';
import { csvLine } from '../../contract/csv.ts';
import { parseRequestPart } from '../../contract/problem.ts';
import { parsedBy, plainText } from '../../contract/request-fields.ts';
import { lockEnds } from '../../locks/history.ts';
import { type HistoryPosition, type HistoryQuery, readLockHistory } from '../../locks/read-history.ts';
import { authenticateSession } from '../../sessions/sessions.ts';
import { buttonLink, filterForm, selection, textInput } from '../elements/fields.ts';
import { link, listPage, positionIn, urlWith } from '../elements/list.ts';
import { endNames, listUrl, periodRow } from '../elements/lock.ts';
import { empty, type Markup } from '../elements/text.ts';
import { addWorkspacePage, type PageCall, queryOf, type Site } from '../frame/page.ts';

const pageSize = 50;
const route = { path: '/locks/history', access: 'locks:read' } as const;

const kinds = ['held', ...lockEnds] as const;

const filterSchema = z.object({
  prefix: plainText.optional(),
  owner: plainText.optional(),
  kind: z.enum(kinds, 'There are no such entries.').optional(),
  from: z.string().transform(parsedBy(parseDay)).optional(),
  to: z.string().transform(parsedBy(parseEndOfDay)).optional(),
});

const filterNames = ['prefix', 'owner', 'kind', 'from', 'to'] as const;

/** Filters as entered in the form. */
type Filter = Partial<Readonly<Record<(typeof filterNames)[number], string>>>;

/** Start position of a page of the history, from the query. */
export const historyPositionOf = (call: PageCall): HistoryPosition | undefined =>
  positionIn(queryOf(call, 'before').before, (text) => {
    const [, endedAt, fence] = /^(\d{1,15})\.(\d{1,15})$/.exec(text) ?? [];
    return fence === undefined ? undefined : { endedAt: Number(endedAt), fence: Number(fence) };
  });

const rowsPerRead = 1_000;

export function addLockHistoryPages(site: Site): void {
  const { storage } = site;

  const filterOf = (call: PageCall): Filter => given(queryOf(call, ...filterNames));

  addWorkspacePage(site, route, async (call) => {
    const { id } = call.workspace;
    const filter = filterOf(call);
    const query = queryFor(id, filter);
    const before = historyPositionOf(call);
    const { periods, next } = await readLockHistory(storage, { ...query, before, limit: pageSize });
    const page = listPage({
      rows: periods.map((period) => periodRow(period, call.now, id)),
      isLater: before !== undefined,
      next: next && positionText(next),
      urlOf: (before) => historyUrl(id, { ...filter, before }),
      none: nothingFound(id, filter),
    });
    const actions = html`
      ${buttonLink(listUrl(id), 'Locks held now')}
      <a class="button" href="${urlWith(`${historyUrl(id)}.csv`, filter)}" download>Download as CSV</a>`;
    return { title: 'History of locks', actions, main: html`${historyFilter(id, filter)}${page}` };
  });

  addWorkspacePage(site, { path: `${route.path}.csv`, access: route.access }, async (call) => {
    const { id } = call.workspace;
    const query = queryFor(id, filterOf(call));
    const lines = historyFile((before) => readLockHistory(storage, { ...query, before, limit: rowsPerRead }));
    return download(site, call, `locks-of-${id}.csv`, lines);
  });
}

export const positionText = ({ endedAt, fence }: HistoryPosition): string => `${endedAt}.${fence}`;

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

/** Removes empty texts, because forms also send empty fields. */
const given = (texts: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''));

function queryFor(workspace: string, filter: Filter): Omit<HistoryQuery, 'limit'> {
  const { to, ...query } = parseRequestPart(filterSchema, () => filter);
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
    showAll: Object.keys(filter).length === 0 ? undefined : 'Show all',
  });

const nothingFound = (workspace: string, filter: Filter): Markup =>
  Object.keys(filter).length > 0
    ? empty('No entry matches.', link(historyUrl(workspace), 'Show all'))
    : empty('No lock has been taken yet.', 'Locks that are taken, released or expire appear here.');

export const historyUrl = (
  workspace: string,
  query: Partial<Readonly<Record<(typeof filterNames)[number] | 'before', string | undefined>>> = {},
): string => urlWith(`/workspaces/${workspace}/locks/history`, query);

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
