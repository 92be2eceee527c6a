import { updateTimes } from './clock.js';

/** Reloads the page in the background, and replaces the parts that differ. */

/** @type {Promise<number> | undefined} */
let refreshing;
let isStale = false;

/** Resolved with the status of the service's latest response, once the page shows it; 0 without one. @returns {Promise<number>} */
export function refreshParts() {
  isStale = true;
  refreshing ??= refresh().finally(() => {
    refreshing = undefined;
  });
  return refreshing;
}

async function refresh() {
  let status = 0;
  while (isStale) {
    isStale = false;
    const response = await load();
    // Unlike those of the service, pages of a gateway lack this attribute.
    const isOurs = response.responseXML?.documentElement.hasAttribute('data-now');
    status = isOurs ? response.status : 0;
    const loaded = status === 200 ? response.responseXML : null;
    // Another refresh was requested, maybe for another URL: use its response instead.
    if (isStale || loaded === null) continue;
    for (const part of document.querySelectorAll('[data-part]')) {
      const other = loaded.querySelector(`[data-part="${part.getAttribute('data-part')}"]`);
      if (other === null || other.innerHTML === part.innerHTML) continue;
      if (part.tagName === 'TBODY') mergeRows(part, other);
      else replace(part, other);
    }
  }
  updateTimes();
  return status;
}

/** Parsed by the browser, without running scripts. @returns {Promise<XMLHttpRequest>} */
const load = () =>
  new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open('GET', location.href);
    request.responseType = 'document';
    request.setRequestHeader('accept', 'text/html');
    request.addEventListener('loadend', () => resolve(request));
    request.send();
  });

/** @param {Element} part @param {Element} other */
function replace(part, other) {
  const focused = part.querySelector(':focus');
  // Keep the checkbox itself: it may be checked.
  const box = part.querySelector('.select');
  if (box !== null) other.querySelector('.select')?.replaceWith(box);
  part.replaceChildren(...other.childNodes);
  if (focused === null) return;
  // Restore the keyboard focus.
  const nameOf = (/** @type {Element} */ control) =>
    `${control.tagName} ${control.getAttribute('href')} ${control.textContent}`;
  const again = [...part.querySelectorAll('a, button, .select')].find((control) => nameOf(control) === nameOf(focused));
  if (again instanceof HTMLElement) again.focus();
}

/**
 * Keeps rows with the same key, including checked boxes and the focus: replaces only cells that differ.
 * @param {Element} part @param {Element} other
 */
function mergeRows(part, other) {
  const hadFocus = part.contains(document.activeElement);
  const known = new Map([...part.children].map((row) => [row.getAttribute('data-key'), row]));
  const rows = [...other.children].map((row) => {
    const before = known.get(row.getAttribute('data-key'));
    if (before === undefined) return row;
    for (const [index, cell] of [...row.children].entries()) {
      const old = before.children[index];
      if (old !== undefined && old.innerHTML !== cell.innerHTML) replace(old, cell);
    }
    return before;
  });
  const kept = new Set(rows);
  const focused = document.activeElement;
  for (const row of [...part.children]) if (!kept.has(row)) row.remove();
  for (const [index, row] of rows.entries()) {
    if (part.children[index] !== row) part.insertBefore(row, part.children[index] ?? null);
  }
  // Rows lose the focus when they move. The focus of a removed row moves to the search field.
  const next = part.contains(focused) ? focused : document.querySelector('input[type="search"]');
  if (next instanceof HTMLElement && hadFocus) next.focus({ preventScroll: true });
}
