import { updateCountdowns, updateTimes } from './clock.js';

/** Loads the page once more, and takes over its parts that differ. */

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

let isLoading = false;
let isStale = false;

export async function refreshParts() {
  isStale = true;
  if (isLoading) return;
  isLoading = true;
  while (isStale) {
    isStale = false;
    const loaded = await load();
    for (const part of document.querySelectorAll('[data-part]')) {
      const other = loaded?.querySelector(`[data-part="${part.getAttribute('data-part')}"]`);
      if (!other || other.innerHTML === part.innerHTML) continue;
      const focused = part.querySelector(':focus')?.getAttribute('href');
      part.replaceChildren(...other.childNodes);
      // Keyboard focus stays where it was.
      const again = [...part.querySelectorAll('a')].find((link) => link.getAttribute('href') === focused);
      if (focused && again) again.focus();
    }
  }
  isLoading = false;
  updateTimes();
  updateCountdowns(document);
}
