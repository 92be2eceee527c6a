import { html } from 'hono/html';
import { countLocks, listLockPage, lockOrders, maxSearched } from '../../locks/list-page.ts';
import { countWaiting } from '../../locks/queue.ts';
import { filterForm, selection, textInput } from '../elements/fields.ts';
import { link, pageLinks } from '../elements/list.ts';
import { newLockUrl } from '../elements/lock.ts';
import {
  countText,
  type ListQuery,
  listEventsUrl,
  listUrl,
  pageQueryOf,
  parseListQuery,
  positionText,
  queryNames,
  sortText,
} from '../elements/lock-list.ts';
import { empty, literal, liveState, type Markup } from '../elements/text.ts';
import { livePage } from '../frame/live-page.ts';
import { addWorkspacePage, queryOf, type Site, type WorkspaceCall } from '../frame/page.ts';
import { historyUrl } from './lock-history.ts';
import { columnNames, lockPageSize, lockTableHtml, mayLock, releaseWay, selectionForm } from './lock-table.ts';
import { poolsUrl } from './pools.ts';

export function addLockListPage(site: Site): void {
  addWorkspacePage(site, { path: '/locks', access: 'locks:read' }, async (call) => {
    const query = requestedList(call);
    const list = await readList(site, call.workspace.id, query);
    return { title: 'Locks', script: 'locks.js', actions: actions(call), main: listView(call, query, list) };
  });

  const see = async (call: WorkspaceCall) => {
    const query = requestedList(call);
    const { id } = call.workspace;
    const read = async (): Promise<string> => {
      const { locks, waiting, next } = await readList(site, id, query);
      return JSON.stringify([locks.map((lock) => [lock.id, lock.expires_at, waiting.get(lock.id)]), next]);
    };
    return { key: listUrl(id, query), read };
  };
  addWorkspacePage(site, { path: '/locks/events', access: 'locks:read' }, livePage(site, see));
}

const requestedList = (call: WorkspaceCall): ListQuery =>
  parseListQuery(new URLSearchParams(queryOf(call, ...queryNames)));

type List = Awaited<ReturnType<typeof readList>>;

async function readList({ storage }: Site, workspace: string, query: ListQuery) {
  const [{ locks, next }, counts] = await Promise.all([
    listLockPage(storage, { ...pageQueryOf(workspace, query), limit: lockPageSize }),
    countLocks(storage, workspace),
  ]);
  return { locks, next, all: counts.get(workspace) ?? 0, waiting: await countWaiting(storage, locks) };
}

function listView(call: WorkspaceCall, query: ListQuery, list: List): Markup {
  const workspace = call.workspace.id;
  const { locks, next, all } = list;
  const { holder, path, after, by } = query;
  const only = path === '' ? holder : path;
  const pages = pageLinks(
    after === '' ? '' : link(listUrl(workspace, { ...query, after: '' }), 'First page'),
    next === undefined
      ? ''
      : link(listUrl(workspace, { ...query, after: positionText(next, by) }), 'Next page', 'next'),
  );
  return html`${filters(workspace, query)}
    ${only === '' ? '' : html`<p>Only ${holder === '' ? '' : 'locks of '}<strong>${literal(only)}</strong>. <a href="${listUrl(workspace)}">Show all locks</a></p>`}
    <div class="lock-state">
      <p id="lock-count" data-part="count">${countText(locks.length, all)}</p>
      <div data-part="selection">${locks.some((lock) => releaseWay(call.bearer, lock) !== 'none') ? selectionButton(workspace) : ''}</div>
      ${liveState(listEventsUrl(workspace, query), call.now)}
    </div>
    ${lockTableHtml(call, query, list)}
    <div data-part="empty">${locks.length > 0 ? '' : emptyState(call, query, list)}</div>
    <div data-part="pages">${pages}</div>`;
}

const orders = {
  path: ['A to Z', 'Z to A'],
  since: ['oldest first', 'newest first'],
  left: ['least first', 'most first'],
};

function filters(workspace: string, { search, by, descending }: ListQuery): Markup {
  const sorts = lockOrders.flatMap((key) =>
    orders[key].map((order, index) => {
      const value = sortText({ by: key, descending: index === 1 });
      return [value, `${columnNames[key]}, ${order}`] as const;
    }),
  );
  return filterForm({
    action: listUrl(workspace),
    values: { search, sort: sortText({ by, descending }) },
    fields: [
      textInput('search', 'Search', {
        type: 'search',
        attributes: html` placeholder="Path, holder, note or run" aria-keyshortcuts="/"`,
      }),
      selection('sort', 'Sort by', sorts),
    ],
  });
}

function emptyState(call: WorkspaceCall, { path, search, holder }: ListQuery, { all, next }: List): Markup {
  const workspace = call.workspace.id;
  if (path !== '') {
    return empty(
      'Nobody holds a lock on this path.',
      html`It was released, has expired, or never existed. ${mayLock(call) ? html`<a href="${newLockUrl(workspace, path)}">Lock it</a>` : 'Anyone can take it now.'}`,
    );
  }
  if (next !== undefined) {
    return empty('No lock matches the search yet.', `A page searches ${maxSearched} locks. The next page searches on.`);
  }
  if (search !== '' || holder !== '') {
    return empty('No lock matches the search.', link(listUrl(workspace), 'Show all locks'));
  }
  if (all > 0) return empty('There are no more locks.', link(listUrl(workspace), 'First page'));
  return empty(
    'Nothing is locked.',
    html`${mayLock(call) ? html`<a href="${newLockUrl(workspace)}">Enter the path of a file</a> to lock it, or lock it` : 'A file appears here once someone locks it'} with <code>git lfs lock</code> or in a workflow with <code>operation: lock</code>.`,
  );
}

/** The checkboxes of this form are in the rows. */
const selectionButton = (workspace: string): Markup =>
  html`<form id="${selectionForm}" method="post" action="/workspaces/${workspace}/locks/release-selected"><button>Release selected</button></form>`;

const actions = (call: WorkspaceCall): Markup => {
  const { id } = call.workspace;
  return html`${mayLock(call) ? html`<a class="button primary" href="${newLockUrl(id)}">Lock a file</a>` : ''}
    <a class="button" href="${historyUrl(id)}">History</a>
    <a class="button" href="${poolsUrl(id)}">Pools</a>`;
};
