import { updateCountdowns, updateTimes } from './clock.js';

/** Loads the page once more, and takes over its parts that differ. */

/** @type {Promise<void> | undefined} */
let refreshing;
let isStale = false;

/** Resolved when the page shows what it was asked for last. @returns {Promise<void>} */
export function refreshParts() {
  isStale = true;
  refreshing ??= refresh().finally(() => {
    refreshing = undefined;
  });
  return refreshing;
}

async function refresh() {
  while (isStale) {
    isStale = false;
    const loaded = await load();
    // Another refresh was asked for, perhaps of another address: the next response is newer.
    if (isStale || loaded === null) continue;
    for (const part of document.querySelectorAll('[data-part]')) {
      const other = loaded.querySelector(`[data-part="${part.getAttribute('data-part')}"]`);
      if (other === null || other.innerHTML === part.innerHTML) continue;
      if (part.tagName === 'TBODY') mergeRows(part, other);
      else replace(part, other);
    }
  }
  updateTimes();
  updateCountdowns(document);
}

/** The browser parses it, without running anything. @returns {Promise<Document | null>} */
const load = () =>
  new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open('GET', location.href);
    request.responseType = 'document';
    request.setRequestHeader('accept', 'text/html');
    request.addEventListener('loadend', () => resolve(request.status === 200 ? request.responseXML : null));
    request.send();
  });

/** @param {Element} part @param {Element} other */
function replace(part, other) {
  const focused = part.querySelector(':focus')?.getAttribute('href');
  part.replaceChildren(...other.childNodes);
  // Keyboard focus stays where it was.
  const again = [...part.querySelectorAll('a')].find((link) => link.getAttribute('href') === focused);
  if (focused && again) again.focus();
}

/**
 * Keeps rows with the same key, and in them an open menu, a checked box and the focus: only cells that differ are replaced.
 * @param {Element} part @param {Element} other
 */
function mergeRows(part, other) {
  const known = new Map([...part.children].map((row) => [row.getAttribute('data-key'), row]));
  const rows = [...other.children].map((row) => {
    const before = known.get(row.getAttribute('data-key'));
    if (before === undefined) return row;
    for (const [index, cell] of [...row.children].entries()) {
      const old = before.children[index];
      const isInUse = old?.querySelector('details[open]') !== null;
      if (old !== undefined && !isInUse && old.innerHTML !== cell.innerHTML) replace(old, cell);
    }
    return before;
  });
  const kept = new Set(rows);
  const focused = document.activeElement;
  for (const row of [...part.children]) if (!kept.has(row)) row.remove();
  for (const [index, row] of rows.entries()) {
    if (part.children[index] !== row) part.insertBefore(row, part.children[index] ?? null);
  }
  // A row that moved has lost it.
  if (focused instanceof HTMLElement && focused.isConnected) focused.focus({ preventScroll: true });
}
