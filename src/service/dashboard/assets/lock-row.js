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

/** Not there for whoever may change no lock. @param {Element} row @param {string} workspace @param {ShownLock} lock */
function fillActions(row, workspace, lock) {
  const link = row.querySelector('.release');
  const extend = row.querySelector('.extend');
  const select = row.querySelector('.select');
  if (!(link instanceof HTMLElement && extend instanceof HTMLElement && select instanceof HTMLInputElement)) return;
  select.hidden = lock.release === 'none';
  select.value = lock.id;
  select.setAttribute('aria-label', `Select ${safeText(lock.path)}`);
  extend.hidden = lock.release !== 'own';
  extend.setAttribute('aria-label', `Extend ${safeText(lock.path)}`);
  extend.setAttribute('href', extendAddress(workspace, lock));
  const text = releaseText(lock);
  link.hidden = lock.release === 'none';
  link.textContent = text;
  link.classList.toggle('danger', lock.release === 'force');
  link.setAttribute('aria-label', `${text} ${safeText(lock.path)}`);
  link.setAttribute('href', releaseAddress(workspace, lock));
}

/** @type {WeakMap<Element, ShownLock>} */
const shown = new WeakMap();

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
  fillActions(row, workspace, lock);
}

/** @param {HTMLElement} row @param {{ folder: string, count: number }} group @param {boolean} folded */
export function fillFolderRow(row, { folder, count }, folded) {
  setText(part(row, '.folder'), safeText(folderName(folder)));
  setText(part(row, '.folder-count'), plural(count, 'lock'));
  const button = part(row, '.fold');
  button.removeAttribute('disabled');
  button.setAttribute('aria-expanded', String(!folded));
}
