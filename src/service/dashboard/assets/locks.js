import { serviceNow } from './clock.js';
import { followStream } from './event-stream.js';
import { createLockMenus } from './lock-menu.js';
import { createLockSelection } from './lock-selection.js';
import { refreshParts } from './refresh.js';
import { zonedTime } from './time.js';

/** The list of locks: shows changes live, and searches, sorts and changes pages without leaving the page. */

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
const body = find('table.locks tbody', HTMLElement);
const form = find('.lock-filters', HTMLFormElement);
const search = find('#search', HTMLInputElement);
const sort = find('#sort', HTMLSelectElement);
const group = find('#group', HTMLInputElement);
const count = find('#lock-count', HTMLElement);
const announcement = find('#lock-announcement', HTMLElement);
const live = find('#live', HTMLElement);

root.classList.add('scripted');
// Browsers allow writing to the clipboard only over https and on localhost.
root.classList.toggle('can-copy', isSecureContext);
createLockMenus(body);
const showSelection = createLockSelection(body);

const keys = () => new Set([...body.children].map((row) => row.getAttribute('data-key')));

async function refresh() {
  const hadFocus = body.contains(document.activeElement);
  await refreshParts();
  showSelection();
  if (hadFocus && !body.contains(document.activeElement)) search.focus({ preventScroll: true });
}

/** Shows the list for a URL. @param {string} address */
async function show(address) {
  history.replaceState(history.state, '', address);
  await refresh();
  announcement.textContent = count.textContent;
}

/** The URL for the filters, without those that have their default. */
function addressOfForm() {
  const parameters = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    const text = String(value).trim();
    if (text !== '' && !(name === 'sort' && text === 'path')) parameters.set(name, text);
  }
  return `${form.getAttribute('action')}${parameters.size === 0 ? '' : `?${parameters}`}`;
}

const typingPauseMs = 150;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let typing;

form.addEventListener('submit', (event) => {
  event.preventDefault();
  clearTimeout(typing);
  void show(addressOfForm());
});
form.addEventListener('input', ({ target }) => {
  clearTimeout(typing);
  if (target === search) typing = setTimeout(() => void show(addressOfForm()), typingPauseMs);
  else void show(addressOfForm());
});
root.addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('[data-sort], .pages a, [data-show-all]') : null;
  if (!(link instanceof HTMLAnchorElement) || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const parameters = new URL(link.href).searchParams;
  search.value = parameters.get('search') ?? '';
  sort.value = parameters.get('sort') ?? 'path';
  group.checked = parameters.has('group');
  if (link.matches('[data-show-all]')) search.focus();
  void show(link.getAttribute('href') ?? '');
});

/** Pauses between refreshes limit the load on the service, however often locks change. */
const minPauseMs = 1_000;
const pausePerRefresh = 4;
let hasChanged = false;
let isFollowing = false;
/** The first refresh shows changes from before the page was connected, which are not highlighted. */
let isFirst = true;

async function follow() {
  hasChanged = true;
  if (isFollowing) return;
  isFollowing = true;
  while (hasChanged) {
    hasChanged = false;
    const before = keys();
    const began = performance.now();
    await refresh();
    const tookMs = performance.now() - began;
    for (const row of body.children) {
      row.classList.toggle('fresh', !isFirst && !before.has(row.getAttribute('data-key')));
    }
    isFirst = false;
    await new Promise((resolve) => setTimeout(resolve, Math.max(minPauseMs, tookMs * pausePerRefresh)));
  }
  isFollowing = false;
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
  // Most connections are restored before anyone could read the message.
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

followStream({
  url: root.dataset['events'] ?? '',
  on: {
    changed() {
      showLive();
      void follow();
    },
  },
  lost: showLost,
  signedOut: showSignedOut,
});
