import { z } from '@hono/zod-openapi';
import { html } from 'hono/html';
import { parseDay, parseEndOfDay } from '../../audit/read-audit.ts';
import { csvLine } from '../../contract/csv.ts';
import { invalid, parseRequestPart } from '../../contract/problem.ts';
import { parsedBy, plainText } from '../../contract/request-fields.ts';
import { lockChangeKinds } from '../../locks/history.ts';
import { type HistoryPosition, type HistoryQuery, readLockHistory } from '../../locks/read-history.ts';
import { authenticateSession } from '../../sessions/sessions.ts';
import { buttonLink, filterForm, selection, textInput } from '../elements/fields.ts';
import { htmlTable, pageLinks, urlWith } from '../elements/list.ts';
import { changeNames, changeRow, listUrl } from '../elements/lock.ts';
import { empty, type Markup } from '../elements/text.ts';
import type { PageCall } from '../frame/layout.ts';
import { addWorkspacePage, queryOf, type Site } from '../frame/page.ts';

const pageSize = 50;

const filterSchema = z.object({
  prefix: plainText.optional(),
  owner: plainText.optional(),
  kind: z.enum(lockChangeKinds, 'There are no such entries.').optional(),
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
    const { changes, next } = await readLockHistory(storage, query);
    const rows = changes.map((change) => changeRow(change, call.now, id));
    const main = html`${historyFilter(id, filter)}
      ${rows.length === 0 ? empty('There are no such entries.', 'Locks that are taken, released or expire appear here.') : htmlTable(rows)}
      ${pageLinks(
        before === '' ? undefined : historyUrl(id, filter),
        next && historyUrl(id, { ...filter, before: `${next.at}.${next.fence}.${next.kind}` }),
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
  const [, at, fence, kind] = /^(\d{1,15})\.(\d{1,15})\.([a-z-]{1,32})$/.exec(text) ?? [];
  if (kind !== undefined) return { at: Number(at), fence: Number(fence), kind };
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

const csvColumns = ['at', 'kind', 'path', 'owner', 'ended_by', 'origin', 'note', 'lock_id'] as const;

/** Limits the rows of a file and the rows scanned for it, such as for a rare owner among millions of rows. */
const maxReads = 100;

/** Starts with a byte order mark, so that Excel recognizes UTF-8. Reads no pages ahead of a slow client. */
export async function* historyFile(
  readPage: (before: HistoryPosition | undefined) => ReturnType<typeof readLockHistory>,
): AsyncGenerator<string, void, undefined> {
  yield `\uFEFF${csvLine(csvColumns)}`;
  let before: HistoryPosition | undefined;
  for (let reads = 0; reads < maxReads; reads += 1) {
    const { changes, next } = await readPage(before);
    if (changes.length > 0) {
      yield changes.map((change) => csvLine(csvColumns.map((name) => change[name] ?? ''))).join('');
    }
    if (next === undefined) return;
    before = next;
  }
  yield csvLine(['This file has reached its maximum length. Narrow the dates to export the rest.']);
}

function queryFor(workspace: string, filter: Filter): Omit<HistoryQuery, 'limit'> {
  // Forms also send empty fields.
  const given = Object.fromEntries(Object.entries(filter).filter(([, text]) => text !== ''));
  const { to, ...query } = parseRequestPart(filterSchema, () => given);
  return { workspace, ...query, until: to };
}

const historyFilter = (workspace: string, filter: Filter): Markup =>
  filterForm({
    action: historyUrl(workspace),
    values: filter,
    fields: [
      textInput('prefix', 'Path begins with', { type: 'search' }),
      textInput('owner', 'Holder', { type: 'search' }),
      selection('kind', 'What', [
        ['', 'everything'],
        ...lockChangeKinds.map((kind) => [kind, changeNames[kind]] as const),
      ]),
      textInput('from', 'From (UTC)', { type: 'date' }),
      textInput('to', 'To (UTC)', { type: 'date' }),
    ],
    isFiltered: Object.values(filter).some((text) => text !== ''),
  });

export const historyUrl = (workspace: string, query: Readonly<Record<string, string>> = {}): string =>
  urlWith(`/workspaces/${workspace}/locks/history`, query);
