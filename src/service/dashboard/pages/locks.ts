import { html } from 'hono/html';
import { formatNumber, pluralize } from '../../../interface/format.ts';
import { activeLocksOf } from '../../locks/list.ts';
import { countWaiting } from '../../locks/queue.ts';
import { filterForm, selection, textInput } from '../elements/fields.ts';
import { numberedPages } from '../elements/list.ts';
import { newLockUrl } from '../elements/lock.ts';
import {
  type ListQuery,
  listUrl,
  matching,
  parseListQuery,
  queryNames,
  type SortKey,
  sorted,
  sortKeys,
  sortText,
} from '../elements/lock-list.ts';
import { empty, literal, liveState, type Markup } from '../elements/text.ts';
import { addLivePage } from '../frame/live-page.ts';
import { addWorkspacePage, queryOf, type Site, type WorkspaceCall } from '../frame/page.ts';
import { gitLfsUrl } from './git-lfs.ts';
import { historyUrl } from './lock-history.ts';
import { columnNames, lockPageSize, lockTableHtml, mayLock, selectionForm } from './lock-table.ts';
import { poolsUrl } from './pools.ts';

export function addLockListPage(site: Site): void {
  addWorkspacePage(site, { path: '/locks', access: 'locks:read' }, async (call) => {
    const query = parseListQuery(new URLSearchParams(queryOf(call, ...queryNames)));
    return { title: 'Locks', script: 'locks.js', actions: actions(call), main: await lockList(site, call, query) };
  });

  addLivePage(
    site,
    { path: '/locks/events', access: 'locks:read' },
    async ({ workspace: { id } }) =>
      async ({ send, gone }) => {
        // The page then reloads its list.
        for await (const _ of site.locks.follow(id, gone)) await send('changed');
      },
  );
}

async function lockList({ storage }: Site, call: WorkspaceCall, requested: ListQuery): Promise<Markup> {
  const workspace = call.workspace.id;
  const locks = await activeLocksOf(storage, workspace);
  const found = sorted(matching(locks, requested), requested);
  const pages = Math.max(1, Math.ceil(found.length / lockPageSize));
  const query = { ...requested, page: Math.min(requested.page, pages) };
  const locksOfPage = found.slice((query.page - 1) * lockPageSize, query.page * lockPageSize);
  const rows = { locks: locksOfPage, waiting: await countWaiting(storage, locksOfPage) };
  const pageUrl = (page: number) => listUrl(workspace, { ...query, page });
  return html`${filters(workspace, query)}
    <div data-part="only-path">${query.path === '' ? '' : html`<p>Only <strong>${literal(query.path)}</strong>. <a href="${listUrl(workspace)}">Show all locks</a></p>`}</div>
    <div class="lock-state">
      <p id="lock-count" data-part="count">${countText(found.length, locks.length)}</p>
      ${mayLock(call) ? selectionButtons(workspace) : ''}
      ${liveState(`/workspaces/${workspace}/locks/events`, call.now)}
      <p class="visually-hidden" id="lock-announcement" role="status"></p>
    </div>
    ${lockTableHtml(call, query, rows)}
    <div data-part="empty">${found.length > 0 ? '' : emptyState(call, query.path, locks.length)}</div>
    <div data-part="pages">${numberedPages({ page: query.page, pages }, pageUrl)}</div>`;
}

const alphabetical = ['A to Z', 'Z to A'] as const;

const orders: Readonly<Record<SortKey, readonly [up: string, down: string]>> = {
  path: alphabetical,
  holder: alphabetical,
  run: alphabetical,
  since: ['oldest first', 'newest first'],
  left: ['least first', 'most first'],
};

function filters(workspace: string, query: ListQuery): Markup {
  const sorts = sortKeys.flatMap((by) =>
    orders[by].map((order, index) => {
      const value = sortText({ by, descending: index === 1 });
      return [value, `${columnNames[by]}, ${order}`] as const;
    }),
  );
  const search = html` placeholder="Path, holder, note or run" aria-keyshortcuts="/"`;
  return filterForm({
    action: listUrl(workspace),
    values: { search: query.search, sort: sortText(query) },
    fields: [
      textInput('search', 'Search', { type: 'search', attributes: search }),
      selection('sort', 'Sort by', sorts),
    ],
  });
}

const countText = (found: number, all: number): string =>
  found === all ? pluralize(all, 'lock') : `${formatNumber(found)} of ${pluralize(all, 'lock')}`;

function emptyState(call: WorkspaceCall, path: string, all: number): Markup {
  const workspace = call.workspace.id;
  if (path !== '') {
    return empty(
      'Nobody holds a lock on this path.',
      html`It was released, has expired, or never existed. ${mayLock(call) ? html`<a href="${newLockUrl(workspace, path)}">Lock it</a>` : 'Anyone can take it now.'}`,
    );
  }
  return all === 0
    ? empty(
        'Nothing is locked.',
        html`${mayLock(call) ? html`<a href="${newLockUrl(workspace)}">Enter the path of a file</a> to lock it, or lock it` : 'A file appears here once someone locks it'} with <code>git lfs lock</code> or in a workflow with <code>operation: lock</code>.`,
      )
    : empty(
        'No lock matches the search.',
        html`The search covers paths, holders, notes and runs. <a href="${listUrl(workspace)}">Show all locks</a>`,
      );
}

const actions = (call: WorkspaceCall): Markup => html`
  <a class="button" href="${gitLfsUrl(call.workspace.id)}">Git LFS setup</a>
  <a class="button" href="${poolsUrl(call.workspace.id)}">Pools</a>
  <a class="button" href="${historyUrl(call.workspace.id)}">History</a>
  ${mayLock(call) ? html`<a class="button primary" href="${newLockUrl(call.workspace.id)}">Lock a file</a>` : ''}`;

/** The checkboxes of this form are in the rows. It also works without JavaScript, for the locks on the page. */
const selectionButtons = (workspace: string): Markup =>
  html`<form id="${selectionForm}" class="actions" method="post" action="/workspaces/${workspace}/locks/release-selected">
    <button>Release selected</button>
    <button type="button" data-select="all" hidden>Select all shown</button>
    <button type="button" data-select="none" hidden>Clear the selection</button>
  </form>`;
