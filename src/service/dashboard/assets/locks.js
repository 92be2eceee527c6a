import { serviceNow } from './clock.js';
import { followStream } from './event-stream.js';
import { listAddress, matching, parseListQuery, parseSort, rowsOf, sorted, sortText } from './lock-list.js';
import { createLockMenus } from './lock-menu.js';
import { fillFolderRow, fillLockRow, fromTemplate, lockIn } from './lock-row.js';
import { createLockSelection } from './lock-selection.js';
import { plural } from './text.js';
import { zonedTime } from './time.js';
import { createWindowed } from './windowed.js';

/** The page of locks: follows what happens to them, and searches, sorts and groups without asking the service. */

/** @typedef {import('./lock-list.js').ShownLock} ShownLock */
/** @typedef {import('./lock-list.js').Row} Row */

/**
 * @template {Element} E
 * @param {string} selector @param {new () => E} type
 */
function find(selector, type) {
  const element = document.querySelector(selector);
  if (!(element instanceof type)) throw new Error(`The page has no ${selector}.`);
  return element;
}

const root = find('#locks', HTMLElement);
const table = find('table.locks', HTMLTableElement);
const body = find('table.locks tbody', HTMLElement);
const form = find('.lock-filters', HTMLFormElement);
const search = find('#search', HTMLInputElement);
const sort = find('#sort', HTMLSelectElement);
const group = find('#group', HTMLInputElement);
const count = find('#lock-count', HTMLElement);
const announcement = find('#lock-announcement', HTMLElement);
const live = find('#live', HTMLElement);
const onlyPath = find('.only-path', HTMLElement);
const workspace = root.dataset['workspace'] ?? '';

let query = parseListQuery(new URLSearchParams(location.search));
/** @type {Set<string>} */
const folded = new Set();
/** @type {Map<string, ShownLock>} */
let locks = new Map();
/** All of them in their order, until that changes. @type {readonly ShownLock[] | undefined} */
let ordered;
/** Until then the page is what the service has written. */
let tookOver = false;

/** A length of the style sheet in pixels. @param {string} name */
function pixels(name) {
  const rem = Number.parseFloat(getComputedStyle(table).getPropertyValue(name));
  return rem * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
}

let heights = { lock: 0, folder: 0 };
function measureHeights() {
  heights = { lock: pixels('--lock-height'), folder: pixels('--folder-height') };
}
measureHeights();
// Before the rows are laid out again, which also happens then.
window.addEventListener('resize', measureHeights);

/** @type {ReturnType<typeof createWindowed<Row>>} */
const rows = createWindowed({
  body,
  heightOf: ({ kind }) => heights[kind],
  make: ({ kind }) => fromTemplate(`${kind}-row`),
  fill(element, row) {
    if (row.kind === 'lock') {
      fillLockRow(element, workspace, row.lock);
      selection.fill(element, row.lock);
    } else fillFolderRow(element, row, folded.has(row.folder));
  },
  emptied: () => search.focus({ preventScroll: true }),
});

const selection = createLockSelection({
  body,
  shown: () => matching([...locks.values()], query),
  changed: () => show('stay'),
});

createLockMenus({ body, pathOf: (row) => lockIn(row)?.path });

/** @param {number} found */
function showCount(found) {
  const all = plural(locks.size, 'lock');
  count.textContent = found === locks.size ? all : `${found.toLocaleString('en-US')} of ${all}`;
  const nothing = query.path !== '' ? 'free' : locks.size === 0 ? 'none' : 'no-match';
  table.hidden = found === 0;
  for (const state of root.querySelectorAll('[data-empty]')) {
    if (state instanceof HTMLElement) state.hidden = found > 0 || state.dataset['empty'] !== nothing;
  }
}

/** @param {'stay' | 'begin'} where */
function show(where) {
  ordered ??= sorted([...locks.values()], query);
  const found = matching(ordered, query);
  const all = rowsOf(found, query.group, folded);
  showCount(found.length);
  selection.keep(locks);
  table.setAttribute('aria-rowcount', String(all.length + 1));
  table.classList.toggle('grouped', query.group);
  rows.show(all, where);
}

let frame = 0;
function showSoon() {
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(() => show('stay'));
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let writing;
/** Browsers refuse to change the address many times a second. */
function writeAddress() {
  clearTimeout(writing);
  writing = setTimeout(() => {
    history.replaceState(history.state, '', listAddress(workspace, query));
    announcement.textContent = count.textContent;
  }, 300);
}

function showSort() {
  sort.value = sortText(query);
  for (const heading of table.querySelectorAll('thead [data-sort]')) {
    const { by } = parseSort(heading.getAttribute('data-sort') ?? '');
    const current = by === query.by;
    if (current) heading.parentElement?.setAttribute('aria-sort', query.descending ? 'descending' : 'ascending');
    else heading.parentElement?.removeAttribute('aria-sort');
    const next = { ...query, by, descending: current && !query.descending };
    heading.setAttribute('href', listAddress(workspace, next));
  }
}

/** @param {Partial<typeof query>} change */
function ask(change) {
  if (change.by !== undefined || change.descending !== undefined || change.group !== undefined) ordered = undefined;
  query = { ...query, ...change };
  onlyPath.hidden = query.path === '';
  showSort();
  show('begin');
  writeAddress();
}

function takeOver() {
  tookOver = true;
  table.classList.add('live');
  const focused = document.activeElement?.closest('.lock')?.querySelector('.path')?.getAttribute('href');
  body.replaceChildren();
  find('.apply', HTMLElement).hidden = true;
  const pages = document.querySelector('nav.pages');
  if (pages instanceof HTMLElement) pages.hidden = true;
  query = { ...query, search: search.value, ...parseSort(sort.value), group: group.checked, page: 1 };
  const { scroll } = history.state ?? {};
  show('stay');
  if (typeof scroll === 'number') window.scrollTo(0, scroll);
  // Somebody was quicker than the connection.
  const same = [...body.querySelectorAll('.path')].find((link) => link.getAttribute('href') === focused);
  if (same instanceof HTMLElement) same.focus({ preventScroll: true });
}

form.addEventListener('submit', (event) => {
  if (tookOver) event.preventDefault();
});
search.addEventListener('input', () => {
  if (tookOver) ask({ search: search.value, path: '' });
});
sort.addEventListener('change', () => {
  if (tookOver) ask(parseSort(sort.value));
});
group.addEventListener('change', () => {
  if (tookOver) ask({ group: group.checked });
});
table.addEventListener('click', (event) => {
  if (!tookOver || !(event.target instanceof Element) || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const heading = event.target.closest('[data-sort]');
  if (heading !== null) {
    event.preventDefault();
    const { by } = parseSort(heading.getAttribute('data-sort') ?? '');
    ask({ by, descending: by === query.by && !query.descending });
    return;
  }
  const row = event.target.closest('.fold')?.closest('tr');
  if (row === null || row === undefined) return;
  const key = rows.keyOf(row) ?? '';
  if (!folded.delete(key)) folded.add(key);
  show('stay');
});
root.addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('[data-show-all]') : null;
  if (!tookOver || link === null) return;
  event.preventDefault();
  search.value = '';
  ask({ search: '', path: '' });
  search.focus();
});

/** Marks the row of a lock for a moment. @param {string} id */
function highlight(id) {
  const element = rows.elementOf(id);
  if (element === undefined) return;
  element.classList.remove('fresh');
  // Laid out once without it, the animation starts again.
  void element.offsetWidth;
  element.classList.add('fresh');
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let losing;
let connected = false;

function showLive() {
  clearTimeout(losing);
  if (connected) return;
  connected = true;
  const state = document.createElement('span');
  state.className = 'state active';
  state.textContent = 'Live';
  live.replaceChildren(state);
}

function showLost() {
  if (!connected) return;
  const at = zonedTime(new Date(serviceNow()).toISOString());
  clearTimeout(losing);
  // Most connections are there again before anybody could read it.
  losing = setTimeout(() => {
    connected = false;
    live.textContent = `Not connected, as of ${at}.`;
  }, 1_000);
}

function showSignedOut() {
  clearTimeout(losing);
  connected = false;
  const link = document.createElement('a');
  link.href = `/sign-in?to=${encodeURIComponent(location.pathname + location.search)}`;
  link.textContent = 'Sign in again';
  live.replaceChildren('Your session has ended, so this page no longer updates. ', link);
}

/** @type {Map<string, ShownLock>} */
let incoming = new Map();

followStream({
  url: `/workspaces/${workspace}/locks/events`,
  on: {
    snapshot(data) {
      // pages/locks.ts sends these, and so for the others.
      const part = /** @type {{ locks: ShownLock[], last: boolean }} */ (data);
      for (const lock of part.locks) incoming.set(lock.path, lock);
      if (!part.last) return;
      locks = incoming;
      incoming = new Map();
      ordered = undefined;
      showLive();
      if (tookOver) showSoon();
      else takeOver();
    },
    changed(data) {
      const { locks: changed } = /** @type {{ locks: ShownLock[] }} */ (data);
      for (const lock of changed) locks.set(lock.path, lock);
      ordered = undefined;
      show('stay');
      for (const { id } of changed) highlight(id);
    },
    removed(data) {
      const { paths } = /** @type {{ paths: string[] }} */ (data);
      for (const path of paths) locks.delete(path);
      ordered = undefined;
      showSoon();
    },
  },
  lost() {
    // Another connection begins with all locks again.
    incoming = new Map();
    showLost();
  },
  signedOut: showSignedOut,
});

// A browser that comes back scrolls before the rows are here.
history.scrollRestoration = 'manual';
window.addEventListener('pagehide', () => history.replaceState({ scroll: window.scrollY }, ''));
