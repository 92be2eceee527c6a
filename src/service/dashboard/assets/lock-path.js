import { setText } from './clock.js';
import { followStream } from './event-stream.js';
import { refreshParts } from './refresh.js';

/** Keeps the page of a path up to date: reloads its parts after each change. */

const page = document.querySelector('[data-events]');
const live = document.querySelector('[data-live]');

/** @param {string} text */
function say(text) {
  if (live !== null) setText(live, text);
}

followStream({
  url: page?.getAttribute('data-events') ?? '',
  on: {
    changed: () => {
      say('This page updates by itself.');
      void refreshParts();
    },
  },
  lost: () => say('Not connected. Trying again…'),
  signedOut: () => say('Your session has ended. Reload the page to sign in again.'),
});
