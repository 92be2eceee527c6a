import { setText, showCountdown, showTime } from './clock.js';
import { extendAddress, folderName, folderOf, pathAddress, releaseAddress, releaseText } from './lock-list.js';
import { noRun, plural, safeText, shortRun } from './text.js';

/** Fills the rows of which `../pages/lock-table.ts` has written the pattern. */

/** @typedef {import('./lock-list.js').ShownLock} ShownLock */

/** A copy of the only element in a template of the page. @param {string} id */
export function fromTemplate(id) {
  const template = document.getElementById(id);
  const pattern = template instanceof HTMLTemplateElement ? template.content.firstElementChild : null;
  const copy = pattern?.cloneNode(true);
  if (!(copy instanceof HTMLElement)) throw new Error(`The page has no template ${id}.`);
  return copy;
}

/** @param {Element} row @param {string} selector */
function part(row, selector) {
  const element = row.querySelector(selector);
  if (!(element instanceof HTMLElement)) throw new Error(`The row has no ${selector}.`);
  return element;
}

/** @param {Element} row @param {string | null} origin */
function fillRun(row, origin) {
  const text = shortRun(origin);
  const link = part(row, '.run');
  link.hidden = text === undefined;
  const instead = part(row, '.no-run');
  instead.hidden = text !== undefined;
  setText(instead, noRun(origin));
  if (text === undefined || origin === null) return;
  link.setAttribute('href', origin);
  link.title = safeText(origin);
  setText(part(row, '.run bdi'), safeText(text));
}

/**
 * What can be done to the lock, in its row and in its menu; not there for whoever may change no lock.
 * @param {Element} row @param {string} workspace @param {ShownLock} lock
 */
function fillChanges(row, workspace, lock) {
  const path = safeText(lock.path);
  const select = row.querySelector('.select');
  if (!(select instanceof HTMLInputElement)) return;
  select.hidden = lock.release === 'none';
  select.value = lock.id;
  select.setAttribute('aria-label', `Select ${path}`);
  for (const link of row.querySelectorAll('.extend, .release')) {
    const isExtend = link.classList.contains('extend');
    const text = isExtend ? 'Extend' : releaseText(lock);
    link.textContent = text;
    link.setAttribute('href', (isExtend ? extendAddress : releaseAddress)(workspace, lock));
    link.toggleAttribute('hidden', isExtend ? lock.release !== 'own' : lock.release === 'none');
    link.classList.toggle('danger', !isExtend && lock.release === 'force');
    if (link.hasAttribute('aria-label')) link.setAttribute('aria-label', `${text} ${path}`);
  }
}

/** @param {Element} row @param {string} workspace @param {string} path */
function fillMenu(row, workspace, path) {
  part(row, '.menu summary').setAttribute('aria-label', `Actions for ${safeText(path)}`);
  part(row, '.history').setAttribute('href', pathAddress(workspace, path));
  // On plain http beyond this machine, browsers let no page write to the clipboard.
  part(row, '.copy').hidden = !isSecureContext;
}

/** @type {WeakMap<Element, ShownLock>} */
const shown = new WeakMap();

/** @param {Element} row */
export const lockIn = (row) => shown.get(row);

/** @param {HTMLElement} row @param {string} workspace @param {ShownLock} lock */
export function fillLockRow(row, workspace, lock) {
  if (shown.get(row) === lock) return;
  shown.set(row, lock);
  const { path, owner, origin, note, acquired_at, expires_at } = lock;
  const folder = folderOf(path);
  const link = part(row, '.path');
  link.setAttribute('href', pathAddress(workspace, path));
  link.title = safeText(path);
  setText(part(row, '.path .folder'), safeText(folder));
  setText(part(row, '.path .name'), safeText(path.slice(folder.length)));
  const holder = part(row, '.owner');
  setText(holder, safeText(owner));
  holder.title = safeText(owner);
  const noteText = part(row, '.note');
  setText(noteText, safeText(note ?? ''));
  noteText.title = safeText(note ?? '');
  noteText.hidden = note === null;
  fillRun(row, origin);
  showTime(part(row, 'time'), acquired_at);
  showCountdown(part(row, '.countdown'), expires_at);
  fillChanges(row, workspace, lock);
  fillMenu(row, workspace, path);
}

/** @param {HTMLElement} row @param {{ folder: string, count: number }} group @param {boolean} folded */
export function fillFolderRow(row, { folder, count }, folded) {
  setText(part(row, '.folder'), safeText(folderName(folder)));
  setText(part(row, '.folder-count'), plural(count, 'lock'));
  const button = part(row, '.fold');
  button.removeAttribute('disabled');
  button.setAttribute('aria-expanded', String(!folded));
}
