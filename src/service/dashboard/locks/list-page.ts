import { html } from 'hono/html';
import { grants } from '../../../interface/scopes.ts';
import type { App } from '../../http/operation.ts';
import { heldLocks } from '../../locks/list.ts';
import { safeText } from '../../safe-text.ts';
import { asTimestamp } from '../../storage/timestamp.ts';
import type { DashboardParts } from '../dashboard.ts';
import { empty } from '../elements/empty.ts';
import type { Markup } from '../elements/markup.ts';
import { literal, plural } from '../elements/text.ts';
import { fullTime } from '../elements/time.ts';
import { showPage } from '../layout.ts';
import { addLivePage, type LiveControl } from '../live/live-page.ts';
import { addPage, queryOf, workspaceOf } from '../page.ts';
import { arrange, folderOf } from './arrange.ts';
import {
  type ListQuery,
  listAddress,
  parseListQuery,
  queryNames,
  type SortKey,
  sortKeys,
  sortText,
} from './list-query.ts';
import { columnNames, lockTable } from './list-table.ts';
import { tellLocks } from './live-locks.ts';
import type { RowPlace } from './lock-row.ts';
import { type ShownLock, shownLock } from './shown-lock.ts';

const pageSize = 200;

/** Fixed sentences by the codes that other pages send back with. */
const notices: ReadonlyMap<string, string> = new Map([
  ['released', 'The lock was released.'],
  ['absent', 'Nothing was released: the lock was gone already, because its holder released it or its time was over.'],
]);

const option = (value: string, text: string, chosen: string): Markup =>
  html`<option value="${value}"${value === chosen ? html` selected` : ''}>${text}</option>`;

/** What upwards and downwards mean, in the words of each column. */
const orders: Readonly<Record<SortKey, readonly [up: string, down: string]>> = {
  path: ['A to Z', 'Z to A'],
  holder: ['A to Z', 'Z to A'],
  run: ['A to Z', 'Z to A'],
  since: ['oldest first', 'newest first'],
  left: ['least first', 'most first'],
};

function filters(workspace: string, { search, sort, group }: ListQuery): Markup {
  const sorts = sortKeys.flatMap((by) =>
    orders[by].map((order, index) => ({
      value: sortText({ by, descending: index === 1 }),
      text: `${columnNames[by]}, ${order}`,
    })),
  );
  return html`<form method="get" action="/workspaces/${workspace}/locks" role="search" class="lock-filters">
    <div class="lock-search"><label for="search">Search</label>
      <input id="search" name="search" type="search" value="${search}" placeholder="Path, holder or run" autocomplete="off" spellcheck="false" aria-keyshortcuts="/"></div>
    <div><label for="sort">Sort by</label>
      <select id="sort" name="sort">${sorts.map(({ value, text }) => option(value, text, sortText(sort)))}</select></div>
    <div class="lock-group"><input type="checkbox" id="group" name="group" value="folder"${group ? html` checked` : ''}><label for="group">Group by folder</label></div>
    <button class="apply">Show</button>
  </form>`;
}

/** The three ways in which there is nothing to show. The browser changes between them as locks come and go. */
function emptyStates(workspace: string, { path }: ListQuery, all: number, shown: number): Markup {
  const state = (name: string, applies: boolean, content: Markup) =>
    html`<div data-empty="${name}"${applies ? '' : html` hidden`}>${content}</div>`;
  const nobody = shown === 0;
  return html`
    ${state(
      'free',
      nobody && path !== '',
      empty(
        'Nobody holds a lock on this path.',
        'It was released, its time was over, or it was never taken. Whoever needs it can take it now.',
      ),
    )}
    ${state(
      'none',
      nobody && path === '' && all === 0,
      empty(
        'Nothing is locked.',
        html`As soon as a workflow step takes a lock with <code>operation: lock</code>, it appears here, with who holds it, and from which run.`,
      ),
    )}
    ${state(
      'no-match',
      nobody && path === '' && all > 0,
      empty(
        'No lock matches the search.',
        html`It looks into paths, holders and runs. <a href="${listAddress(workspace)}" data-show-all>Show all locks</a>`,
      ),
    )}`;
}

const onlyOne = (workspace: string, path: string): Markup =>
  html`<p class="only-path"${path === '' ? html` hidden` : ''}>Only ${path === '' ? html`<code></code>` : literal(path)}. <a href="${listAddress(workspace)}" data-show-all>Show all locks</a></p>`;

const countText = (shown: number, all: number): string =>
  shown === all ? plural(all, 'lock') : `${shown.toLocaleString('en-US')} of ${plural(all, 'lock')}`;

function pageLinks(workspace: string, query: ListQuery, pages: number): Markup | string {
  const { page } = query;
  if (pages < 2) return '';
  const to = (target: number, text: string, rel: string) =>
    html`<a rel="${rel}" href="${listAddress(workspace, { ...query, page: target })}">${text}</a>`;
  return html`<nav class="pages" aria-label="Pages">
    ${page > 1 ? to(page - 1, 'Page before', 'prev') : ''}
    <span>Page ${page} of ${pages}</span>
    ${page < pages ? to(page + 1, 'Next page', 'next') : ''}
  </nav>`;
}

function listed(place: RowPlace, asked: ListQuery, locks: readonly ShownLock[]): Markup {
  const { workspace, now } = place;
  const found = arrange(locks, asked);
  const pages = Math.max(1, Math.ceil(found.length / pageSize));
  const query = { ...asked, page: Math.min(asked.page, pages) };
  const folders = new Map<string, number>();
  for (const { path } of query.group ? found : []) folders.set(folderOf(path), (folders.get(folderOf(path)) ?? 0) + 1);
  const rows = {
    locks: found.slice((query.page - 1) * pageSize, query.page * pageSize),
    folders,
    total: found.length + folders.size,
    hidden: found.length === 0,
  };
  return html`<div id="locks" data-workspace="${workspace}">
    ${filters(workspace, query)}
    ${onlyOne(workspace, query.path)}
    <div class="lock-state">
      <p id="lock-count">${countText(found.length, locks.length)}</p>
      <p class="faint" id="live" role="status">As of ${fullTime(asTimestamp(now))}.</p>
      <p class="visually-hidden" id="lock-announcement" role="status"></p>
    </div>
    ${lockTable(place, query, rows)}
    ${emptyStates(workspace, query, locks.length, found.length)}
    ${pageLinks(workspace, query, pages)}
  </div>`;
}

export function addLockListPage(app: App, parts: DashboardParts & LiveControl): void {
  const { storage, lockWatch } = parts;

  addPage(app, parts, { path: '/workspaces/:id/locks', access: 'locks:read' }, async (call) => {
    const { id } = await workspaceOf(call, storage);
    const { bearer, now } = call;
    const texts = queryOf(call, ...queryNames, 'notice');
    const locks = (await heldLocks(storage, id)).map((held) => shownLock(bearer, held));
    const notice = notices.get(texts.notice);
    const place = { workspace: id, now, releasing: grants(bearer.scopes, 'locks:write') };
    return showPage(call, {
      title: 'Locks',
      place: { section: 'workspaces', workspace: id, tab: 'locks' },
      scripts: ['locks.js'],
      styles: ['locks.css'],
      main: html`${notice === undefined ? '' : html`<p class="notice" role="status">${safeText(notice)}</p>`}
        ${listed(
          place,
          parseListQuery((name) => texts[name]),
          locks,
        )}`,
    });
  });

  addLivePage(app, parts, { path: '/workspaces/:id/locks/events', access: 'locks:read' }, async (call) => {
    const { id } = await workspaceOf(call, storage);
    return (listener) => tellLocks(lockWatch.follow(id, listener.gone), call.bearer, listener);
  });
}
