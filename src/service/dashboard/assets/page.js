import { updateCountdowns, updateTimes } from './clock.js';

/** Behavior of all pages. */

function update() {
  updateTimes();
  updateCountdowns(document);
}

setInterval(update, 1_000);
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) update();
});

/** @param {Element | null} element */
const isTyping = (element) => element?.matches('input, textarea, select') ?? false;

// "/" focuses the search field of the page, as on most sites.
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(document.activeElement)) return;
  const search = document.querySelector('input[type="search"]');
  if (!(search instanceof HTMLInputElement)) return;
  event.preventDefault();
  search.focus();
  search.select();
});

// Menus close on Escape, and on a click or focus elsewhere. Looked up on each event, because rows with menus change.
const openMenus = () => document.querySelectorAll('details.menu[open]');
document.addEventListener('keydown', (event) => {
  const [menu] = openMenus();
  if (event.key !== 'Escape' || menu === undefined) return;
  event.preventDefault();
  menu.removeAttribute('open');
  menu.querySelector('summary')?.focus();
});
for (const type of ['focusin', 'click']) {
  document.addEventListener(type, ({ target }) => {
    for (const menu of openMenus()) {
      if (target instanceof Node && !menu.contains(target)) menu.removeAttribute('open');
    }
  });
}

// Escape follows the link back, unless an input method uses the key.
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented) return;
  const back = document.querySelector('a[data-escape]');
  if (back instanceof HTMLAnchorElement) back.click();
});

// Copy buttons are hidden unless they work: without JavaScript, and if the page is not loaded over https or from
// localhost, where browsers do not allow writing to the clipboard.
for (const button of document.querySelectorAll('button[data-copies]')) {
  if (!(button instanceof HTMLButtonElement) || !isSecureContext) continue;
  button.hidden = false;
  button.addEventListener('click', async () => {
    const source = document.getElementById(button.dataset['copies'] ?? '');
    await navigator.clipboard.writeText(source?.textContent ?? '');
    button.textContent = 'Copied';
  });
}
