import { setText, updateTimes } from './clock.js';
import { followStream } from './event-stream.js';

/** Keeps the page of a path up to date: when something has changed, it loads itself and takes over the parts that differ. */

const page = document.querySelector('[data-events]');
const live = document.querySelector('[data-live]');

/** @param {string} text */
function say(text) {
  if (live !== null) setText(live, text);
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

let isLoading = false;
let isStale = false;

async function refresh() {
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
      // Who goes through the page with the keyboard goes on from there.
      const again = [...part.querySelectorAll('a')].find((link) => link.getAttribute('href') === focused);
      if (focused && again) again.focus();
    }
  }
  isLoading = false;
  updateTimes();
}

followStream({
  url: page?.getAttribute('data-events') ?? '',
  on: {
    changed: () => {
      say('This page updates by itself.');
      void refresh();
    },
  },
  lost: () => say('Not connected. Trying again…'),
  signedOut: () => say('Your session has ended. Reload the page to sign in again.'),
});
