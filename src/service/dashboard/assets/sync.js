import { setText, showTime } from './clock.js';
import { followStream } from './event-stream.js';

/** Follows a sync until it has ended. */

/**
 * @typedef {object} SyncProgress
 * @property {string} status
 * @property {boolean} isOver
 * @property {{ value: number, max: number } | null} bar
 * @property {Record<string, string>} texts
 * @property {Record<string, string | null>} times
 */

/** @param {string} selector */
const one = (selector) => document.querySelector(selector);

const page = one('[data-events]');
const live = one('[data-live]');
let isOver = page?.hasAttribute('data-over') ?? true;

/** @param {Element | null | undefined} element @param {boolean} isShown */
function show(element, isShown) {
  if (element instanceof HTMLElement) element.hidden = !isShown;
}

/** Shows or hides a fact and its label, the previous element. @param {Element} fact @param {boolean} isShown */
function showFact(fact, isShown) {
  show(fact, isShown);
  if (fact.previousElementSibling?.matches('dt')) show(fact.previousElementSibling, isShown);
}

/** @param {Element | null} element @param {string} text */
function write(element, text) {
  if (element !== null) setText(element, text);
}

/** @param {SyncProgress} progress */
function update({ status, isOver: ended, bar, texts, times }) {
  const state = one('[data-state]');
  if (state !== null) state.className = `state ${status}`;
  write(state, status);
  for (const [name, text] of Object.entries(texts)) {
    const fact = one(`[data-text="${name}"]`);
    write(fact, text);
    if (fact !== null) showFact(fact, text !== '');
  }
  for (const [name, at] of Object.entries(times)) {
    const fact = one(`[data-time="${name}"]`);
    if (fact === null || at === null) continue;
    const time = fact.querySelector('time');
    if (time !== null) showTime(time, at);
    showFact(fact, true);
  }
  const element = one('progress');
  if (element instanceof HTMLProgressElement && bar !== null) {
    element.max = bar.max;
    element.value = bar.value;
  }
  show(one('.progress'), bar !== null);
  isOver = ended;
  show(live, !isOver);
  show(one('[data-again]'), isOver);
}

if (page !== null && !isOver) {
  const stop = followStream({
    url: page.getAttribute('data-events') ?? '',
    on: {
      progress: (progress) => {
        write(live, 'This page updates by itself.');
        update(/** @type {SyncProgress} The service sends nothing else by this name. */ (progress));
        if (isOver) stop();
      },
    },
    lost: () => write(live, 'Not connected. Trying again…'),
    signedOut: () => write(live, 'Your session has ended. Reload the page to sign in again.'),
  });
}
