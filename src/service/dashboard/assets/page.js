import { updateTimes } from './clock.js';

/** Behavior of all pages. */

setInterval(updateTimes, 1_000);
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) updateTimes();
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

// Escape follows the link back, unless an input method uses the key.
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || event.isComposing) return;
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
    await navigator.clipboard.writeText(source?.textContent ?? button.value);
    button.textContent = 'Copied';
  });
}
