import { refreshParts } from './refresh.js';

/** Refreshes the page when a remote has answered that had not when the page was rendered. */

/** Maximum number of parallel requests: a browser has six connections per host, and other pages need some. */
const maxParallel = 2;

const waiting = [...document.querySelectorAll('[data-awaits]')];

/** Resolved when no control has the focus: a refresh would lose the user's input. */
async function untilUnused() {
  while (document.activeElement?.matches('main input, main select, main button')) {
    // The next control gets the focus after this event.
    await new Promise((resolve) => {
      document.addEventListener('focusout', () => setTimeout(resolve), { once: true });
    });
  }
}

async function askAll() {
  for (let element = waiting.shift(); element !== undefined; element = waiting.shift()) {
    const response = await fetch(element.getAttribute('data-awaits') ?? '').catch(() => undefined);
    if (!response?.ok) continue;
    await untilUnused();
    await refreshParts();
  }
}

for (let asking = 0; asking < maxParallel; asking += 1) void askAll();
