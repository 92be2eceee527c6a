import { serviceNow } from './clock.js';
import { followStream, isPermanent } from './event-stream.js';
import { refreshParts } from './refresh.js';
import { zonedTime } from './time.js';

/** Reloads the parts of the page after each change, and shows whether the page is connected. */

const element = document.querySelector('#live');
if (!(element instanceof HTMLElement)) throw new Error('The page has no #live.');
const live = element;

/** Pauses between refreshes limit the load on the service, and their random part spreads it over all open pages. */
const minPauseMs = 1_000;
const pausePerRefresh = 4;
/** The pause doubles with each failure, up to this. */
const maxPauseMs = 30_000;
let failures = 0;
let hasChanged = false;
let isFollowing = false;
/** The first refresh shows changes from before the page was connected, which are not highlighted. */
let isFirst = true;

/** What the viewer should know, also in another window. */
const notices = () =>
  [...document.querySelectorAll('[data-notice]')].map((each) => each.getAttribute('data-notice') ?? '');

/** @param {string} text */
function notify(text) {
  if (Notification.permission === 'granted') new Notification(text, { tag: text });
}

const rows = () => [...document.querySelectorAll('[data-key]')];

function follow() {
  hasChanged = true;
  if (!isFollowing) void refreshWhileChanged();
}

async function refreshWhileChanged() {
  isFollowing = true;
  while (hasChanged) {
    hasChanged = false;
    const before = new Set(rows().map((row) => row.getAttribute('data-key')));
    const noticed = new Set(notices());
    const began = performance.now();
    const status = await refreshParts();
    const isLoaded = status === 200;
    const isTransient = !isLoaded && !isPermanent(status);
    failures = isTransient ? failures + 1 : 0;
    // Without a connection, the first event of the next one reloads the page.
    hasChanged ||= isTransient && connected;
    if (isPermanent(status)) showGone();
    const tookMs = performance.now() - began;
    const pauseMs =
      Math.max(Math.min(minPauseMs * 2 ** failures, maxPauseMs), tookMs * pausePerRefresh) * (1 + Math.random() / 2);
    for (const row of rows()) row.classList.toggle('fresh', !isFirst && !before.has(row.getAttribute('data-key')));
    if (!isFirst) for (const text of notices().filter((text) => !noticed.has(text))) notify(text);
    isFirst &&= !isLoaded;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  isFollowing = false;
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let lostTimer;
let connected = false;

function showLive() {
  clearTimeout(lostTimer);
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
  clearTimeout(lostTimer);
  // Most connections are restored before anyone could read the message.
  lostTimer = setTimeout(() => {
    connected = false;
    live.textContent = `Not connected, as of ${at}.`;
  }, 1_000);
}

/** @param {(string | Node)[]} content */
function showEnd(...content) {
  clearTimeout(lostTimer);
  connected = false;
  live.replaceChildren(...content);
}

/** The page has been removed, or may no longer be seen. */
const showGone = () => showEnd('This page no longer updates. Reload it.');

function showSignedOut() {
  const link = document.createElement('a');
  link.href = `/sign-in?to=${encodeURIComponent(location.pathname + location.search)}`;
  link.textContent = 'Sign in again';
  showEnd('Your session has ended, so this page no longer updates. ', link);
}

/** Browsers ask for the permission only after a click. */
function offerNotifications() {
  const button = document.querySelector('button[data-notifies]');
  if (!(button instanceof HTMLButtonElement) || !('Notification' in window)) return;
  button.hidden = Notification.permission !== 'default';
  button.addEventListener('click', async () => {
    button.hidden = (await Notification.requestPermission()) !== 'default';
  });
}

offerNotifications();
followStream({
  url: live.dataset['events'] ?? '',
  changed() {
    showLive();
    follow();
  },
  lost: showLost,
  signedOut: showSignedOut,
  gone: showGone,
});
