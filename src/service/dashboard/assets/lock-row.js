/** Fills the rows that `../locks/lock-row.ts` has made a pattern of. */

import { folderOf, listSearch } from './lock-list.js';
import { safeText } from './safe-text.js';
import { shortRun } from './short-run.js';
import { relativeTime, serviceNow } from './times.js';

/** @typedef {import('./lock-list.js').Lock} Lock */

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

/** @param {Element} row @param {string} selector @param {string} text */
function setText(row, selector, text) {
  const element = part(row, selector);
  if (element.textContent !== text) element.textContent = text;
  return element;
}

/** @param {string} timestamp */
const fullTime = (timestamp) => `${timestamp.slice(0, 10)} ${timestamp.slice(11, 19)} UTC`;

/** @param {Element} row @param {string | null} origin */
function fillRun(row, origin) {
  const text = origin === null ? undefined : shortRun(origin);
  const link = part(row, '.run');
  link.hidden = text === undefined;
  part(row, '.no-run').hidden = text !== undefined;
  if (text === undefined || origin === null) return;
  link.setAttribute('href', origin);
  link.title = safeText(origin);
  setText(row, '.run bdi', safeText(text));
}

/** @param {Element} row @param {string} workspace @param {Lock} lock */
function fillRelease(row, workspace, { path, id, release }) {
  const link = row.querySelector('.release');
  if (!(link instanceof HTMLElement)) return;
  const text = release === 'force' ? 'Force release' : 'Release';
  link.hidden = release === 'none';
  link.textContent = text;
  link.classList.toggle('danger', release === 'force');
  link.setAttribute('aria-label', `${text} ${safeText(path)}`);
  link.setAttribute('href', `/workspaces/${workspace}/locks/release?${new URLSearchParams({ path, lock: id })}`);
}

/** @type {WeakMap<Element, Lock>} */
const shown = new WeakMap();

/** @param {HTMLElement} row @param {string} workspace @param {Lock} lock */
export function fillLockRow(row, workspace, lock) {
  if (shown.get(row) === lock) return;
  shown.set(row, lock);
  const { path, owner, origin, acquired_at, expires_at } = lock;
  const folder = folderOf(path);
  const link = part(row, '.path');
  const only = listSearch({ search: '', by: 'path', descending: false, group: false, path });
  link.setAttribute('href', `/workspaces/${workspace}/locks${only}`);
  link.title = safeText(path);
  setText(row, '.path .folder', safeText(folder));
  setText(row, '.path .name', safeText(path.slice(folder.length)));
  setText(row, '.owner', safeText(owner)).title = safeText(owner);
  fillRun(row, origin);
  const since = setText(row, 'time', relativeTime(Date.parse(acquired_at), serviceNow()));
  since.setAttribute('datetime', acquired_at);
  since.title = fullTime(acquired_at);
  const left = part(row, '.countdown');
  left.dataset['until'] = expires_at;
  left.title = fullTime(expires_at);
  fillRelease(row, workspace, lock);
}

/** @param {HTMLElement} row @param {{ folder: string, count: number }} group @param {boolean} folded */
export function fillFolderRow(row, { folder, count }, folded) {
  setText(row, '.folder', folder === '' ? 'Outside of all folders' : safeText(folder));
  setText(row, '.folder-count', count === 1 ? '1 lock' : `${count.toLocaleString('en-US')} locks`);
  const button = part(row, '.fold');
  button.removeAttribute('disabled');
  button.setAttribute('aria-expanded', String(!folded));
}
