import './live.js';
import { refreshParts } from './refresh.js';

/** The list of locks: shows changes live, and applies its filters without leaving the page. */

/**
 * @template {Element} E
 * @param {string} selector @param {new () => E} type
 */
function find(selector, type) {
  const element = document.querySelector(selector);
  if (!(element instanceof type)) throw new Error(`The page has no ${selector}.`);
  return element;
}

const body = find('table.locks tbody', HTMLElement);
const form = find('.filters', HTMLFormElement);
const search = find('#search', HTMLInputElement);
const sort = find('#sort', HTMLSelectElement);
const headings = find('table.locks thead', HTMLTableSectionElement);
const count = find('#lock-count', HTMLElement);
const announcement = find('#lock-announcement', HTMLElement);

// Filters apply automatically.
find('.filters button', HTMLButtonElement).hidden = true;

// Selection of the locks to release together.
const release = document.querySelector('#release-selected button');

function showSelected() {
  const selected = body.querySelectorAll('.select:checked').length;
  if (!(release instanceof HTMLButtonElement)) return;
  release.disabled = selected === 0;
  release.textContent = selected === 0 ? 'Release selected' : `Release selected (${selected})`;
}

body.addEventListener('change', showSelected);
new MutationObserver(showSelected).observe(body, { childList: true });
for (const all of document.querySelectorAll('[data-select]')) {
  if (!(all instanceof HTMLElement)) continue;
  all.hidden = false;
  all.addEventListener('click', () => {
    for (const box of body.querySelectorAll('.select')) {
      if (box instanceof HTMLInputElement) box.checked = all.dataset['select'] === 'all';
    }
    showSelected();
  });
}
showSelected();

/** Shows the list for a URL. @param {string} url */
async function show(url) {
  history.replaceState(history.state, '', url);
  await refreshParts();
  announcement.textContent = count.textContent;
}

/** The URL for the filters, without those that have their default. */
function formUrl() {
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
  void show(formUrl());
});
form.addEventListener('input', ({ target }) => {
  clearTimeout(typing);
  if (target === search) typing = setTimeout(() => void show(formUrl()), typingPauseMs);
  else void show(formUrl());
});
// Unlike a new page, the same one keeps the checked boxes.
headings.addEventListener('click', async (event) => {
  const heading = event.target instanceof HTMLAnchorElement ? event.target.closest('th') : null;
  const link = heading?.querySelector('a');
  if (!heading || !link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  sort.value = new URL(link.href).searchParams.get('sort') ?? 'path';
  await show(link.href);
  headings.rows[0]?.cells[heading.cellIndex]?.querySelector('a')?.focus();
});
