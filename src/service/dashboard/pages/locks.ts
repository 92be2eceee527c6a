import { html } from 'hono/html';
import { safeText } from '../../../interface/safe-text.ts';
import { isOwnLock } from '../../locks/change-lock.ts';
import { type LockRow, listLocks, maxSearched, toLock } from '../../locks/find.ts';
import { countWaiting } from '../../locks/queue.ts';
import { filterForm, textInput } from '../elements/fields.ts';
import {
  holderCell,
  lockCells,
  lockLinks,
  mayLock,
  pathLink,
  releaseWay,
  urls,
  waitingLink,
} from '../elements/lock.ts';
import {
  empty,
  htmlTable,
  link,
  liveState,
  type Markup,
  notifyButton,
  pageLinks,
  type Row,
} from '../elements/markup.ts';
import { addWorkspacePage, queryOf, type Site, type WorkspaceCall } from '../frame/page.ts';

const pageSize = 100;
const maxSearchLength = 256;
const maxWords = 8;

export function addLockListPage(site: Site): void {
  addWorkspacePage(site, '/locks', 'locks:read', async (call) => {
    const workspace = call.workspace.id;
    const query = queryOf(call, 'search', 'after');
    const list = await readList(site, workspace, query);
    const main = html`${filters(workspace, query)}
      <div class="row">
        <div data-part="selection">${list.locks.some((lock) => releaseWay(call.bearer, lock) !== 'none') ? selectionButton(workspace) : ''}</div>
        ${liveState(call.now, notifyButton)}
      </div>
      <div data-part="locks">${list.locks.length === 0 ? emptyState(call, query, list) : htmlTable(list.locks.map((lock) => lockRow(call, lock, list.waiting.get(lock.id))))}
        ${pages(workspace, query, list)}</div>`;
    return { title: 'Locks', actions: actions(call), main };
  });
}

type Query = Readonly<Record<'search' | 'after', string>>;

type List = Awaited<ReturnType<typeof readList>>;

async function readList({ storage }: Site, workspace: string, { search, after }: Query) {
  // PostgreSQL rejects texts that contain U+0000.
  const words = search.slice(0, maxSearchLength).replaceAll('\0', '').normalize('NFC').split(/\s+/).filter(Boolean);
  const { locks, next } = await listLocks(storage.read, {
    workspace,
    words: words.slice(0, maxWords),
    after: after === '' || after.includes('\0') ? undefined : after,
    limit: pageSize,
  });
  return { locks, next, waiting: await countWaiting(storage.read, locks) };
}

const pages = (workspace: string, { after, ...query }: Query, { next }: List): Markup | string =>
  pageLinks(
    after === '' ? undefined : urls.locks(workspace, query),
    next && urls.locks(workspace, { ...query, after: next }),
  );

function lockRow({ bearer, now }: WorkspaceCall, row: LockRow, waiting = 0): Row {
  const { workspace_id: workspace, id, path } = row;
  const box =
    releaseWay(bearer, row) === 'none'
      ? ''
      : html`<input type="checkbox" name="lock" value="${id}" form="release-selected" aria-label="Select ${safeText(path)}"> `;
  return [
    [
      'Path',
      html`${box}${pathLink(workspace, path)}${waitingLink(workspace, path, waiting, isOwnLock(row, bearer))}`,
      'head',
    ],
    ['Holder', holderCell(toLock(row))],
    ...lockCells(toLock(row), now),
    mayLock(bearer) ? ['Actions', lockLinks(bearer, row), 'nowrap'] : '',
  ];
}

const filters = (workspace: string, { search }: Query): Markup =>
  filterForm({
    action: urls.locks(workspace),
    values: { search },
    fields: [textInput('search', 'Path, holder, note or run', { type: 'search' })],
    isFiltered: search !== '',
  });

function emptyState(call: WorkspaceCall, { search, after }: Query, { next }: List): Markup {
  const workspace = call.workspace.id;
  if (next !== undefined) {
    return empty(
      'No lock matches the search yet.',
      `Each page searches ${maxSearched} locks: continue on the next page.`,
    );
  }
  if (search !== '') return empty('No lock matches the search.', link(urls.locks(workspace), 'Show all locks'));
  if (after !== '') return empty('There are no more locks.', '');
  return empty(
    'Nothing is locked.',
    html`${mayLock(call.bearer) ? html`<a href="${urls.newLock(workspace)}">Enter the path of a file</a> to lock it, or lock it` : 'A file appears here once someone locks it'} with <code>git lfs lock</code> or in a workflow with <code>operation: lock</code>.`,
  );
}

/** The checkboxes of this form are in the table rows. */
const selectionButton = (workspace: string): Markup =>
  html`<form id="release-selected" action="/workspaces/${workspace}/locks/release"><button>Release selected</button></form>`;

const actions = (call: WorkspaceCall): Markup => {
  const { id } = call.workspace;
  return html`${mayLock(call.bearer) ? html`<a class="button primary" href="${urls.newLock(id)}">Lock a file</a>` : ''}
    <a class="button" href="${urls.history(id)}">History</a>
    <a class="button" href="${urls.pools(id)}">Pools</a>`;
};
