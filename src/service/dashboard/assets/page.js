import { updateCountdowns, updateTimes } from './clock.js';

/** Behavior of every page beyond its HTML. */

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

// "/" goes to the search of the page, as on most sites with one.
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(document.activeElement)) return;
  const search = document.querySelector('input[type="search"]');
  if (!(search instanceof HTMLInputElement)) return;
  event.preventDefault();
  search.focus();
  search.select();
});

// A menu closes on Escape, and on a click or focus elsewhere. Menus in rows come and go.
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

// Escape follows the link that leads back. It also ends the choice of an input method.
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented) return;
  const back = document.querySelector('a[data-escape]');
  if (back instanceof HTMLAnchorElement) back.click();
});

// A button that copies is of no use without JavaScript, nor on plain http beyond this machine, where browsers let no
// page write to the clipboard: it stays hidden there.
for (const button of document.querySelectorAll('button[data-copies]')) {
  if (!(button instanceof HTMLButtonElement) || !isSecureContext) continue;
  button.hidden = false;
  button.addEventListener('click', async () => {
    const source = document.getElementById(button.dataset['copies'] ?? '');
    await navigator.clipboard.writeText(source?.textContent ?? '');
    button.textContent = 'Copied';
  });
}
